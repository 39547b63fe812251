"""whisper_cpp_repo: upstream source, verified file by file, then patched, then verified again."""

load(":content.bzl", "INCOMING", "check_digest_form", "copy_and_hash", "give_up", "parse_manifest", "path_from_environment")
load(
    ":messages.bzl",
    "anchor_missing",
    "archive_escapes",
    "download_failed",
    "file_differs",
    "files_missing",
    "further_patch_touches",
    "further_patch_unlisted",
    "manifest_differs",
    "patch_differs",
    "patch_touches",
    "patched_file_differs",
)
load(":patch_file.bzl", "touched_files")

visibility("//gate/...")

_ARCHIVE = "WHISPER_CPP_ARCHIVE"
_MAX_DEPTH = 8
_MAX_FOLDERS = 20000

# The unpatched copy of the patched file, for the experiments' flavours.
_UNPATCHED = "unpatched"
_MANIFEST = "upstream.manifest"

# Copies of the patches, as they were verified: receipts bind them.
_PATCH = "compatibility.patch"
_FURTHER = "further_{}.patch"

def _find_roots(top, anchor):
    """The folders nearest to `top` that hold `anchor`, and how many folders were seen."""
    level, seen = [top], 0
    for _ in range(_MAX_DEPTH):
        found = [d for d in level if d.get_child(*anchor.split("/")).exists]
        seen += len(level)
        if found or seen > _MAX_FOLDERS:
            return found, seen
        level = [c for d in level for c in sorted(d.readdir(watch = "no"), key = str) if c.is_dir]
    return [], seen

def _unpack(rctx, pin, archive, origin):
    """Unpacks an archive, and refuses one whose names lead out of its folder, as far as that can be seen.

    Bazel's unpacking follows `..`.
    """
    before = [c.basename for c in rctx.path(".").readdir(watch = "no")] + [INCOMING]
    rctx.extract(archive, INCOMING + "/tree")
    planted = [c for c in rctx.path(".").readdir(watch = "no") if c.basename not in before]
    planted += [c for c in rctx.path(INCOMING).readdir(watch = "no") if c.basename not in ("tree", "archive.tar.gz")]
    if planted:
        names = [str(c) for c in planted]
        for path in planted:
            rctx.delete(path)
        give_up(rctx, archive_escapes(pin["name"], origin, names), _MANIFEST)

def _own_archive(rctx):
    """The variable that names the source of this repository alone, such as WHISPER_CPP_ARCHIVE_MY_FORK."""
    return "{}_{}".format(_ARCHIVE, rctx.attr.short_name.upper().replace("-", "_").replace(".", "_"))

def _source_tree(rctx, pin, manifest):
    """Makes the unverified source available. Returns its root and a name for messages."""
    given = path_from_environment(rctx, _own_archive(rctx)) or path_from_environment(rctx, _ARCHIVE)
    if given and given.is_dir:
        origin, top = "checkout " + str(given), given
    elif given:
        origin, top = "archive " + str(given), rctx.path(INCOMING + "/tree")
        rctx.watch(given)
        _unpack(rctx, pin, given, origin)
    else:
        origin, top = "archive " + pin["urls"][0], rctx.path(INCOMING + "/tree")
        archive = INCOMING + "/archive.tar.gz"
        if not rctx.download(pin["urls"], archive, allow_fail = True).success:
            give_up(rctx, download_failed("whisper.cpp at pin " + pin["name"], pin["urls"], _own_archive(rctx), "an archive or a checkout of it"))
        _unpack(rctx, pin, archive, origin)

    anchor = pin["patched_file"]["path"]
    roots, looked = _find_roots(top, anchor)
    if not roots:
        give_up(rctx, anchor_missing(pin["name"], origin, anchor, looked))
    missing = []
    for root in roots:
        missing = [p for p, _ in manifest if not root.get_child(*p.split("/")).exists]
        if not missing:
            return root, origin
    give_up(rctx, files_missing(pin["name"], origin, roots[-1], missing))
    return None, None

def _verified_sources(rctx, pin, manifest):
    """Copies every file that the manifest names, and nothing else. Returns the top-level names it made."""
    root, origin = _source_tree(rctx, pin, manifest)
    from_checkout = not str(root).startswith(str(rctx.path(INCOMING)))
    made = {_UNPATCHED: None, _MANIFEST: None, _PATCH: None}
    made |= {_FURTHER.format(i + 1): None for i in range(len(rctx.attr.patches))}
    for path, expected in manifest:
        source = root.get_child(*path.split("/"))
        if from_checkout:
            rctx.watch(source)
        made[path.split("/")[0]] = None
        found = copy_and_hash(rctx, source, path)
        if found != expected:
            give_up(rctx, file_differs(pin["name"], path, origin, expected, found), *made.keys())
    return made.keys()

def _verified_patch(rctx, pin, label, sha256, output, made):
    """Copies a patch whose SHA-256 is the pinned one, and returns the files that it touches."""
    rctx.watch(rctx.path(label))
    found = copy_and_hash(rctx, rctx.path(label), output)
    if found != sha256:
        give_up(rctx, patch_differs(pin["name"], str(label), sha256, found), *made)
    return touched_files(rctx.read(output, watch = "no"), str(label))

