"""Which whisper-cli this is: WhisperCliInfo."""

visibility("//gate/...")

WhisperCliInfo = provider(
    doc = "A whisper-cli, the flavour it claims, and what its own compile actions say about it.",
    fields = {
        "executable": "File: the program, after linking.",
        "flavour": "string: `ggml`, `coreml`, `coreml_allow_fallback`, `coreml_unpatched` or `coreml_allow_fallback_unpatched`.",
        "defines": "File: JSON array of the -D arguments of the actions that compiled whisper.cpp, read off those actions.",
        "pin": "PinInfo: the pin of the sources that its compile actions read; one named `none` if any of them is of no pin.",
        "bridge": "string: the lane of the bridge that it links, `physical` or `emulated`, or `` when it links none.",
    },
)
