"""The judgements of a gate, by name. Written from tools/base/judgements: go test ./tools/base/judgements -update."""

visibility("//gate/...")

JUDGEMENTS = {
    "binding": struct(
        demand = "always",
        says = "what was judged is what is bound",
        source = "receipt",
    ),
    "canary": struct(
        demand = "always",
        says = "the same program refuses cleanly without the encoder",
        source = "runs",
    ),
    "contract": struct(
        demand = "gate",
        says = "model and encoder belong together and keep the runtime's contract",
        source = "rule",
    ),
    "contrast": struct(
        demand = "always",
        says = "ggml's own encoder shows its own marker, so that markers discriminate",
        source = "runs",
    ),
    "markers": struct(
        demand = "always",
        says = "the Core ML encoder executed, and no other",
        source = "runs",
    ),
    "parity": struct(
        demand = "gate",
        says = "the encoder computes what the model's own tensors say",
        source = "rule",
    ),
    "placement": struct(
        demand = "extra",
        says = "an instrument saw where the encoder runs",
        source = "rule",
    ),
    "sources": struct(
        demand = "always",
        says = "the sources that were compiled are the pinned ones",
        source = "receipt",
    ),
    "transcript": struct(
        demand = "always",
        says = "both encoders write the reference words",
        source = "runs",
    ),
    "words": struct(
        demand = "asked",
        says = "both encoders write the source model's words in each recording",
        source = "rule",
    ),
}
