"""A judgement that an action wrote: GateJudgementInfo."""

visibility("//gate/private/...")

GateJudgementInfo = provider(
    doc = """One judgement over a gate, and the files that it is about.

Only rules of this package make one, so that a receipt's judgements come from the actions that judge.""",
    fields = {
        "name": "string: which judgement it is, a key of JUDGEMENTS.",
        "judgement": "File: the judgement, JSON.",
        "lane": "string: the lane of the runs or numbers, or `` where there are none.",
        "model": "File: the `.bin`.",
        "encoder": "File: the `.mlmodelc` tree artifact, or None where no encoder is judged.",
        "cli": "File: the whisper-cli that ran with the encoder, or None where none ran.",
        "contrast_cli": "File: the whisper-cli that ran ggml's own encoder, or None where none ran.",
    },
)
