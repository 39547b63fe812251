"""encoder_parity: whether an encoder computes what its model's own tensors say, as a judgement."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "RUN", "RUN_GROUP", "core_ml")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")

visibility("//gate/...")

def _encoder_parity_impl(ctx):
    lane = core_ml(ctx)
    encoder = ctx.attr.encoder[CoreMLEncoderInfo].compiled
    judgement = ctx.actions.declare_file(ctx.label.name + ".json")
    args = ctx.actions.args()
    args.add(ctx.file.model, format = "--model=%s")
    args.add_all([encoder], format_each = "--encoder=%s", expand_directories = False)
    args.add(ctx.attr.policy, format = "--policy=%s")
    args.add(judgement, format = "--out=%s")
    inputs = [ctx.file.model, encoder]
    if ctx.file.mel:
        args.add(ctx.file.mel, format = "--mel=%s")
        inputs.append(ctx.file.mel)
    tools = []
    requirements = {}
    if lane.predict:
        args.add(lane.predict.executable, format = "--probe=%s")
        tools.append(lane.predict)
        requirements = lane.run_requirements

        # Numbers hold for the machine that they came from: another build of macOS is another key, and a
        # worker that is not what the key names refuses.
        args.add(lane.identity, format = "--identity=%s")
        inputs.append(lane.identity)
    ctx.actions.run(
        mnemonic = "GateParity",
        progress_message = "Comparing the numbers of %{label}",
        executable = ctx.executable._parity,
        arguments = [args],
        inputs = inputs,
        outputs = [judgement],
        tools = tools,
        exec_group = RUN,
        execution_requirements = requirements,
        env = {},
    )
    return [DefaultInfo(files = depset([judgement]))]

encoder_parity = rule(
    implementation = _encoder_parity_impl,
    doc = """Writes `<name>.json`: the judgement `parity` over a compiled encoder.

On the emulated lane the shipped program and weights are evaluated on one mel; on the physical one Core ML
predicts, at all compute units as upstream's bridge asks, and a load that succeeds only at fewer fails. The output is compared with a float64 evaluation of
the model's own tensors that shares no code with it, under a frozen policy. Numbers are all that
catches a prediction which failed silently. docs/parity.md has the policies and their derivation.""",
    attrs = {
        "model": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The ggml `.bin`.",
        ),
        "encoder": attr.label(
            mandatory = True,
            providers = [CoreMLEncoderInfo],
            doc = "The compiled encoder: a coreml_encoder.",
        ),
        "mel": attr.label(
            allow_single_file = [
                ".npy",
                ".npz",
                ".safetensors",
                ".wav",
            ],
            doc = "The mel that both sides are fed, or 16 kHz mono speech to compute it from. Without it, a built-in sound.",
        ),
        "policy": attr.string(
            default = "fp32_v2",
            doc = "Name of a frozen policy. Only `fp32_v2` satisfies the release gate; others say so in the receipt.",
        ),
        "_parity": attr.label(
            default = "//tools/actions/gate_parity",
            executable = True,
            cfg = config.exec(RUN),
        ),
    },
    exec_groups = RUN_GROUP,
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
