"""core_ml_identity: what a kind of Mac is, as a file that the runner holds against the machine."""

load("//gate/private:checks.bzl", "check_version")

visibility("//gate/...")

# What is written, in the order in which core_ml_host_repo writes what it detects, and the command that prints it.
IDENTITY_FIELDS = {
    "os_version": "sw_vers -productVersion",
    "os_build": "sw_vers -buildVersion",
    "hardware": "sysctl -n hw.model",
    "chip": "sysctl -n machdep.cpu.brand_string",
    "xcode_version": "xcodebuild -version",
    "xcode_build": "xcodebuild -version",
}

def _core_ml_identity_impl(ctx):
    identity = {
        "lane": "physical",
        "core_ml": "CoreML.framework",
    } | {field: getattr(ctx.attr, field) for field in IDENTITY_FIELDS}
    for field, value in identity.items():
        if not value.strip() or value != value.strip():
            fail(identity_with_hole(ctx.label, field, value))
    for field in ("os_version", "xcode_version"):
        check_version(ctx.label, field, identity[field])
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent(identity, indent = "  ") + "\n")
    return [DefaultInfo(files = depset([output]))]

def identity_with_hole(label, field, value):
    return ("{label}: `{field}` must be what the worker itself says, found `{value}`: an identity with holes would let one machine's " +
            "receipt serve another. docs/remote.md lists the commands that print each.").format(label = label, field = field, value = value)

core_ml_identity = rule(
    implementation = _core_ml_identity_impl,
    doc = "Writes `<name>.json`, the identity of a kind of Mac. core_ml_worker declares it.",
    attrs = {
        field: attr.string(mandatory = True, doc = "What the worker prints: `{}`.".format(command))
        for field, command in IDENTITY_FIELDS.items()
    },
)
