"""Where the sources come from: PinInfo."""

PinInfo = provider(
    doc = "The pin of whisper.cpp in use, and the fresh hash of every file that its compile actions read.",
    fields = {
        "pin": "File: pin.json, the identity that the repository rule verified.",
        "manifest": "File: the content manifest, path and SHA-256 of every upstream file that the build may read.",
        "patch": "File: the compatibility patch.",
        "check": "File: JSON verdict of hashing the fetched files again in a build action.",
    },
)
