"""whisper_cli: a whisper-cli with the flavour it claims and the defines that its compile actions carried."""

load("//gate/private:messages.bzl", "no_compile_action")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")

visibility([
    "//gate/...",
    "//third_party/...",
])

_DefinesInfo = provider(
    doc = "Defines of the actions below a target that compiled whisper.cpp.",
    fields = {"defines": "depset of string: -D arguments without the -D."},
)

# Under every -c the same program: a gate that runs in a debugging build judges what would ship.
_optimised = transition(
    implementation = lambda _settings, _attr: {"//command_line_option:compilation_mode": "opt"},
    inputs = [],
    outputs = ["//command_line_option:compilation_mode"],
)

def _compiles_whisper(action):
    if action.mnemonic != "CppCompile":
        return False
    return "whisper.cpp" in [f.basename for f in action.inputs.to_list()]

def _defines_of(argv):
    return [arg[2:] for arg in argv if arg.startswith("-D")]

def _compile_defines_impl(target, ctx):
    direct = []
    for action in target.actions:
        if _compiles_whisper(action):
            direct += _defines_of(action.argv)
    transitive = []
    for name in ("actual", "binary", "deps"):
        value = getattr(ctx.rule.attr, name, None)
        for dep in value if type(value) == type([]) else [value]:
            if dep and _DefinesInfo in dep:
                transitive.append(dep[_DefinesInfo].defines)
    return [_DefinesInfo(defines = depset(direct, transitive = transitive))]

_compile_defines = aspect(
    implementation = _compile_defines_impl,
    attr_aspects = ["actual", "binary", "deps"],
)

def _whisper_cli_impl(ctx):
    binary = ctx.attr.binary
    defines = sorted(binary[_DefinesInfo].defines.to_list())
    if not defines:
        fail(no_compile_action(ctx.label))
    listing = ctx.actions.declare_file(ctx.label.name + ".defines.json")
    ctx.actions.write(listing, json.encode(defines) + "\n")

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
        ),
    ]

whisper_cli = rule(
    implementation = _whisper_cli_impl,
    cfg = _optimised,
    doc = """Gives a whisper-cli to the gates, with what it was really compiled with.

The flavour is a claim; the defines are read off the compile actions, so that a gate
judges the macros that reached the compiler and not the name of an option.""",
    attrs = {
        "binary": attr.label(
            mandatory = True,
            executable = True,
            cfg = "target",
            aspects = [_compile_defines],
            doc = "The program: a cc_binary, or on macOS a macos_command_line_application.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
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
    },
    executable = True,
    provides = [WhisperCliInfo],
)
