"""Which lane a bridge belongs to: CoreMLBridgeInfo."""

visibility("//gate/...")

CoreMLBridgeInfo = provider(
    doc = "The lane of the bridge that a program links. A run on another lane is refused at analysis.",
    fields = {
        "lane": "string: `physical` or `emulated`.",
        "compiled": "CompiledInfo: what the bridge is compiled from. An aspect does not follow toolchains.",
    },
)
