"""unsupported_core_ml: a platform on which no lane exists, so that a target can say so."""

visibility("//gate/...")

unsupported_core_ml = rule(
    implementation = lambda ctx: [platform_common.ToolchainInfo(
        core_ml = None,
        unsupported = ctx.attr.system,
    )],
    doc = "A toolchain without a lane: each target that resolves it is refused, with the system's name.",
    attrs = {
        "system": attr.string(mandatory = True, doc = "The operating system's name, as people write it."),
    },
)
