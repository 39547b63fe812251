"""receipt_on: a gate's receipt, built for a platform of your choice."""

load("//gate/private:messages.bzl", "receipt_on_other_lane")
load("//gate/private/providers:gate_receipt_info.bzl", "GateReceiptInfo")

visibility("//gate/...")

def _to_platform_impl(_settings, attr):
    return {"//command_line_option:platforms": [attr.platform]}

_to_platform = transition(
    implementation = _to_platform_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _receipt_on_impl(ctx):
    # A label attribute with a transition is a list.
    (receipt,) = ctx.attr.receipt
    info = receipt[GateReceiptInfo]
    if info.lane != ctx.attr.lane:
        fail(receipt_on_other_lane(ctx.label, ctx.attr.receipt[0].label, ctx.attr.platform.label, ctx.attr.lane, info.lane))
    return [
        DefaultInfo(files = depset([info.receipt])),
        info,
    ]

receipt_on = rule(
    implementation = _receipt_on_impl,
    doc = """The receipt of a gate on one platform, which must give the lane that is named.

With two of them one build takes a model's physical evidence from macOS workers and its emulated evidence from Linux
ones, and a gate_release of both says which is which.""",
    attrs = {
        "receipt": attr.label(
            mandatory = True,
            cfg = _to_platform,
            providers = [GateReceiptInfo],
            doc = "A gate_receipt.",
        ),
        "platform": attr.label(
            mandatory = True,
            providers = [platform_common.PlatformInfo],
            doc = "What to build and run it for: a platform of a core_ml_worker, or of Linux.",
        ),
        "lane": attr.string(
            mandatory = True,
            values = ["physical", "emulated"],
            doc = "The lane that the platform has to give. Another one is an error at analysis.",
        ),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    provides = [GateReceiptInfo],
)
