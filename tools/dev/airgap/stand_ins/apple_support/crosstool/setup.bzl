"""Stand-in for @apple_support//crosstool:setup.bzl: the repositories are there, and hold no toolchain."""

def _empty_impl(rctx):
    rctx.file("BUILD.bazel", "# Apple's toolchain needs a Mac.\n", executable = False)

_empty_repo = repository_rule(implementation = _empty_impl)

def _apple_cc_configure_extension_impl(_mctx):
    _empty_repo(name = "local_config_apple_cc")
    _empty_repo(name = "local_config_apple_cc_toolchains")

apple_cc_configure_extension = module_extension(implementation = _apple_cc_configure_extension_impl)
