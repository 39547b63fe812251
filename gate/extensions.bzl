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
    use_repo(whisper, "meeting", "whisper_models")

`@whisper_models//:my_model` and `@meeting//:files` are their targets.
"""

load("//gate/private/repo:extension.bzl", _whisper = "whisper")

whisper = _whisper
