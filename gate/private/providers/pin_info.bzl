"""Where the sources come from: PinInfo."""

PinInfo = provider(
    doc = "The pin of whisper.cpp in use, and the fresh hash of every file that its compile actions read.",
    fields = {
        "pin": "File: pin.json, the identity that the repository rule verified.",
        "check": "File: JSON verdict of hashing the fetched files again in a build action.",
    },
)
