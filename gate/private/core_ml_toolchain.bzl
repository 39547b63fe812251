"""The Core ML toolchain type's name, and how rules read it."""

visibility([
    "//gate/...",
    "//third_party/...",
])

CORE_ML_TOOLCHAIN_TYPE = Label("//gate/toolchains:core_ml_toolchain_type")

def core_ml(ctx):
    """The CoreMLToolchainInfo that was resolved for `ctx`.

    Args:
      ctx: of a rule whose `toolchains` name CORE_ML_TOOLCHAIN_TYPE.

    Returns:
      A CoreMLToolchainInfo.
    """
    return ctx.toolchains[CORE_ML_TOOLCHAIN_TYPE].core_ml
