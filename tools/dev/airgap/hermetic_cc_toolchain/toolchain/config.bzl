"""zig_cc_toolchain_config: how Bazel calls zig."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:cc_toolchain_config_lib.bzl", "artifact_name_pattern", "feature", "flag_group", "flag_set", "tool_path")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")

_LINK = [
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]
_COMPILE = [ACTION_NAMES.c_compile, ACTION_NAMES.cpp_compile]
_OTHER = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.cpp_header_parsing,
    ACTION_NAMES.linkstamp_compile,
    ACTION_NAMES.preprocess_assemble,
]

def _flags(name, actions, flags, enabled = False):
    return feature(
        name = name,
        enabled = enabled,
        flag_sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])] if flags else [],
    )

def _zig_cc_toolchain_config_impl(ctx):
    every = _LINK + _COMPILE + _OTHER
    checks = ["-fsanitize-undefined-strip-path-components=-1", "-fno-sanitize=undefined"]
    features = [
        _flags("compile_and_link_flags", _COMPILE, [
            "-no-canonical-prefixes",
            "-Wno-builtin-macro-redefined",
            "-D__DATE__=\"redacted\"",
            "-D__TIMESTAMP__=\"redacted\"",
            "-D__TIME__=\"redacted\"",
        ] + ctx.attr.copts, enabled = True),
        _flags("default_linker_flags", _LINK, ctx.attr.linkopts, enabled = True),
        feature(name = "supports_dynamic_linker", enabled = True),
        _flags("dbg", every, ["-g"] + checks),
        _flags("opt", every, ["-O2", "-DNDEBUG"]),
        _flags("fastbuild", every, ["-fno-lto"] + checks),
    ]
    tools = {"gcc": "tools/{}/c++".format(ctx.attr.target), "ar": "tools/ar"}
    for name in ["cpp", "gcov", "ld", "nm", "objdump", "strip"]:
        tools[name] = "/usr/bin/false"
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        features = features,
        toolchain_identifier = ctx.attr.target + "-toolchain",
        host_system_name = "local",
        target_system_name = "unknown",
        target_cpu = ctx.attr.target_cpu,
        target_libc = "unknown",
        compiler = "clang",
        abi_version = "unknown",
        abi_libc_version = "unknown",
        tool_paths = [tool_path(name = name, path = path) for name, path in tools.items()],
        artifact_name_patterns = [
            artifact_name_pattern(category_name = p[0], prefix = p[1], extension = p[2])
            for p in [json.decode(p) for p in ctx.attr.patterns]
        ],
    )

zig_cc_toolchain_config = rule(
    implementation = _zig_cc_toolchain_config_impl,
    doc = "The toolchain configuration for one target of zig.",
    attrs = {
        "copts": attr.string_list(doc = "Flags of every compilation."),
        "linkopts": attr.string_list(doc = "Flags of every link."),
        "patterns": attr.string_list(doc = "File names of this target: JSON arrays of category, prefix and extension."),
        "target": attr.string(mandatory = True, doc = "The target as zig spells it."),
        "target_cpu": attr.string(mandatory = True, doc = "Bazel's old name of the processor."),
    },
    provides = [CcToolchainConfigInfo],
)
