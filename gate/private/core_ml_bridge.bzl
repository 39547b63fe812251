"""core_ml_bridge: the C++ library of the lane that was resolved."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "core_ml")

visibility("//gate/...")

def _core_ml_bridge_impl(ctx):
    return [core_ml(ctx).bridge]

core_ml_bridge = rule(
    implementation = _core_ml_bridge_impl,
    doc = """Forwards the resolved lane's bridge, so that a cc_library can depend on it.

The bridge defines `whisper_coreml_init`, `whisper_coreml_free` and `whisper_coreml_encode`.""",
    provides = [CcInfo],
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
