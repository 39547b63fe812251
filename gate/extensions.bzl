"""Module extensions of rules_coreml_gate.

    whisper = use_extension("@rules_coreml_gate//gate:extensions.bzl", "whisper")
    whisper.whisper_model(
        name = "my_model",
        file = "ggml-tiny.en.bin",
        sha256 = "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f",
        urls = ["https://huggingface.co/ggerganov/whisper.cpp/resolve/main/ggml-tiny.en.bin"],
    )
    whisper.speech(
        name = "meeting",
        file = "meeting.flac",
        sha256 = "…",
        urls = ["https://example.com/meeting.flac"],
    )
    whisper.encoder(
        name = "my_model",
        file = "ggml-tiny.en-encoder.mlmodelc.zip",
        sha256 = "…",
        urls = ["https://huggingface.co/ggerganov/whisper.cpp/resolve/main/ggml-tiny.en-encoder.mlmodelc.zip"],
    )
    whisper.fork(
        name = "my_whisper",
        pin = "//whisper:mine.json",
    )
    use_repo(whisper, "meeting", "my_whisper", "whisper_encoders", "whisper_models")

`@whisper_models//:my_model`, `@whisper_encoders//:my_model`, `@meeting//:files` and `@my_whisper//:whisper_cli_coreml` are
their targets.
"""

load("//gate/private/repo:extension.bzl", _whisper = "whisper")

whisper = _whisper
