"""artifact_contract: whether a model and its compiled encoder may be shipped together, as a judgement."""

load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")

visibility("//gate/...")

def _artifact_contract_impl(ctx):
    encoder = ctx.attr.encoder[CoreMLEncoderInfo].compiled
    judgement = ctx.actions.declare_file(ctx.label.name + ".json")
    args = ctx.actions.args()
    args.add(ctx.file.model, format = "--model=%s")
    args.add_all([encoder], format_each = "--encoder=%s", expand_directories = False)
    args.add(judgement, format = "--out=%s")
    if ctx.attr.minimum_macos:
        args.add(ctx.attr.minimum_macos, format = "--minimum_macos=%s")
    ctx.actions.run(
        mnemonic = "GateContract",
        progress_message = "Judging the bytes of %{label}",
        executable = ctx.executable._inspect,
        arguments = [args],
        inputs = [ctx.file.model, encoder],
        outputs = [judgement],
        env = {},
    )
    return [DefaultInfo(files = depset([judgement]))]

artifact_contract = rule(
    implementation = _artifact_contract_impl,
    doc = """Writes `<name>.json`: the judgement `contract` over a model and its compiled encoder.

From the bytes that ship, without running anything: what the encoder's folder holds, its names,
types and shapes against the model's own header, and whether its weights are the model's. The
judgement is written whatever it says; a gate_test turns red.""",
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
        "minimum_macos": attr.string(
            doc = "The oldest macOS that must read the encoder, such as `13.0`. Empty holds it against none.",
        ),
        "_inspect": attr.label(
            default = "//tools/actions/gate_inspect",
            executable = True,
            cfg = "exec",
        ),
    },
)
