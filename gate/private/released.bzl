"""The configuration of programs that ship, and a rule that builds one program in it."""

visibility([
    "//gate/...",
    "//third_party/...",
    "//tools/encoder/coremlprobe",
])

# The oldest macOS that whisper-cli, its bridge and the probe are built for.
MINIMUM_MACOS = "13.3"

# Under every -c and every --macos_minimum_os the same program: a gate that runs in a debugging build judges what would
# ship, and all parts of one program are built in one configuration.
released = transition(
    implementation = lambda _settings, _attr: {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:macos_minimum_os": MINIMUM_MACOS,
    },
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:macos_minimum_os",
    ],
)

RELEASED_ATTRS = {
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}

def _released_binary_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.executable.binary,
        is_executable = True,
    )
    return [DefaultInfo(
        executable = executable,
        files = depset([executable]),
        runfiles = ctx.attr.binary[DefaultInfo].default_runfiles,
    )]

released_binary = rule(
    implementation = _released_binary_impl,
    cfg = released,
    doc = "Builds a program as it ships: optimised, for the oldest macOS that is supported. The linker signs it ad hoc.",
    attrs = RELEASED_ATTRS | {
        "binary": attr.label(
            mandatory = True,
            executable = True,
            cfg = "target",
            doc = "The program: a cc_binary.",
        ),
    },
    executable = True,
)
