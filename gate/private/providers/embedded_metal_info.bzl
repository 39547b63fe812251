"""What an assembly of Metal shaders was made from: EmbeddedMetalInfo."""

visibility("//gate/...")

EmbeddedMetalInfo = provider(
    doc = "Marks the output of embedded_metal, which holds nothing but these sources.",
    fields = {"sources": "list of File: the shaders and the headers that they include."},
)
