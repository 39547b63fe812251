"""Where the sources come from: PinInfo."""

visibility("//gate/...")

PinInfo = provider(
    doc = "A pin of whisper.cpp, and the fresh hash of every file that its compile actions read.",
    fields = {
        "pin": "File: pin.json, the identity that the repository rule verified.",
        "manifest": "File: the content manifest, path and SHA-256 of every upstream file that the build may read.",
        "patch": "File: the compatibility patch.",
        "patches": "list of File: patches of the pin's owner on top of it, in order. Empty for upstream's own pins.",
        "sources": "depset of File: the files that the pin vouches for, patched, and the unpatched copies.",
        "check": "File: JSON verdict of hashing those files again in a build action.",
    },
)
