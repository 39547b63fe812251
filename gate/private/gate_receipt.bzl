"""gate_receipt: one document that binds everything a verdict rests on, by digest."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//gate/private:judgements.bzl", "JUDGEMENTS")
load("//gate/private:messages.bzl", "judgement_missing", "judgement_of_another", "judgement_twice", "one_file")
load("//gate/private/providers:gate_judgement_info.bzl", "GateJudgementInfo")
load("//gate/private/providers:gate_receipt_info.bzl", "GateReceiptInfo")
load("//gate/private/providers:whisper_run_info.bzl", "WhisperRunInfo")

visibility("//gate/...")

def _role(ctx, role):
    return getattr(ctx.attr, role)[WhisperRunInfo]

def _readable(label):
    """The label as a reader would type it in its own workspace."""
    return "//{}:{}".format(label.package, label.name)

def _toolchain(ctx):
    """What built the binaries, as far as the C++ toolchain says it."""
    cc = find_cc_toolchain(ctx)
    return {
        "compiler": cc.compiler,
        "cpu": cc.cpu,
        "libc": cc.libc,
        "target": cc.target_gnu_system_name,
    }

def _toolchain_programs(ctx):
    """Where the compiler and the linker are, for their digests."""
    cc = find_cc_toolchain(ctx)
    return {
        "compiler": cc.compiler_executable,
        "linker": cc.ld_executable,
    }

def _shown(ctx, receipt, coreml, contrast):
    """Providers of a receipt that `bazel run` shows to people."""
    executable = ctx.actions.declare_file(ctx.label.name)
    args = ctx.actions.args()
    args.add(receipt, format = "--receipt=%s")
    args.add(coreml, format = "--coreml=%s")
    args.add(contrast, format = "--contrast=%s")
    args.add(executable, format = "--out=%s")
    ctx.actions.run(
        mnemonic = "GateShow",
        progress_message = "Writing what %{label} says",
        executable = ctx.executable._show,
        arguments = [args],
        inputs = [receipt, coreml, contrast],
        outputs = [executable],
        env = {},
    )
    return [DefaultInfo(executable = executable, files = depset([receipt]))]

def _judgements(ctx, coreml, contrast):
    """The judgements, all of which must be there and about this gate. Their facts say the same by digest (tools/receipt/statement)."""
    infos = [target[GateJudgementInfo] for target in ctx.attr.judgements]
    names = [info.name for info in infos]
    always = [name for name, kind in JUDGEMENTS.items() if kind.demand == "always" and kind.source != "receipt"]
    for name in always + ctx.attr.required:
        if name not in names:
            fail(judgement_missing(ctx.label, name, names))
    for i, info in enumerate(infos):
        if info.name in names[:i]:
            fail(judgement_twice(ctx.label, info.name))
        for what, expected, found in (
            ("model", coreml.model, info.model),
            ("encoder", coreml.encoder, info.encoder),
            ("whisper-cli", coreml.cli, info.cli),
            ("whisper-cli with ggml's own encoder", contrast.cli, info.contrast_cli),
        ):
            if found != expected and (found or JUDGEMENTS[info.name].source == "runs"):
                fail(judgement_of_another(ctx.label, info.name, what, expected, found))
    return [info.judgement for info in infos]

def _gate_receipt_impl(ctx):
    coreml = _role(ctx, "coreml")
    pin = coreml.pin
    canary = _role(ctx, "canary")
    contrast = _role(ctx, "contrast")
    judgements = _judgements(ctx, coreml, contrast)
    reference = ctx.files.reference
    if len(reference) != 1:
        fail(one_file(ctx.label, "reference", reference))

    receipt = ctx.actions.declare_file(ctx.label.name + ".json")
    spec = ctx.actions.declare_file(ctx.label.name + ".spec.json")
    ctx.actions.write(spec, json.encode_indent({
        "schema": 1,
        "name": _readable(ctx.label),
        "pin": pin.pin.path,
        "sources": pin.check.path,
        "manifest": pin.manifest.path,
        "patch": pin.patch.path,
        "cli": coreml.cli.path,
        "contrast_cli": contrast.cli.path,
        "model": coreml.model.path,
        "encoder": coreml.encoder.path,
        "audio": coreml.audio.path,
        "toolchain": _toolchain(ctx),
        "toolchain_programs": _toolchain_programs(ctx),
        "coreml": coreml.evidence.path,
        "canary": canary.evidence.path,
        "contrast": contrast.evidence.path,
        "reference": reference[0].path,
        "policies": [ctx.file.policy.path],
        "judgements": [f.path for f in judgements],
        "required": ctx.attr.required,
    }) + "\n")
    args = ctx.actions.args()
    args.add(spec, format = "--spec=%s")
    args.add(receipt, format = "--out=%s")
    ctx.actions.run(
        mnemonic = "GateReceipt",
        progress_message = "Binding %{label}",
        executable = ctx.executable._receipt,
        arguments = [args],
        inputs = depset([
            spec,
            pin.pin,
            pin.check,
            pin.manifest,
            pin.patch,
            coreml.evidence,
            canary.evidence,
            contrast.evidence,
            coreml.cli,
            contrast.cli,
            coreml.model,
            coreml.encoder,
            coreml.audio,
            reference[0],
            ctx.file.policy,
        ] + judgements, transitive = [find_cc_toolchain(ctx).all_files]),
        outputs = [receipt],
        env = {},
    )
    return _shown(ctx, receipt, coreml.evidence, contrast.evidence) + [
        GateReceiptInfo(receipt = receipt, lane = coreml.lane),
    ]

gate_receipt = rule(
    implementation = _gate_receipt_impl,
    doc = """Writes `<name>.json`: pin, patch, sources, program, model, encoder, audio, policy, evidence and verdicts, by digest.

A receipt is written whatever the verdict: it can say `fail`. The tests turn red.
`bazel run` shows it: the words, if they are public, and the verdicts.""",
    attrs = {
        "coreml": attr.label(
            mandatory = True,
            providers = [WhisperRunInfo],
            doc = "The positive run.",
        ),
        "canary": attr.label(
            mandatory = True,
            providers = [WhisperRunInfo],
            doc = "The same program and model without the encoder.",
        ),
        "contrast": attr.label(
            mandatory = True,
            providers = [WhisperRunInfo],
            doc = "The run on ggml's own encoder.",
        ),
        "reference": attr.label(
            mandatory = True,
            allow_files = True,
            doc = "Text file with the words that the audio holds.",
        ),
        "judgements": attr.label_list(
            mandatory = True,
            providers = [GateJudgementInfo],
            doc = "The judgements over this gate: of a gate_judge each, an artifact_contract, an encoder_parity, an encoder_placement, a whisper_words.",
        ),
        "required": attr.string_list(
            default = [
                "contract",
                "parity",
            ],
            doc = "Judgements without which the receipt can be no pass, beyond those that every receipt requires.",
        ),
        "policy": attr.label(
            default = "//gate/policy:default",
            allow_single_file = [".json"],
            doc = "The frozen policy: thresholds chosen before the measurement.",
        ),
        "_receipt": attr.label(
            default = "//tools/actions/gate_receipt",
            executable = True,
            cfg = "exec",
        ),
        "_show": attr.label(
            default = "//tools/actions/gate_show",
            executable = True,
            cfg = "exec",
        ),
    },
    executable = True,
    provides = [GateReceiptInfo],
    toolchains = use_cc_toolchain(),
)
