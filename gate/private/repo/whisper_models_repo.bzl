"""whisper_models_repo: one place for all models, or all encoders, each fetched only when it is needed."""

visibility("//gate/...")

def _whisper_models_repo_impl(rctx):
    rctx.file("BUILD.bazel", "# Written by whisper_models_repo.\n" + "".join([
        "\nalias(name = \"{}\", actual = \"{}\", visibility = [\"//visibility:public\"])\n".format(name, actual)
        for name, actual in sorted(rctx.attr.models.items())
    ]), executable = False)

whisper_models_repo = repository_rule(
    implementation = _whisper_models_repo_impl,
    doc = "Aliases `:<name>` to the repository of each model or encoder.",
    attrs = {
        "models": attr.string_dict(mandatory = True, doc = "Label of each by name."),
    },
)
