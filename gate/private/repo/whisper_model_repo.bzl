"""whisper_model_repo: one ggml model, verified by its SHA-256 whatever its origin."""

load(":content.bzl", "check_digest_form", "copy_and_hash", "give_up", "path_from_environment")
load(":messages.bzl", "bad_file_name", "download_failed", "model_differs", "model_missing")

visibility("//gate/...")

_MODELS = "WHISPER_MODELS_DIR"

_BUILD = """# Written by whisper_model_repo.
exports_files(["{file}"], visibility = ["//visibility:public"])

alias(name = "model", actual = "{file}", visibility = ["//visibility:public"])
"""

def _whisper_model_repo_impl(rctx):
    file, expected = rctx.attr.file, rctx.attr.sha256
    check_digest_form("model " + file, expected)
    if "/" in file or not file.endswith(".bin"):
        fail(bad_file_name(rctx.name, file))

    folder = path_from_environment(rctx, _MODELS)
    source = folder.get_child(file) if folder else None
    if source:
        rctx.watch(source)
    if source and source.exists:
        # No checksum is given here: with one, Bazel would answer from its cache and never read the file.
        found = copy_and_hash(rctx, source, file)
        if found != expected:
            give_up(rctx, model_differs(file, source, expected, found), file)
    elif not rctx.attr.urls:
        fail(model_missing(file, folder))
    elif not rctx.download(rctx.attr.urls, file, sha256 = expected, allow_fail = True).success:
        give_up(rctx, download_failed("model {} with SHA-256 {}".format(file, expected), rctx.attr.urls, _MODELS, "the folder that holds it"), file)
    rctx.file("BUILD.bazel", _BUILD.format(file = file), executable = False)

whisper_model_repo = repository_rule(
    implementation = _whisper_model_repo_impl,
    doc = """One ggml model under its official name; `:model` is an alias of it.

It comes from `urls`, or from the folder that WHISPER_MODELS_DIR names; the content decides.""",
    attrs = {
        "file": attr.string(mandatory = True, doc = "The official file name, such as `ggml-tiny.en.bin`."),
        "sha256": attr.string(mandatory = True, doc = "SHA-256 of the file, 64 hexadecimal digits."),
        "urls": attr.string_list(doc = "Where to download it from, in order of preference."),
    },
    environ = [_MODELS],
)
