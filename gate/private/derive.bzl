"""The encoder's name, as whisper.cpp derives it from a model's file name.

`whisper_get_coreml_path_encoder` in upstream's src/whisper.cpp: cut at the last dot,
drop one trailing segment of five characters `-q?_?`, append `-encoder.mlmodelc`.
tools/encoder/artifact holds the same in Go, tested against upstream's own function.
"""

visibility("//gate/...")

def derived_encoder_name(basename):
    """The encoder's name without its extension.

    Args:
      basename: file name of a `.bin`, without a directory.

    Returns:
      The stem that whisper.cpp looks for, e.g. `ggml-base.en-encoder` for `ggml-base.en-q5_0.bin`.
    """
    stem = basename.rpartition(".")[0]
    head, dash, tail = stem.rpartition("-")
    if dash and len(tail) == 4 and tail[0] == "q" and tail[2] == "_":
        stem = head
    return stem + "-encoder"
