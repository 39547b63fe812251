"""whisper_model_repo: one ggml model, verified by its SHA-256 whatever its origin."""

load(":content.bzl", "PINNED_ATTRS", "fetch_pinned")

visibility("//gate/...")

_MODELS = "WHISPER_MODELS_DIR"

_BUILD = """# Written by whisper_model_repo.
exports_files(["{file}"], visibility = ["//visibility:public"])

alias(name = "model", actual = "{file}", visibility = ["//visibility:public"])
"""

def _whisper_model_repo_impl(rctx):
    fetch_pinned(rctx, "model", [".bin"], _MODELS)
    rctx.file("BUILD.bazel", _BUILD.format(file = rctx.attr.file), executable = False)

whisper_model_repo = repository_rule(
    implementation = _whisper_model_repo_impl,
    doc = """One ggml model under its official name; `:model` is an alias of it.

It comes from `urls`, or from the folder that WHISPER_MODELS_DIR names; the content decides.""",
    attrs = PINNED_ATTRS,
    environ = [_MODELS],
)
