"""core_ml_bridge: the C++ library of the lane that was resolved."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility("//gate/...")

_TYPE = Label("//gate/toolchains:core_ml_bridge_toolchain_type")

def _core_ml_bridge_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(bridge = ctx.attr.bridge[CcInfo])]

core_ml_bridge_toolchain = rule(
    implementation = _core_ml_bridge_toolchain_impl,
    doc = """A lane's bridge by itself.

The Core ML toolchain has it as well, and wants a machine that can run whisper-cli. Linking one wants
none: whisper-cli for macOS may be built on Linux.""",
    attrs = {
        "bridge": attr.label(
            mandatory = True,
            providers = [CcInfo],
            doc = "A C++ library with the three functions of `whisper-encoder.h`.",
        ),
    },
)

def _core_ml_bridge_impl(ctx):
    return [ctx.toolchains[_TYPE].bridge]

core_ml_bridge = rule(
    implementation = _core_ml_bridge_impl,
    doc = """Forwards the resolved lane's bridge, so that a cc_library can depend on it.

The bridge defines `whisper_coreml_init`, `whisper_coreml_free` and `whisper_coreml_encode`.""",
    provides = [CcInfo],
    toolchains = [_TYPE],
)
