"""A recording and what is known about it: RecordingInfo."""

visibility("//gate/...")

RecordingInfo = provider(
    doc = "One recording that whisper-cli is given, with what a judgement needs to know about it.",
    fields = {
        "name": "string: what it is called in evidence, if it is public.",
        "audio": "File: the audio, in a format that whisper-cli decodes.",
        "language": "string: the spoken language, as whisper-cli takes it.",
        "public": "bool: whether name and words may appear in evidence.",
        "silence": "bool: whether nothing is spoken in it.",
        "human": "string: what a person wrote down, or \"\". Informative.",
    },
)
