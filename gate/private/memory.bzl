"""What actions that run a model claim of a machine's memory, in MiB.

Written by `go test ./tools/run/measure/fit -run Claims -update`; a test holds this file against the estimate (Claim in package
tools/run/measure/fit).
"""

visibility("//gate/...")

MODEL_MEMORY_MIB = {
    "tiny": 494,
    "base": 717,
    "small": 1704,
    "medium": 4586,
    "large": 8812,
}
