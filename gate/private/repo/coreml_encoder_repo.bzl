"""coreml_encoder_repo: the archive of a ready Core ML encoder, verified by its SHA-256 whatever its origin."""

load(":content.bzl", "PINNED_ATTRS", "fetch_pinned")

visibility("//gate/...")

_ENCODERS = "WHISPER_ENCODERS_DIR"

_BUILD = """# Written by coreml_encoder_repo.
load("@rules_coreml_gate//gate:defs.bzl", "coreml_archive")

exports_files(["{file}"], visibility = ["//visibility:public"])

coreml_archive(
    name = "encoder",
    archive = "{file}",
    sha256 = "{sha256}",
    visibility = ["//visibility:public"],
)
"""

def _coreml_encoder_repo_impl(rctx):
    fetch_pinned(rctx, "encoder", [".zip", ".tar", ".tar.gz", ".tgz"], _ENCODERS)
    rctx.file("BUILD.bazel", _BUILD.format(file = rctx.attr.file, sha256 = rctx.attr.sha256), executable = False)

coreml_encoder_repo = repository_rule(
    implementation = _coreml_encoder_repo_impl,
    doc = """A ready encoder as it was published, an archive; `:encoder` is the `.mlmodelc` in it, a directory.

It comes from `urls`, or from the folder that WHISPER_ENCODERS_DIR names; the content decides.""",
    attrs = PINNED_ATTRS,
    environ = [_ENCODERS],
)
