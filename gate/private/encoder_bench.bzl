"""encoder_bench: what encoders cost on the machine that runs it, under a named protocol."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "core_ml")
load("//gate/private:messages.bzl", "bench_arms", "bench_pairs")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")

visibility("//gate/...")

# The least number of pairs of bench_v1; coregate bench holds it too.
_PAIRS_MIN = 8

def _path(file):
    """Marked, so that gate_bench makes it whole."""
    return "runfiles:" + file.short_path

def _arguments(ctx, toolchain):
    arguments = [
        "--protocol=" + ctx.attr.protocol,
        "--lane=" + toolchain.lane,
        "--lane-identity=" + _path(toolchain.identity),
        "--cli=" + _path(ctx.attr._cli_coreml[WhisperCliInfo].executable),
        "--defines=" + _path(ctx.attr._cli_coreml[WhisperCliInfo].defines),
        "--model=" + _path(ctx.file.model),
        "--audio=" + _path(ctx.file.audio),
        "--language=" + ctx.attr.language,
        "--threads={}".format(ctx.attr.threads),
        "--pairs={}".format(ctx.attr.pairs),
    ]
    for encoder, name in ctx.attr.arms.items():
        arguments.append("--arm={}={}".format(name, _path(encoder[CoreMLEncoderInfo].compiled)))
    if ctx.attr.ggml:
        arguments += [
            "--arm=ggml=ggml",
            "--ggml-cli=" + _path(ctx.attr._cli_ggml[WhisperCliInfo].executable),
            "--ggml-defines=" + _path(ctx.attr._cli_ggml[WhisperCliInfo].defines),
        ]
    if ctx.attr.control:
        arguments.append("--control=" + ctx.attr.control)
    if toolchain.evaluator:
        arguments.append("--evaluator=" + _path(toolchain.evaluator.executable))
    return arguments

def _encoder_bench_impl(ctx):
    toolchain = core_ml(ctx)
    names = ctx.attr.arms.values() + (["ggml"] if ctx.attr.ggml else [])
    if len(names) != len({name: None for name in names}) or not names or ctx.attr.control and ctx.attr.control not in names:
        fail(bench_arms(ctx.label, names, ctx.attr.control))
    if ctx.attr.pairs and (ctx.attr.pairs < _PAIRS_MIN or len(names) < 2):
        fail(bench_pairs(ctx.label, ctx.attr.pairs, _PAIRS_MIN, names))

    spec = ctx.actions.declare_file(ctx.label.name + ".spec.json")
    ctx.actions.write(spec, json.encode_indent({
        "coregate": ctx.executable._coregate.short_path,
        "arguments": _arguments(ctx, toolchain),
    }) + "\n")
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = executable, target_file = ctx.executable._bench, is_executable = True)
    clis = [ctx.attr._cli_coreml] + ([ctx.attr._cli_ggml] if ctx.attr.ggml else [])
    files = [spec, toolchain.identity, ctx.file.model, ctx.file.audio, ctx.executable._coregate] + \
            [encoder[CoreMLEncoderInfo].compiled for encoder in ctx.attr.arms] + \
            [cli[WhisperCliInfo].executable for cli in clis] + [cli[WhisperCliInfo].defines for cli in clis] + \
            ([toolchain.evaluator.executable] if toolchain.evaluator else [])
    return [
        DefaultInfo(
            executable = executable,
            runfiles = ctx.runfiles(files = files).merge_all([t[DefaultInfo].default_runfiles for t in [ctx.attr._bench, ctx.attr._coregate] + clis]),
        ),
        RunEnvironmentInfo(environment = {"GATE_BENCH": spec.short_path}),
    ]

encoder_bench = rule(
    implementation = _encoder_bench_impl,
    doc = """Measures encoders against each other: `bazel run //x:bench -- --out=submission.json`.

It is run and never built: a time has no place in a cache. docs/measure.md says what a submission holds, and what may be
claimed of one. Arguments after `--` are those of `coregate bench`.""",
    attrs = {
        "arms": attr.label_keyed_string_dict(
            providers = [CoreMLEncoderInfo],
            doc = "The encoders to measure, each with its arm's name. Their runs are interleaved.",
        ),
        "ggml": attr.bool(
            doc = "Whether ggml's own encoder is an arm too, called `ggml`.",
        ),
        "control": attr.string(
            doc = "The arm that every session of the machine has, and whose drift is told. Empty: the first.",
        ),
        "model": attr.label(
            mandatory = True,
            allow_single_file = [".bin"],
            doc = "The ggml `.bin`.",
        ),
        "audio": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The recording, in a format that whisper-cli decodes.",
        ),
        "language": attr.string(
            mandatory = True,
            doc = "Spoken language, as whisper-cli's `--language` takes it, e.g. `en`.",
        ),
        "threads": attr.int(
            default = 1,
            doc = "Threads of whisper-cli, which are part of the number.",
        ),
        "pairs": attr.int(
            default = 0,
            doc = "Interleaved pairs: 0 for no comparison, or at least the protocol's 8.",
        ),
        "protocol": attr.string(
            default = "bench_v1",
            doc = "The frozen protocol, which is part of the number.",
        ),
        "_bench": attr.label(
            default = "//tools/actions/gate_bench",
            executable = True,
            cfg = "target",
        ),
        "_coregate": attr.label(
            default = "//tools/coregate",
            executable = True,
            cfg = "target",
        ),
        "_cli_coreml": attr.label(
            default = "//third_party/whisper_cpp:cli_coreml",
            providers = [WhisperCliInfo],
            cfg = "target",
        ),
        "_cli_ggml": attr.label(
            default = "//third_party/whisper_cpp:cli_ggml",
            providers = [WhisperCliInfo],
            cfg = "target",
        ),
    },
    executable = True,
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
