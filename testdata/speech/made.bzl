"""made_speech: the recordings that tools/words/speech makes, as files."""

visibility("//testdata/speech")

def _made_speech_impl(ctx):
    files = ctx.outputs.outs
    args = ctx.actions.args()
    args.add(files[0].dirname, format = "--out=%s")
    args.add_all(ctx.files.sources)
    ctx.actions.run(
        mnemonic = "GateSpeech",
        progress_message = "Making %{label}",
        executable = ctx.executable._tool,
        arguments = [args],
        inputs = ctx.files.sources,
        outputs = files,
        env = {},
    )
    return [DefaultInfo(files = depset(files))]

made_speech = rule(
    implementation = _made_speech_impl,
    doc = "Makes recordings. Each is an output that a label can name.",
    attrs = {
        "outs": attr.output_list(mandatory = True, doc = "The recordings, and their list fixtures.json, in one folder."),
        "sources": attr.label_list(allow_files = True, mandatory = True, doc = "Files of the packages that it is made from."),
        "_tool": attr.label(default = "//tools/actions/gate_speech", executable = True, cfg = "exec"),
    },
)
