"""zig_sdk: zig as files of a repository, wrappers that choose a target, and toolchains."""

load(":targets.bzl", "TARGETS")

# Where tools/dev/airgap/setup put zig.
_ZIG = "@ZIG@"

# Bazel runs one file for C, C++ and linking, and finds it by its path. The target comes last, so that nothing that a
# rule passes can change it.
_WRAPPER = """#!/bin/sh
root=${{0%/*}}/../..
ZIG_LIB_DIR=$root/lib ZIG_LOCAL_CACHE_DIR={cache} ZIG_GLOBAL_CACHE_DIR={cache}
export ZIG_LIB_DIR ZIG_LOCAL_CACHE_DIR ZIG_GLOBAL_CACHE_DIR
exec "$root/zig" c++ -fno-sanitize=undefined "$@" -target {target}
"""

_ARCHIVER = """#!/bin/sh
root=${{0%/*}}/..
ZIG_LIB_DIR=$root/lib ZIG_LOCAL_CACHE_DIR={cache} ZIG_GLOBAL_CACHE_DIR={cache}
export ZIG_LIB_DIR ZIG_LOCAL_CACHE_DIR ZIG_GLOBAL_CACHE_DIR
exec "$root/zig" ar "$@"
"""

_FILES = """load("@hermetic_cc_toolchain//toolchain:declare.bzl", "declare_files")

declare_files()
"""

_TOOLCHAINS = """load("@hermetic_cc_toolchain//toolchain:declare.bzl", "declare_toolchains")

declare_toolchains()
"""

def _zig_sdk_impl(rctx):
    zig = rctx.path(_ZIG)
    if not zig.get_child("zig").exists:
        fail("no zig at {}: expected what tools/dev/airgap/setup makes there; run it".format(_ZIG))
    rctx.symlink(zig.get_child("zig"), "zig")
    rctx.symlink(zig.get_child("lib"), "lib")

    # What zig compiles for linking (libc's start files, libc++) is kept here between actions.
    cache = rctx.getenv("HERMETIC_CC_TOOLCHAIN_CACHE_PREFIX", "") or "/tmp/zig-cache"
    for target in TARGETS:
        rctx.file("tools/{}/c++".format(target.zig), _WRAPPER.format(cache = cache, target = target.zig))
    rctx.file("tools/ar", _ARCHIVER.format(cache = cache))
    rctx.file("BUILD.bazel", _FILES, executable = False)
    rctx.file("toolchain/BUILD.bazel", _TOOLCHAINS, executable = False)

zig_sdk = repository_rule(
    implementation = _zig_sdk_impl,
    doc = "zig, its wrappers and its toolchains.",
    environ = ["HERMETIC_CC_TOOLCHAIN_CACHE_PREFIX"],
    local = True,
)
