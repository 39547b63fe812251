"""Digests and copies with no tool of the host: Bazel hashes what it downloads, from file:// too."""

load(":messages.bzl", "bad_digest", "bad_file_name", "bad_manifest_line", "download_failed", "file_missing", "not_absolute", "path_missing", "pinned_file_differs")

visibility("//gate/...")

# Where a fetch works before anything is verified; removed at its end and on failure.
INCOMING = "_incoming"

def file_url(path):
    """The file:// address of an absolute path.

    Args:
      path: string or path.

    Returns:
      A string, with the characters that mean something in an address escaped.
    """
    text = str(path)
    for char, escaped in [("%", "%25"), (" ", "%20"), ("#", "%23"), ("?", "%3F"), ("[", "%5B"), ("]", "%5D"), ("\\", "%5C"), ("^", "%5E"), ("`", "%60"), ("{", "%7B"), ("|", "%7C"), ("}", "%7D"), ("\"", "%22"), ("<", "%3C"), (">", "%3E")]:
        text = text.replace(char, escaped)
    return "file://" + text

def copy_and_hash(rctx, source, output):
    """Copies a file and returns the SHA-256 of the bytes that were copied.

    No checksum is given to the download: with one, Bazel would answer from its
    repository cache and the file in question would never be read.

    Args:
      rctx: the repository context.
      source: path of an existing file.
      output: where to, relative to the repository.

    Returns:
      A string of 64 hexadecimal digits.
    """
    return rctx.download(url = file_url(source), output = output).sha256

def give_up(rctx, message, *made):
    """Removes what a fetch has made so far, then fails with `message`.

    Args:
      rctx: the repository context.
      message: what to tell the user.
      *made: paths relative to the repository.
    """
    for path in (INCOMING,) + made:
        rctx.delete(path)
    fail(message)

def check_digest_form(thing, digest):
    if len(digest) != 64 or digest.strip("0123456789abcdef"):
        fail(bad_digest(thing, digest))

def path_from_environment(rctx, variable):
    """The path that an environment variable names.

    Args:
      rctx: the repository context.
      variable: the variable's name.

    Returns:
      A path that exists, or None if the variable is unset or empty.
    """
    value = rctx.getenv(variable, "")
    if not value:
        return None
    if not value.startswith("/"):
        fail(not_absolute(variable, value))
    path = rctx.path(value)
    if not path.exists:
        fail(path_missing(variable, value))
    return path

def parse_manifest(text, path):
    """Reads a content manifest: one `<sha256>  <path>` a line, sorted by path.

    Args:
      text: the file's content.
      path: what messages call it.

    Returns:
      A list of (path, digest) tuples.
    """
    entries = []
    last = ""
    lines = text.split("\n")
    if not text or lines[-1] != "":
        fail(bad_manifest_line(path, len(lines), lines[-1]))
    for number, line in enumerate(lines[:-1]):
        digest, gap, name = line[:64], line[64:66], line[66:]
        parts = name.split("/")
        if (len(digest) != 64 or digest.strip("0123456789abcdef") or gap != "  " or name <= last or
            "" in parts or "." in parts or ".." in parts):
            fail(bad_manifest_line(path, number + 1, line))
        entries.append((name, digest))
        last = name
    return entries

def fetch_pinned(rctx, kind, endings, variable):
    """Fetches the file that a repository pins by `file`, `sha256` and `urls`, from a folder of this machine or from its addresses.

    Args:
      rctx: the repository context.
      kind: what messages call the file.
      endings: what its name may end in.
      variable: the environment variable that names the folder.
    """
    file, expected = rctx.attr.file, rctx.attr.sha256
    check_digest_form(kind + " " + file, expected)
    if "/" in file or not [e for e in endings if file.endswith(e)]:
        fail(bad_file_name(kind, rctx.name, endings, file))

    folder = path_from_environment(rctx, variable)
    source = folder.get_child(file) if folder else None
    if source:
        rctx.watch(source)
    if source and source.exists:
        # No checksum is given here: with one, Bazel would answer from its cache and never read the file.
        found = copy_and_hash(rctx, source, file)
        if found != expected:
            give_up(rctx, pinned_file_differs(kind, file, source, expected, found), file)
    elif not rctx.attr.urls:
        fail(file_missing(kind, file, folder, variable))
    elif not rctx.download(rctx.attr.urls, file, sha256 = expected, allow_fail = True).success:
        give_up(rctx, download_failed("{} {} with SHA-256 {}".format(kind, file, expected), rctx.attr.urls, variable, "the folder that holds it"), file)

# Attributes of a repository that fetch_pinned fetches.
PINNED_ATTRS = {
    "file": attr.string(mandatory = True, doc = "The official file name, such as `ggml-tiny.en.bin`."),
    "sha256": attr.string(mandatory = True, doc = "SHA-256 of the file, 64 hexadecimal digits."),
    "urls": attr.string_list(doc = "Where to download it from, in order of preference."),
}
