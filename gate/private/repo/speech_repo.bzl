"""speech_repo: recordings, each verified by its SHA-256 whatever their origin."""

load(":content.bzl", "INCOMING", "check_digest_form", "copy_and_hash", "give_up", "path_from_environment")
load(":messages.bzl", "bad_speech_path", "download_failed", "speech_differs", "speech_missing")

visibility("//gate/...")

_SPEECH = "WHISPER_SPEECH_DIR"

_BUILD = """# Written by speech_repo.
exports_files({files}, visibility = ["//visibility:public"])

filegroup(name = "files", srcs = {files}, visibility = ["//visibility:public"])
"""

def _speech_repo_impl(rctx):
    files = rctx.attr.files
    for file, expected in files.items():
        check_digest_form("recording " + file, expected)
        parts = file.split("/")
        if "" in parts or "." in parts or ".." in parts or parts[0] in ("BUILD.bazel", INCOMING):
            fail(bad_speech_path(rctx.name, file))

    folder = path_from_environment(rctx, _SPEECH)
    made = {file.split("/")[0]: None for file in files}.keys()
    for file, expected in files.items():
        source = folder.get_child(*file.split("/")) if folder else None
        if source:
            rctx.watch(source)
        if not source or not source.exists:
            if file in rctx.attr.urls:
                if not rctx.download(rctx.attr.urls[file], file, sha256 = expected, allow_fail = True).success:
                    give_up(rctx, download_failed("recording {} with SHA-256 {}".format(file, expected), rctx.attr.urls[file], _SPEECH, "a folder that holds it"), *made)
                continue
            give_up(rctx, speech_missing(file, folder), *made)

        # No checksum is given here: with one, Bazel would answer from its cache and never read the file.
        found = copy_and_hash(rctx, source, file)
        if found != expected:
            give_up(rctx, speech_differs(file, source, expected, found), *made)
    rctx.file("BUILD.bazel", _BUILD.format(files = repr(sorted(files.keys()))), executable = False)

speech_repo = repository_rule(
    implementation = _speech_repo_impl,
    doc = """Recordings under their paths; `:files` is all of them.

Each comes from the folder that WHISPER_SPEECH_DIR names, or from its own addresses; the content decides.""",
    attrs = {
        "files": attr.string_dict(mandatory = True, doc = "SHA-256 of each recording by its path."),
        "urls": attr.string_list_dict(doc = "Where to download a recording from, by its path, in order of preference."),
    },
    environ = [_SPEECH],
)
