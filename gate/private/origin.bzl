"""Which pin a program belongs to: that of the sources which its own compile actions read, or none."""

load("//gate/private/providers:pin_info.bzl", "PinInfo")

visibility("//gate/...")

# Our own sources that a program of the emulated lane links: the double of the bridge, and the stand-in below upstream's own.
_EMULATED = [
    Label("//third_party/whisper_cpp/double"),
    Label("//third_party/core_ml_stand_in"),
]

# What takes the place of a pin's files, by name: their text and its SHA-256. They differ, since a receipt binds each under its own role.
_NO_MANIFEST = ("upstream.manifest", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
_NO_PATCH = ("none.patch", "no patch\n", "2fa59b5199c78989169b9bfc39d5c5bdb87c208c677f360e389220a03ce57bb5")
_NO_FILE_SHA256 = "ac4ccd469f3bfea22f4c10d36fa327932a0bc82e055d93288667305f54b2ca9d"  # of "no file\n"

# What the check of a program of no pin lists; more would be no clearer.
_MOST = 20

def _is_emulation(file):
    """Whether a file is the source of what stands for Core ML on the emulated lane, and not what some rule wrote there."""
    label = file.owner
    return file.is_source and any([
        label.repo_name == own.repo_name and (label.package + "/").startswith(own.package + "/")
        for own in _EMULATED
    ])

def foreign(info, pin, executable):
    """What a program is made of that its pin does not vouch for.

    Args:
      info: the CompiledInfo of the program.
      pin: the PinInfo that it claims.
      executable: the File that runs.

    Returns:
      A sorted list of paths; empty if the program is the pin's.
    """
    pinned = {f.path: None for f in pin.sources.to_list()}
    made = {f.path: None for f in info.made.to_list()}
    emulated = info.bridges.to_list() == ["emulated"]

    found = {f.path: None for f in info.sources.to_list() if not (f.path in pinned or f.path in made or (emulated and _is_emulation(f)))}
    found |= {f.path: None for f in info.linked.to_list() if f.path not in made}
    if executable.path not in made:
        found[executable.path] = None
    return sorted(found.keys())

def no_pin(ctx, paths):
    """The PinInfo of a program of no pin.

    Its identity is `none`, which no policy supports, and its check names the files, so that a receipt says which.

    Args:
      ctx: of the rule that gives the program.
      paths: what the program is made of that no pin vouches for.

    Returns:
      A PinInfo.
    """
    name = ctx.label.name + ".no_pin"
    identity = ctx.actions.declare_file(name + "/pin.json")
    ctx.actions.write(identity, json.encode_indent({
        "name": "none",
        "commit": "0" * 40,
        "tree": "0" * 40,
        "supported": False,
        "manifest_sha256": _NO_MANIFEST[2],
        "patch": {"label": "none", "sha256": _NO_PATCH[2]},
        "patched_file": {"path": "none", "sha256": _NO_FILE_SHA256},
    }, indent = "  ") + "\n")
    placeholders = []
    for file, text, _ in (_NO_MANIFEST, _NO_PATCH):
        output = ctx.actions.declare_file(name + "/" + file)
        ctx.actions.write(output, text)
        placeholders.append(output)
    check = ctx.actions.declare_file(name + "/sources.json")
    ctx.actions.write(check, json.encode_indent({
        "schema": "coreml-gate/sources-check/v1",
        "verdict": "fail",
        "pin": "none",
        "manifest_sha256": _NO_MANIFEST[2],
        "files": len(paths),
        "mismatches": [
            {"path": path, "expected": "a file of the pin", "found": "a file of no pin"}
            for path in paths[:_MOST]
        ],
    }, indent = "  ") + "\n")
    return PinInfo(
        pin = identity,
        manifest = placeholders[0],
        patch = placeholders[1],
        patches = [],
        sources = depset(),
        check = check,
    )
