"""artifact_contract: whether a model and its compiled encoder may be shipped together, as a judgement."""

load("//gate/private:checks.bzl", "check_minimum_macos")
load("//gate/private:encoder_judgement.bzl", "encoder_judgement_rule", "judge_encoder", "lane_identity")

visibility("//gate/...")

def _artifact_contract_impl(ctx):
    check_minimum_macos(ctx.label, ctx.attr.minimum_macos)
    return judge_encoder(
        ctx,
        name = "contract",
        mnemonic = "GateContract",
        message = "Judging the bytes of %{label}",
        judge = ctx.executable._judge,
        options = {"minimum_macos": ctx.attr.minimum_macos},
        # The worker that runs the encoder is the oldest macOS that has to read it, unless an older one is named.
        files = {"identity": None if ctx.attr.minimum_macos else lane_identity(ctx)},
    )

artifact_contract = encoder_judgement_rule(
    implementation = _artifact_contract_impl,
    judge = "//tools/actions/gate_inspect",
    doc = """Writes `<name>.json`: the judgement `contract` over a model and its compiled encoder.

From the bytes that ship, without running anything: what the encoder's folder holds, its names,
types and shapes against the model's own header, and whether its weights are the model's. The
judgement is written whatever it says; a gate_test turns red.""",
    attrs = {
        "minimum_macos": attr.string(
            doc = "The oldest macOS that must read the encoder, such as `13.0`. Empty takes the worker's own version on the physical " +
                  "lane, as its identity names it, and none on the emulated one.",
        ),
    },
)
