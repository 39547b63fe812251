"""The module extension `toolchains`, with the one repository that a root module may use."""

load(":zig_sdk.bzl", "zig_sdk")

def _toolchains_impl(mctx):
    zig_sdk(name = "zig_sdk")
    return mctx.extension_metadata(reproducible = True)

toolchains = module_extension(
    implementation = _toolchains_impl,
    doc = "Makes `@zig_sdk`.",
)
