"""A compiled Core ML encoder: CoreMLEncoderInfo."""

visibility("//gate/...")

CoreMLEncoderInfo = provider(
    doc = "A Core ML encoder that was compiled for one Whisper model.",
    fields = {
        "package": "File: the `.mlpackage` tree artifact it was compiled from, or None when it came compiled.",
        "compiled": "File: the `.mlmodelc` tree artifact, named as the runtime derives it from the model's name.",
        "precision": "string: `float32`, `float16`, or `` when the package was not made by coreml_encoder.",
    },
)