def _check_patched(rctx, pin, file, made):
    found = copy_and_hash(rctx, rctx.path(file["path"]), INCOMING + "/patched")
    if found != file["sha256"]:
        give_up(rctx, patched_file_differs(pin["name"], file["path"], file["sha256"], found), *made)

def _apply_patch(rctx, pin, made):
    patched = pin["patched_file"]
    touched = _verified_patch(rctx, pin, rctx.attr.patch, pin["patch"]["sha256"], _PATCH, made)
    if touched != [patched["path"]]:
        give_up(rctx, patch_touches(str(rctx.attr.patch), patched["path"], touched), *made)
    copy_and_hash(rctx, rctx.path(patched["path"]), _UNPATCHED + "/" + patched["path"])
    rctx.patch(_PATCH, strip = 1)
    _check_patched(rctx, pin, patched, made)

def _apply_further(rctx, pin, manifest, made):
    """Applies the patches of the pin's owner, in order, each to files that the manifest names."""
    listed = [path for path, _ in manifest]
    for i, patch in enumerate(pin.get("patches", [])):
        copy = _FURTHER.format(i + 1)
        label = rctx.attr.patches[i]
        touched = _verified_patch(rctx, pin, label, patch["sha256"], copy, made)
        expected = [f["path"] for f in patch["patched_files"]]
        if sorted(touched) != sorted(expected):
            give_up(rctx, further_patch_touches(str(label), pin["name"], expected, touched), *made)
        for path in touched:
            if path not in listed:
                give_up(rctx, further_patch_unlisted(str(label), pin["name"], path), *made)
        rctx.patch(copy, strip = 1)
        for file in patch["patched_files"]:
            _check_patched(rctx, pin, file, made)

def _copy_manifest(rctx, pin):
    found = copy_and_hash(rctx, rctx.path(rctx.attr.manifest), _MANIFEST)
    if found != pin["manifest"]["sha256"]:
        give_up(rctx, manifest_differs(pin["name"], rctx.attr.manifest, pin["manifest"]["sha256"], found), _MANIFEST)

def _whisper_cpp_repo_impl(rctx):
    pin = json.decode(rctx.read(rctx.attr.pin))
    manifest_path = rctx.path(rctx.attr.manifest)
    check_digest_form("manifest of pin " + pin["name"], pin["manifest"]["sha256"])
    check_digest_form("patch of pin " + pin["name"], pin["patch"]["sha256"])
    check_digest_form("patched file of pin " + pin["name"], pin["patched_file"]["sha256"])
    for patch in pin.get("patches", []):
        check_digest_form("patch {} of pin {}".format(patch["label"], pin["name"]), patch["sha256"])

    rctx.watch(manifest_path)
    _copy_manifest(rctx, pin)
    manifest = parse_manifest(rctx.read(_MANIFEST, watch = "no"), rctx.attr.manifest)

    made = _verified_sources(rctx, pin, manifest)
    _apply_patch(rctx, pin, made)
    _apply_further(rctx, pin, manifest, made)

    # Again: an archive that writes where it likes may have written here.
    _copy_manifest(rctx, pin)
    further = {"patches": pin["patches"]} if pin.get("patches") else {}
    rctx.file("pin.json", json.encode_indent({
        "name": pin["name"],
        "commit": pin["commit"],
        "tree": pin["tree"],
        "supported": pin["supported"],
        "manifest_sha256": pin["manifest"]["sha256"],
        "patch": {"label": pin["patch"]["label"], "sha256": pin["patch"]["sha256"]},
        "patched_file": pin["patched_file"],
    } | further, indent = "  ") + "\n", executable = False)

    # Last: without this file nothing here is a target.
    rctx.template("BUILD.bazel", rctx.attr.overlay, substitutions = {
        "%{root}": "external/" + rctx.name,
        "%{ggml_version}": pin["versions"]["ggml"],
        "%{ggml_commit}": pin["versions"]["ggml_commit"],
        "%{whisper_version}": pin["versions"]["whisper"],
        "%{patched_file}": pin["patched_file"]["path"],
        "%{patch}": _PATCH,
        "%{patches}": repr([_FURTHER.format(i + 1) for i in range(len(rctx.attr.patches))]),
    }, executable = False)
    rctx.delete(INCOMING)

whisper_cpp_repo = repository_rule(
    implementation = _whisper_cpp_repo_impl,
    doc = """Upstream whisper.cpp at one pin, with its compatibility patch.

What is pinned is content: the origin may be any archive or checkout. Verified in
this order, and the first difference ends the fetch: the manifest, each file that
it names, the patch, that the patch touches exactly one file, the patched file, each further patch and what it touches.
Only files that the manifest names reach the repository. `unpatched/` holds the
one file as upstream has it, for experiments.""",
    attrs = {
        "pin": attr.label(mandatory = True, allow_single_file = [".json"], doc = "The pin."),
        "manifest": attr.label(mandatory = True, allow_single_file = True, doc = "The pin's content manifest."),
        "patch": attr.label(mandatory = True, allow_single_file = [".patch"], doc = "The pin's compatibility patch."),
        "patches": attr.label_list(allow_files = [".patch"], doc = "Patches of the pin's owner on top of it, in the pin's order."),
        "short_name": attr.string(mandatory = True, doc = "What the root module calls this repository."),
        "overlay": attr.label(mandatory = True, allow_single_file = True, doc = "The BUILD file."),
    },
    environ = [_ARCHIVE],
)
