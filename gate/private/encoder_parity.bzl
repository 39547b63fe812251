"""encoder_parity: whether an encoder computes what its model's own tensors say, as a judgement."""

load("//gate/private:checks.bzl", "PARITY_POLICIES", "check_policy", "check_reference")
load("//gate/private:core_ml_toolchain.bzl", "core_ml")
load("//gate/private:encoder_judgement.bzl", "encoder_judgement_rule", "judge_encoder", "lane_identity")

visibility("//gate/...")

def _encoder_parity_impl(ctx):
    check_policy(ctx.label, "policy", ctx.attr.policy, PARITY_POLICIES)
    check_reference(ctx.label, ctx.file.reference, ctx.file.reference_sidecar)
    lane = core_ml(ctx)
    return judge_encoder(
        ctx,
        name = "parity",
        mnemonic = "GateParity",
        message = "Comparing the numbers of %{label}",
        judge = ctx.executable._judge,
        options = {"policy": ctx.attr.policy},
        files = {
            "mel": ctx.file.mel,
            "reference": ctx.file.reference,
            "reference_sidecar": ctx.file.reference_sidecar,
            # Numbers hold for the machine that they came from: another build of macOS is another key, and a worker that
            # is not what the key names refuses.
            "identity": lane_identity(ctx),
        },
        tools = {"probe": lane.predict},
        requirements = lane.run_requirements if lane.predict else {},
    )

encoder_parity = encoder_judgement_rule(
    implementation = _encoder_parity_impl,
    judge = "//tools/actions/gate_parity",
    doc = """Writes `<name>.json`: the judgement `parity` over a compiled encoder.

On the emulated lane the shipped program and weights are evaluated on one mel; on the physical one Core ML
predicts, at all compute units as upstream's bridge asks, and a load that succeeds only at fewer fails. The output is
compared under a frozen policy with a float64 evaluation of the model's own tensors that shares no code with it, or with
`reference`, the output of the model that both were made from. Numbers are all that catches a prediction which failed
silently. docs/parity.md has the policies and their derivation.""",
    attrs = {
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
        "reference": attr.label(
            allow_single_file = [
                ".npy",
                ".npz",
                ".safetensors",
            ],
            doc = "The source model's own encoder output on `mel`, a tensor file (docs/parity.md). Without it, the model's own tensors are evaluated.",
        ),
        "reference_sidecar": attr.label(
            allow_single_file = [".json"],
            doc = "What made `reference`, from which model and which mel, with their digests. Mandatory with it.",
        ),
    },
)
