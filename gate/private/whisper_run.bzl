"""whisper_run: one run of whisper-cli, captured as evidence."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//gate/private:checks.bzl", "check_bridge", "check_fault", "check_run", "check_warm_up")
load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "RUN", "RUN_GROUP", "core_ml")
load("//gate/private:messages.bzl", "encoder_needed", "relative_ledger", "wrong_lane")
load("//gate/private:resources.bzl", "whisper_resources")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")
load("//gate/private/providers:whisper_run_info.bzl", "WhisperRunInfo")

visibility("//gate/...")

# What a canary's fresh memory holds on the emulated lane. Uninitialised memory that happens to be
# zero would let a crash pass for a refusal; the physical lane's allocator has no quiet setting for it.
_CANARY_HEAP_FILL = 0xaa

def _check(ctx, toolchain):
    if ctx.attr.lane and ctx.attr.lane != toolchain.lane:
        fail(wrong_lane(ctx.label, ctx.attr.lane, toolchain.lane))
    if (ctx.attr.kind == "coreml") != bool(ctx.attr.encoder):
        fail(encoder_needed(ctx.label, ctx.attr.kind, bool(ctx.attr.encoder)))
    check_run(ctx.label, ctx.attr.threads, ctx.attr.deadline_seconds, ctx.attr.language)
    check_bridge(ctx.label, ctx.attr.cli[WhisperCliInfo], toolchain.lane)
    check_warm_up(ctx.label, ctx.attr.kind, ctx.attr.warm_up)
    check_fault(ctx.label, ctx.attr.fault, toolchain.lane)

def _attempts(ctx):
    """What the spec says about attempts.

    A positive run may be asked for again, by a number that enters its key and its evidence. A canary may
    not: its key knows no number, and the ledger, where there is one, sees a second start.
    """
    ledger = ctx.attr._attempt_ledger[BuildSettingInfo].value
    if ledger and not ledger.startswith("/"):
        fail(relative_ledger(ctx.label, ledger))
    if ctx.attr.kind == "coreml":
        attempt = ctx.attr._attempt[BuildSettingInfo].value
        return {"attempt": attempt} if attempt else {}
    if ctx.attr.kind == "canary" and ledger:
        return {"attempt_ledger": ledger}
    return {}

def _spec(ctx, toolchain, encoder):
    """The run spec of tools/run/runner. Members that do not apply are left out."""
    cli = ctx.attr.cli[WhisperCliInfo]
    spec = {
        "schema": 1,
        "kind": ctx.attr.kind,
        "lane": toolchain.lane,
        "lane_identity_file": toolchain.identity.path,
        "flavour": cli.flavour,
        "defines": cli.defines.path,
        "pin": cli.pin.pin.path,
        "cli": cli.executable.path,
        "model": ctx.file.model.path,
        "audio": ctx.file.audio.path,
        "language": ctx.attr.language,
        "threads": ctx.attr.threads,
        "deadline_seconds": ctx.attr.deadline_seconds,
        "public": ctx.attr.public,
    }
    if encoder:
        spec["encoder"] = encoder.path
    if toolchain.evaluator:
        spec["evaluator"] = toolchain.evaluator.executable.path
        spec["fault"] = ctx.attr.fault
    if ctx.attr.kind == "canary" and toolchain.lane == "emulated":
        spec["heap_fill"] = _CANARY_HEAP_FILL
    if ctx.attr.warm_up and ctx.attr.kind == "coreml" and toolchain.lane == "physical":
        spec["warm_up"] = True
    return spec | _attempts(ctx)

def _whisper_run_impl(ctx):
    toolchain = core_ml(ctx)
    _check(ctx, toolchain)
    cli = ctx.attr.cli[WhisperCliInfo]
    encoder = ctx.attr.encoder[CoreMLEncoderInfo].compiled if ctx.attr.encoder else None

    evidence = ctx.actions.declare_file(ctx.label.name + ".evidence.json")
    observations = ctx.actions.declare_file(ctx.label.name + ".observations.json")
    spec = ctx.actions.declare_file(ctx.label.name + ".spec.json")
    ctx.actions.write(spec, json.encode_indent(_spec(ctx, toolchain, encoder)) + "\n")

    reference = [ctx.file.reference] if ctx.file.reference else []
    inputs = reference + [spec, toolchain.identity, cli.defines, cli.pin.pin, ctx.file.model, ctx.file.audio]
    args = ctx.actions.args()
    args.add(spec, format = "--spec=%s")
    args.add_all(reference, format_each = "--reference=%s")
    args.add(evidence, format = "--evidence=%s")
    args.add(observations, format = "--observations=%s")
    ctx.actions.run(
        mnemonic = "GateRun",
        progress_message = "Running whisper-cli once (" + ctx.attr.kind + ") for %{label}",
        executable = ctx.executable._runner,
        arguments = [args],
        inputs = inputs + ([encoder] if encoder else []),
        tools = [ctx.attr.cli[DefaultInfo].files_to_run] + ([toolchain.evaluator] if toolchain.evaluator else []),
        outputs = [evidence, observations],
        env = {},
        execution_requirements = toolchain.run_requirements,
        exec_group = RUN,
        resource_set = whisper_resources(ctx.attr.threads, ctx.file.model),
    )
    return [
        DefaultInfo(files = depset([evidence])),
        OutputGroupInfo(observations = depset([observations])),
        WhisperRunInfo(
            kind = ctx.attr.kind,
            lane = toolchain.lane,
            evidence = evidence,
            observations = observations,
            cli = cli.executable,
            pin = cli.pin,
            model = ctx.file.model,
            encoder = encoder,
            audio = ctx.file.audio,
        ),
    ]

whisper_run = rule(
    implementation = _whisper_run_impl,
    doc = """Runs whisper-cli once and writes what it saw: `evidence.json`, `observations.json`.

