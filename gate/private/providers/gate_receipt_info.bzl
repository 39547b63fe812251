"""A receipt: GateReceiptInfo."""

visibility("//gate/...")

GateReceiptInfo = provider(
    doc = "The receipt of one gate.",
    fields = {
        "receipt": "File: the receipt, an in-toto statement in canonical bytes.",
        "lane": "string: the lane its runs were on.",
    },
)
