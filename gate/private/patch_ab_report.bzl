"""patch_ab_report: the negative control, unpatched against patched, many times."""

load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")

visibility("//gate/...")

def _patch_ab_report_impl(ctx):
    report = ctx.actions.declare_file(ctx.label.name + ".json")
    table = ctx.actions.declare_file(ctx.label.name + ".txt")
    unpatched = ctx.attr.unpatched[WhisperCliInfo].executable
    patched = ctx.attr.patched[WhisperCliInfo].executable
    args = ctx.actions.args()
    args.add(unpatched, format = "--unpatched=%s")
    args.add(patched, format = "--patched=%s")
    args.add(ctx.file.model, format = "--model=%s")
    args.add(ctx.file.audio, format = "--audio=%s")
    args.add(str(ctx.attr.n), format = "--n=%s")
    args.add(report, format = "--out=%s")
    args.add(table, format = "--table=%s")
    ctx.actions.run(
        mnemonic = "GatePatchAB",
        progress_message = "Comparing the negative control unpatched and patched for %{label}",
        executable = ctx.executable._tool,
        arguments = [args],
        inputs = [ctx.file.model, ctx.file.audio],
        tools = [unpatched, patched],
        outputs = [report, table],
        env = {},
    )
    return [DefaultInfo(files = depset([report, table]))]

patch_ab_report = rule(
    implementation = _patch_ab_report_impl,
    doc = """Runs the negative control of two builds, interleaved, under several settings of the heap.

An experiment about the patch, kept as an output: a table of exits and signals with
Wilson intervals. It is no gate; the gate's canary runs once.""",
    attrs = {
        "unpatched": attr.label(mandatory = True, providers = [WhisperCliInfo], doc = "whisper-cli of flavour `coreml_unpatched`."),
        "patched": attr.label(mandatory = True, providers = [WhisperCliInfo], doc = "whisper-cli of flavour `coreml`."),
        "model": attr.label(mandatory = True, allow_single_file = [".bin"], doc = "A ggml model; no encoder is beside it."),
        "audio": attr.label(mandatory = True, allow_single_file = True, doc = "An audio file, which no run gets to."),
        "n": attr.int(default = 100, doc = "Runs of each build under each setting."),
        "_tool": attr.label(
            default = "//tools/actions/gate_ab",
            executable = True,
            cfg = "exec",
        ),
    },
)