The action succeeds whatever whisper-cli did, since a failed action leaves no output and
could be tried again; tests and receipts judge the evidence. There is one attempt, ever.""",
    attrs = {
        "kind": attr.string(
            mandatory = True,
            values = ["coreml", "canary", "contrast"],
            doc = "`coreml`: with the encoder beside the model. `canary`: the same program without it. `contrast`: ggml's own encoder.",
        ),
        "cli": attr.label(
            mandatory = True,
            providers = [WhisperCliInfo],
            # Executed by the action, but built for the target: a toolchain's execution constraints equal its target's.
            cfg = "target",
            doc = "The whisper_cli to run.",
        ),
        "model": attr.label(
            mandatory = True,
            allow_single_file = [".bin"],
            doc = "The ggml `.bin`.",
        ),
        "encoder": attr.label(
            providers = [CoreMLEncoderInfo],
            doc = "The coreml_encoder to stage beside the model. Only for `kind = \"coreml\"`.",
        ),
        "audio": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The audio, in a format that whisper-cli decodes.",
        ),
        "public": attr.bool(
            doc = "Whether audio and words may be published. Otherwise evidence holds digests and markers, and no word.",
        ),
        "reference": attr.label(
            allow_single_file = True,
            doc = "Text file with the words that the audio holds. The evidence of a private run then says where its words differ, as counts, positions and keyed digests.",
        ),
        "language": attr.string(
            mandatory = True,
            doc = "Spoken language, as whisper-cli's `--language` takes it, e.g. `en`.",
        ),
        "threads": attr.int(
            default = 1,
            doc = "Threads of whisper-cli. Always passed, since ggml's sums may depend on it. ggml's threads spin at every barrier, so one thread is faster on any machine that does something else too.",
        ),
        "deadline_seconds": attr.int(
            default = 900,
            doc = "Limit for load, first encode and the rest. The first load on a device may compile for minutes.",
        ),
        "fault": attr.string(
            default = "none",
            doc = "A fault of the emulated lane's double, for tests of the gates. Stands in the evidence; no gate passes with one.",
        ),
        "warm_up": attr.bool(
            doc = "On the physical lane, run a positive run once before the measured one, both recorded. Never for a canary.",
        ),
        "lane": attr.string(
            values = ["", "physical", "emulated"],
            doc = "Demand a lane: another one is an error at analysis. Empty takes what the platform gives.",
        ),
        "_attempt": attr.label(
            default = "//gate:attempt",
            providers = [BuildSettingInfo],
        ),
        "_attempt_ledger": attr.label(
            default = "//gate:attempt_ledger",
            providers = [BuildSettingInfo],
        ),
        "_runner": attr.label(
            default = "//tools/actions/gate_run",
            executable = True,
            cfg = config.exec(RUN),
        ),
    },
    provides = [WhisperRunInfo],
    exec_groups = RUN_GROUP,
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
