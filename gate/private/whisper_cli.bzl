"""whisper_cli: a whisper-cli with the flavour it claims, the defines and the pin that its compile actions say."""

load("//gate/private:checks.bzl", "two_bridges")
load("//gate/private:compiled.bzl", "compiled")
load("//gate/private:messages.bzl", "no_compile_action")
load("//gate/private:origin.bzl", "foreign", "no_pin")
load("//gate/private:released.bzl", "RELEASED_ATTRS", "released")
load("//gate/private/providers:compiled_info.bzl", "CompiledInfo")
load("//gate/private/providers:pin_info.bzl", "PinInfo")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")

visibility([
    "//gate/...",
    "//third_party/...",
])

def _bridge(ctx, info):
    """The lane of the bridge that the program links, "" if it links none."""
    bridges = info.bridges.to_list()
    if len(bridges) > 1:
        fail(two_bridges(ctx.label, bridges))
    return bridges[0] if bridges else ""

def _whisper_cli_impl(ctx):
    binary = ctx.attr.binary
    info = binary[CompiledInfo]
    defines = sorted(info.defines.to_list())
    if not defines:
        fail(no_compile_action(ctx.label))
    listing = ctx.actions.declare_file(ctx.label.name + ".defines.json")
    ctx.actions.write(listing, json.encode(defines) + "\n")

    pin = ctx.attr.upstream[PinInfo]
    others = foreign(info, pin, ctx.executable.binary)

    # A copy by symbolic link: the program keeps its own bytes, and this rule its own name.
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.executable.binary,
        is_executable = True,
    )
    return [
        DefaultInfo(
            executable = executable,
            files = depset([executable]),
            runfiles = binary[DefaultInfo].default_runfiles,
        ),
        WhisperCliInfo(
            executable = executable,
            flavour = ctx.attr.flavour,
            defines = listing,
            pin = no_pin(ctx, others) if others else pin,
            bridge = _bridge(ctx, info),
        ),
    ]

whisper_cli = rule(
    implementation = _whisper_cli_impl,
    cfg = released,
    doc = """Gives a whisper-cli to the gates, with what it was really compiled from and with.

The flavour is a claim. The defines are read off the compile actions, so that a gate judges the macros that reached the
compiler and not the name of an option. So is the pin: the program belongs to the pin of `upstream` exactly if every file
that its compile actions read is one that the pin vouches for, and if nothing is linked that they did not write. Any
other program is of pin `none`: its runs can be looked at, and no receipt of it is a pass.

`binary` is for a fork of your own (docs/fork.md), whose `@<fork>//:whisper_cli_coreml` is made by this rule.""",
    attrs = RELEASED_ATTRS | {
        "binary": attr.label(
            mandatory = True,
            executable = True,
            cfg = "target",
            aspects = [compiled],
            doc = "The program: a cc_binary that compiles whisper.cpp. Signed or bundled by another rule it is of no pin.",
        ),
        "flavour": attr.string(
            mandatory = True,
            values = [
                "ggml",
                "coreml",
                "coreml_allow_fallback",
                "coreml_unpatched",
                "coreml_allow_fallback_unpatched",
            ],
            doc = "How whisper-cli is said to be built. The last three are for experiments and pass no gate.",
        ),
        "upstream": attr.label(
            default = "//third_party/whisper_cpp:sources",
            providers = [PinInfo],
            doc = "The upstream_sources whose pin the program claims.",
        ),
    },
    executable = True,
    provides = [WhisperCliInfo],
)
