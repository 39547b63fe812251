"""emulated_identity: what the emulated lane says about itself, as a file."""

visibility("//gate/...")

# Bumped with what changes the bytes of evidence.
_VERSION = "2"
_PROTOCOL = "1"

# What stands for Apple's Core ML below each bridge. The same name begins its lines in the log.
_CORE_ML = {
    "double": "coreml_double",
    "upstream": "coreml_stand_in",
}

def _emulated_identity_impl(ctx):
    identity = {
        "lane": "emulated",
        "core_ml": _CORE_ML[ctx.attr.bridge],
        "bridge": ctx.attr.bridge,
        "version": _VERSION,
        "protocol": _PROTOCOL,
        "evaluator": "tools/encoder/mil/eval",
        "baseline": ctx.attr.baseline,
    }
    if ctx.attr.instruction_set:
        identity["instruction_set"] = ctx.attr.instruction_set
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent(identity, indent = "  ") + "\n")
    return [DefaultInfo(files = depset([output]))]

emulated_identity = rule(
    implementation = _emulated_identity_impl,
    doc = "Writes `<name>.json`: which bridge, which stand-in for Core ML, and what the evaluator computes with.",
    attrs = {
        "bridge": attr.string(mandatory = True, values = ["double", "upstream"], doc = "What stands between whisper-cli and the evaluator."),
        "baseline": attr.string(mandatory = True, doc = "The processor that the bytes of evidence hold for."),
        "instruction_set": attr.string(doc = "What whisper-cli and the evaluator may use; empty for portable Go."),
    },
)
