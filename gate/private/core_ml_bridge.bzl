"""core_ml_bridge: the C++ library of the lane that was resolved."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private:compiled.bzl", "compiled")
load("//gate/private/providers:compiled_info.bzl", "CompiledInfo")
load("//gate/private/providers:core_ml_bridge_info.bzl", "CoreMLBridgeInfo")

visibility("//gate/...")

_TYPE = Label("//gate/toolchains:core_ml_bridge_toolchain_type")

def _core_ml_bridge_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        bridge = ctx.attr.bridge[CcInfo],
        compiled = ctx.attr.bridge[CompiledInfo],
        lane = ctx.attr.lane,
    )]

core_ml_bridge_toolchain = rule(
    implementation = _core_ml_bridge_toolchain_impl,
    doc = """A lane's bridge by itself.

The Core ML toolchain has it as well, and wants a machine that can run whisper-cli. Linking one wants
none: whisper-cli for macOS may be built on Linux.""",
    attrs = {
        "bridge": attr.label(
            mandatory = True,
            aspects = [compiled],
            providers = [CcInfo],
            doc = "A C++ library with the three functions of `whisper-encoder.h`.",
        ),
        "lane": attr.string(
            mandatory = True,
            values = ["physical", "emulated"],
            doc = "The lane that the bridge belongs to. A run on another lane refuses a program that links it.",
        ),
    },
)

def _core_ml_bridge_impl(ctx):
    toolchain = ctx.toolchains[_TYPE]
    return [
        toolchain.bridge,
        CoreMLBridgeInfo(lane = toolchain.lane, compiled = toolchain.compiled),
    ]

core_ml_bridge = rule(
    implementation = _core_ml_bridge_impl,
    doc = """Forwards the resolved lane's bridge, so that a cc_library can depend on it.

The bridge defines `whisper_coreml_init`, `whisper_coreml_free` and `whisper_coreml_encode`.""",
    provides = [CcInfo, CoreMLBridgeInfo],
    toolchains = [_TYPE],
)
