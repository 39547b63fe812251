"""whisper_words: what is heard with and without the Core ML encoder, against the source model, as a judgement."""

load("//gate/private:checks.bzl", "WORDS_POLICIES", "check_bridge", "check_fault", "check_pin", "check_policy", "check_range", "check_recordings", "check_run")
load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "RUN", "RUN_GROUP", "core_ml")
load("//gate/private:messages.bzl", "words_without_recordings", "wrong_lane", "wrong_probe")
load("//gate/private:resources.bzl", "whisper_resources")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")
load("//gate/private/providers:gate_judgement_info.bzl", "GateJudgementInfo")
load("//gate/private/providers:recording_info.bzl", "RecordingInfo")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")

visibility("//gate/...")

def _fixture(target, probe):
    """One member of `fixtures` of a words spec (package tools/words/recordings)."""
    info = target[RecordingInfo]
    return {
        "name": info.name,
        "audio": info.audio.path,
        "language": info.language,
        "public": info.public,
        "silence": info.silence,
        "human": info.human,
        "probe": target.label == probe,
    }

def _check(ctx, toolchain, probe):
    """Refuses at analysis what no run could judge."""
    if ctx.attr.lane and ctx.attr.lane != toolchain.lane:
        fail(wrong_lane(ctx.label, ctx.attr.lane, toolchain.lane))
    if not ctx.attr.recordings:
        fail(words_without_recordings(ctx.label))
    if probe and probe not in [r.label for r in ctx.attr.recordings]:
        fail(wrong_probe(ctx.label, probe, [r.label for r in ctx.attr.recordings]))
    check_recordings(ctx.label, {r.label: r[RecordingInfo] for r in ctx.attr.recordings}, probe)
    cli, contrast = ctx.attr.cli[WhisperCliInfo], ctx.attr.contrast_cli[WhisperCliInfo]
    check_bridge(ctx.label, cli, toolchain.lane)
    check_bridge(ctx.label, contrast, toolchain.lane)
    check_pin(ctx.label, "contrast_cli", cli, contrast)
    check_fault(ctx.label, ctx.attr.fault, toolchain.lane)
    check_policy(ctx.label, "policy", ctx.attr.policy, WORDS_POLICIES)
    check_range(ctx.label, "side_by_side", ctx.attr.side_by_side, 1, 512, "Give how many runs may go on at once, such as 1.")
    for r in ctx.attr.recordings:
        check_run(ctx.label, ctx.attr.threads, ctx.attr.deadline_seconds, r[RecordingInfo].language)

def _whisper_words_impl(ctx):
    toolchain = core_ml(ctx)
    probe = ctx.attr.probe.label if ctx.attr.probe else None
    _check(ctx, toolchain, probe)

    # Apple's compute units are one device, for which runs would queue.
    side_by_side = ctx.attr.side_by_side if toolchain.lane == "emulated" else 1
    cli, contrast = ctx.attr.cli[WhisperCliInfo], ctx.attr.contrast_cli[WhisperCliInfo]
    pin = cli.pin.pin
    encoder = ctx.attr.encoder[CoreMLEncoderInfo].compiled
    spec = {
        "schema": 1,
        "lane": toolchain.lane,
        "lane_identity_file": toolchain.identity.path,
        "pin": pin.path,
        "coreml_cli": cli.executable.path,
        "ggml_cli": contrast.executable.path,
        "model": ctx.file.model.path,
        "encoder": encoder.path,
        "threads": ctx.attr.threads,
        "side_by_side": side_by_side,
        "deadline_seconds": ctx.attr.deadline_seconds,
        "fixtures": [_fixture(r, probe) for r in ctx.attr.recordings],
    }
    inputs = [toolchain.identity, pin, ctx.file.model, encoder] + [r[RecordingInfo].audio for r in ctx.attr.recordings]
    if ctx.file.source:
        spec["source"] = ctx.file.source.path
        inputs.append(ctx.file.source)
    if toolchain.evaluator:
        spec["evaluator"] = toolchain.evaluator.executable.path
        spec["fault"] = ctx.attr.fault

    spec_file = ctx.actions.declare_file(ctx.label.name + ".spec.json")
    ctx.actions.write(spec_file, json.encode_indent(spec) + "\n")
    judgement = ctx.actions.declare_file(ctx.label.name + ".json")
    evidence = ctx.actions.declare_directory(ctx.label.name + ".evidence")
    args = ctx.actions.args()
    args.add(spec_file, format = "--spec=%s")
    args.add_all([evidence], format_each = "--out=%s", expand_directories = False)
    args.add(judgement, format = "--judgement=%s")
    args.add(ctx.attr.policy, format = "--policy=%s")
    ctx.actions.run(
        mnemonic = "GateWords",
        progress_message = "Hearing {} recordings twice for %{{label}}".format(len(ctx.attr.recordings)),
        executable = ctx.executable._words,
        arguments = [args],
        inputs = inputs + [spec_file],
        tools = [
            ctx.attr.cli[DefaultInfo].files_to_run,
            ctx.attr.contrast_cli[DefaultInfo].files_to_run,
        ] + ([toolchain.evaluator] if toolchain.evaluator else []),
        outputs = [judgement, evidence],
        env = {},
        execution_requirements = toolchain.run_requirements,
        exec_group = RUN,
        resource_set = whisper_resources(ctx.attr.threads, ctx.file.model, side_by_side),
    )
    return [
        DefaultInfo(files = depset([judgement])),
        OutputGroupInfo(evidence = depset([evidence])),
        GateJudgementInfo(
            name = "words",
            judgement = judgement,
            lane = toolchain.lane,
            model = ctx.file.model,
            encoder = encoder,
            cli = cli.executable,
            contrast_cli = contrast.executable,
        ),
    ]

