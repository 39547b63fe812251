"""What one run of whisper-cli left: WhisperRunInfo."""

visibility("//gate/...")

WhisperRunInfo = provider(
    doc = "One run of whisper-cli, captured by an action that holds no opinion about it.",
    fields = {
        "kind": "string: `coreml` (a positive run), `canary` (the encoder is absent) or `contrast` (ggml's own encoder).",
        "lane": "string: the lane it ran in.",
        "evidence": "File: evidence.json, deterministic on the emulated lane.",
        "observations": "File: observations.json, what varies from run to run. No judgement reads it.",
        "cli": "File: the whisper-cli that ran.",
        "pin": "PinInfo: the pin of that whisper-cli.",
        "model": "File: the `.bin`.",
        "encoder": "File: the `.mlmodelc` tree artifact, or None for a run without one.",
        "audio": "File: the audio.",
    },
)
