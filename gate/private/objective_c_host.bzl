"""objective_c_host: the machine's Objective-C compiler, as objective_c_host_repo found it."""

load("//gate/private/providers:objective_c_host_info.bzl", "ObjectiveCHostInfo")

# The generated repository @objective_c_host declares one.
visibility("public")

def _objective_c_host_impl(ctx):
    return [ObjectiveCHostInfo(
        missing = ctx.attr.missing,
        clang = ctx.attr.clang,
        clangxx = ctx.attr.clangxx,
        includes = ctx.attr.includes,
        libraries = ctx.attr.libraries,
    )]

objective_c_host = rule(
    implementation = _objective_c_host_impl,
    doc = "What compiles and links Objective-C on Linux. All paths are absolute: these are the system's own files.",
    attrs = {
        "missing": attr.string(doc = "What is missing and what to do; empty if nothing is."),
        "clang": attr.string(doc = "Path of clang."),
        "clangxx": attr.string(doc = "Path of clang++."),
        "includes": attr.string_list(doc = "Folders of GNUstep's and the runtime's headers."),
        "libraries": attr.string_list(doc = "Paths of GNUstep's and the runtime's libraries."),
    },
    provides = [ObjectiveCHostInfo],
)