whisper_words = rule(
    implementation = _whisper_words_impl,
    doc = """Writes `<name>.json`: the judgement `words` over what is heard in recordings.

whisper-cli hears each recording once with ggml's own encoder and once with the Core ML encoder;
both are compared with each other and with the source model's own transcript, under a frozen
policy. docs/transcripts.md has the rules. The evidence of every run is the output group `evidence`.""",
    attrs = {
        "model": attr.label(
            mandatory = True,
            allow_single_file = [".bin"],
            doc = "The ggml `.bin`.",
        ),
        "encoder": attr.label(
            mandatory = True,
            providers = [CoreMLEncoderInfo],
            doc = "The compiled encoder: a coreml_encoder.",
        ),
        "recordings": attr.label_list(
            mandatory = True,
            providers = [RecordingInfo],
            doc = "What is heard.",
        ),
        "probe": attr.label(
            providers = [RecordingInfo],
            doc = "The recording on which all sides have to agree before the others are heard. Without one, the result is provisional.",
        ),
        "source": attr.label(
            allow_single_file = [".json"],
            doc = "Transcripts of the source model, with its digest, tool, decoding and date. Without them, the result is provisional.",
        ),
        "policy": attr.string(
            default = "words_v2",
            doc = "Name of a frozen policy of kind transcript.",
        ),
        "threads": attr.int(
            default = 1,
            doc = "Threads of whisper-cli.",
        ),
        "side_by_side": attr.int(
            default = 2,
            doc = "How many recordings are heard at a time, on the emulated lane. The action claims as many processors. It changes no result.",
        ),
        "deadline_seconds": attr.int(
            default = 900,
            doc = "Limit for each run.",
        ),
        "fault": attr.string(
            default = "none",
            doc = "A fault of the emulated lane's double, for tests of the gates.",
        ),
        "lane": attr.string(
            values = ["", "physical", "emulated"],
            doc = "Demand a lane: another one is an error at analysis. Empty takes what the platform gives.",
        ),
        "cli": attr.label(
            default = "//third_party/whisper_cpp:cli_coreml",
            providers = [WhisperCliInfo],
            cfg = "target",
            doc = "The whisper_cli of flavour coreml.",
        ),
        "contrast_cli": attr.label(
            default = "//third_party/whisper_cpp:cli_ggml",
            providers = [WhisperCliInfo],
            cfg = "target",
            doc = "The whisper_cli of flavour ggml, of the same pin.",
        ),
        "_words": attr.label(
            default = "//tools/actions/gate_words",
            executable = True,
            cfg = config.exec(RUN),
        ),
    },
    provides = [GateJudgementInfo],
    exec_groups = RUN_GROUP,
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
