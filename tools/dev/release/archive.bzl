"""The archive of a release, and the programs that go with it."""

visibility("private")

def _release_archive_impl(ctx):
    outputs = [
        ctx.actions.declare_file(name)
        for name in [
            "{}-{}.tar.gz".format(ctx.attr.module, ctx.attr.version),
            "MODULE.bazel",
            "metadata.json",
            "presubmit.yml",
            "receipt.json",
            "source.json",
        ]
    ]
    files = ctx.actions.args()
    files.use_param_file("%s", use_always = True)
    files.set_param_file_format("multiline")
    files.add_all(ctx.files.srcs)
    files_list = ctx.actions.declare_file(ctx.label.name + ".files")
    ctx.actions.write(files_list, files)
    args = ctx.actions.args()
    args.add("--files", files_list)
    args.add("--out", outputs[0].dirname)
    ctx.actions.run(
        outputs = outputs,
        inputs = depset(ctx.files.srcs + [files_list]),
        executable = ctx.executable._packer,
        arguments = [args],
        mnemonic = "ReleaseArchive",
        progress_message = "Packing the release %{label}",
    )
    return [DefaultInfo(files = depset(outputs))]

release_archive = rule(
    implementation = _release_archive_impl,
    doc = "Packs the module for its users, and writes its receipt and its entry in a registry.",
    attrs = {
        "module": attr.string(mandatory = True, doc = "The module's name."),
        "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "All source files."),
        "version": attr.string(mandatory = True, doc = "Its version."),
        "_packer": attr.label(default = "//tools/dev/release", executable = True, cfg = "exec"),
    },
)

def _for_release_impl(_settings, attr):
    return {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:platforms": str(attr.platform),
        "//command_line_option:strip": "always",
        "@rules_go//go/config:pure": True,
    }

_for_release = transition(
    implementation = _for_release_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:platforms",
        "//command_line_option:strip",
        "@rules_go//go/config:pure",
    ],
)

def _release_program_impl(ctx):
    # A label attribute with a transition is a list.
    (program,) = ctx.attr.program
    out = ctx.actions.declare_file(ctx.attr.out)
    ctx.actions.symlink(output = out, target_file = program[DefaultInfo].files_to_run.executable, is_executable = True)
    return [DefaultInfo(files = depset([out]))]

release_program = rule(
    implementation = _release_program_impl,
    doc = "A Go program for one platform, without cgo, in one configuration whatever the build's own is.",
    attrs = {
        "out": attr.string(mandatory = True, doc = "The file's name."),
        "platform": attr.label(mandatory = True, doc = "The platform that it is for."),
        "program": attr.label(mandatory = True, cfg = _for_release, doc = "The go_binary."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
