"""The Core ML toolchain type's name, and how rules read it."""

load("//gate/private:checks.bzl", "unsupported_platform")

visibility([
    "//gate/...",
    "//third_party/...",
])

CORE_ML_TOOLCHAIN_TYPE = Label("//gate/toolchains:core_ml_toolchain_type")

# The exec group of actions that run whisper-cli or Core ML. It needs the Core ML toolchain as its rule does, and so runs
# where that may run; but exec properties named `run.…`, of a target or of a platform, reach these actions alone.
RUN = "run"
RUN_GROUP = {RUN: exec_group(toolchains = [CORE_ML_TOOLCHAIN_TYPE])}

def core_ml(ctx):
    """The CoreMLToolchainInfo that was resolved for `ctx`. Fails where the platform has no lane.

    Args:
      ctx: of a rule whose `toolchains` name CORE_ML_TOOLCHAIN_TYPE.

    Returns:
      A CoreMLToolchainInfo.
    """
    toolchain = ctx.toolchains[CORE_ML_TOOLCHAIN_TYPE]
    if not toolchain.core_ml:
        fail(unsupported_platform(ctx.label, toolchain.unsupported))
    return toolchain.core_ml
