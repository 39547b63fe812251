"""What both lanes' toolchains have in common: their attributes, and how they are told to rules."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private:released.bzl", "RELEASED_ATTRS", "released")
load("//gate/private/providers:core_ml_toolchain_info.bzl", "CoreMLToolchainInfo")

visibility("//gate/...")

# `compiler` and `bridge` mean the same on both lanes; each rule says in its own documentation which it takes.
LANE_ATTRS = RELEASED_ATTRS | {
    "bridge": attr.label(
        mandatory = True,
        # A label attribute with a transition is a list.
        cfg = released,
        providers = [CcInfo],
        doc = "A C++ library with the three functions of `whisper-encoder.h`, in the configuration in which whisper-cli links it.",
    ),
    "compiler": attr.label(
        mandatory = True,
        executable = True,
        cfg = "exec",
        doc = "Program that turns a `.mlpackage` into a `.mlmodelc`.",
    ),
    "identity": attr.label(
        mandatory = True,
        allow_single_file = [".json"],
        doc = "What a receipt says and hashes about this lane, and what is in the keys of its actions.",
    ),
}

def compile_args(actions, package, output):
    """The arguments that every compiler takes.

    Args:
      actions: ctx.actions.
      package: the `.mlpackage` tree artifact.
      output: the `.mlmodelc` tree artifact.

    Returns:
      An Args.
    """
    args = actions.args()
    args.add_all([package], before_each = "--package", expand_directories = False)
    args.add_all([output], before_each = "--out", expand_directories = False)
    return args

def lane_toolchain(ctx, lane, **settings):
    """The providers of a lane's toolchain.

    Args:
      ctx: of a rule with LANE_ATTRS.
      lane: `physical` or `emulated`.
      **settings: the other fields of CoreMLToolchainInfo.

    Returns:
      A list of providers.
    """
    (bridge,) = ctx.attr.bridge
    return [platform_common.ToolchainInfo(core_ml = CoreMLToolchainInfo(
        lane = lane,
        identity = ctx.file.identity,
        bridge = bridge[CcInfo],
        **settings
    ))]
