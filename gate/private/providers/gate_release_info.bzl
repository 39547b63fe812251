"""A release: GateReleaseInfo."""

visibility("//gate/...")

GateReleaseInfo = provider(
    doc = "The receipts of some gates, bound into one statement.",
    fields = {"release": "File: the release, an in-toto statement in canonical bytes."},
)
