"""What the packages of @zig_sdk declare."""

load("@rules_cc//cc/toolchains:cc_toolchain.bzl", "cc_toolchain")
load(":config.bzl", "zig_cc_toolchain_config")
load(":targets.bzl", "TARGETS")

# What zig compiles while it links.
_LINKED = [
    "lib/libcxx/**",
    "lib/libcxxabi/**",
    "lib/libunwind/**",
    "lib/compiler_rt/**",
    "lib/std/**",
    "lib/libtsan/**",
    "lib/c/**",
    "lib/*.zig",
    "lib/*.h",
]

# buildifier: disable=unnamed-macro (the targets' names are the compiler's)
def declare_files():
    """The package of zig's files: a C++ toolchain for each target."""
    native.filegroup(name = "empty")
    for target in TARGETS:
        compiler, linker = target.zig + "_compiler_files", target.zig + "_linker_files"
        native.filegroup(
            name = compiler,
            srcs = ["zig", "tools/{}/c++".format(target.zig)] + native.glob(["lib/{}/**".format(d) for d in target.includes]),
        )
        native.filegroup(
            name = linker,
            srcs = [compiler, "tools/ar"] + native.glob(_LINKED + ["lib/libc/{}/**".format(target.libc)], allow_empty = True),
        )
        zig_cc_toolchain_config(
            name = target.zig + "_config",
            target = target.zig,
            target_cpu = target.target_cpu,
            copts = target.copts,
            linkopts = target.linkopts,
            patterns = [json.encode(p) for p in target.patterns],
        )
        cc_toolchain(
            name = target.zig + "_cc",
            all_files = linker,
            ar_files = linker,
            as_files = compiler,
            compiler_files = compiler,
            dwp_files = ":empty",
            linker_files = linker,
            objcopy_files = ":empty",
            strip_files = ":empty",
            supports_param_files = 0,
            toolchain_config = target.zig + "_config",
            visibility = ["//toolchain:__pkg__"],
        )

# buildifier: disable=unnamed-macro (hermetic_cc_toolchain gives the names)
def declare_toolchains():
    """The package of the toolchains, by the names that hermetic_cc_toolchain gives them."""
    for target in TARGETS:
        native.toolchain(
            name = target.name,
            exec_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
            target_compatible_with = target.constraints,
            toolchain = "//:{}_cc".format(target.zig),
            toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
        )
