"""What stands for things that need Apple's compiler or minutes: a bridge, a whisper-cli, an encoder, a receipt."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")
load("//gate/private/providers:gate_receipt_info.bzl", "GateReceiptInfo")
load("//gate/private/providers:pin_info.bzl", "PinInfo")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")
load("//gate/private/providers:whisper_run_info.bzl", "WhisperRunInfo")

visibility("//gate/private/tests")

bridge_stub = rule(implementation = lambda _ctx: [CcInfo()])

def _cli_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    defines = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(executable, "", is_executable = True)
    ctx.actions.write(defines, "[]")
    return [
        DefaultInfo(executable = executable),
        WhisperCliInfo(
            executable = executable,
            flavour = ctx.attr.flavour,
            defines = defines,
            pin = ctx.attr.upstream[PinInfo],
            bridge = ctx.attr.bridge,
        ),
    ]

_cli_stub = rule(
    implementation = _cli_impl,
    executable = True,
    attrs = {
        "bridge": attr.string(),
        "flavour": attr.string(default = "coreml"),
        "upstream": attr.label(default = "//third_party/whisper_cpp:sources", providers = [PinInfo]),
    },
)

def cli_stub(name, flavour = "coreml", bridge = None, **kwargs):
    """A whisper-cli that links the bridge of its platform's lane, or one that is named.

    Args:
      name: of the target.
      flavour: of the program.
      bridge: the lane of the bridge that it links; None takes the platform's.
      **kwargs: other attributes.
    """
    lanes = {
        "@platforms//os:macos": "physical",
        "//conditions:default": "emulated",
    }
    _cli_stub(
        name = name,
        flavour = flavour,
        bridge = bridge if bridge != None else ("" if flavour == "ggml" else select(lanes)),
        tags = ["manual"],
        **kwargs
    )

def _encoder_impl(ctx):
    compiled = ctx.actions.declare_directory("{}/ggml-model-encoder.mlmodelc".format(ctx.label.name))
    ctx.actions.run_shell(outputs = [compiled], command = "exit 1")
    return [CoreMLEncoderInfo(package = None, compiled = compiled, precision = "float32")]

encoder_stub = rule(implementation = _encoder_impl)

def _directory_impl(ctx):
    directory = ctx.actions.declare_directory("{}/{}".format(ctx.label.name, ctx.attr.basename))
    ctx.actions.run_shell(outputs = [directory], command = "exit 1")
    return [DefaultInfo(files = depset([directory]))]

directory_stub = rule(
    implementation = _directory_impl,
    doc = "A directory that a rule writes.",
    attrs = {"basename": attr.string(mandatory = True)},
)

def _receipt_impl(ctx):
    run = ctx.attr.run[WhisperRunInfo]
    return [GateReceiptInfo(receipt = run.evidence, lane = run.lane)]

receipt_stub = rule(
    implementation = _receipt_impl,
    attrs = {"run": attr.label(mandatory = True, providers = [WhisperRunInfo])},
)
