"""Which whisper-cli this is: WhisperCliInfo."""

WhisperCliInfo = provider(
    doc = "A whisper-cli, the flavour it claims, and the defines its compile action really carried.",
    fields = {
        "executable": "File: the program, after linking and, on macOS, signing.",
        "flavour": "string: `ggml`, `coreml`, `coreml_allow_fallback`, `coreml_unpatched` or `coreml_allow_fallback_unpatched`.",
        "defines": "File: JSON array of the -D arguments of the actions that compiled whisper.cpp, read off those actions.",
    },
)
