"""two_lane_release: what a model is released on, physical and emulated evidence in one build."""

load("//gate/private:gate_release.bzl", "gate_release")
load("//gate/private:receipt_on.bzl", "receipt_on")

visibility("//gate/...")

def two_lane_release(name, receipts, physical, emulated, tags = [], visibility = None):
    """Binds the receipts of gates on both lanes into one release.

    Targets: `<name>`, the gate_release, and for the receipt number N `<name>_N_physical` and `<name>_N_emulated`.

    Args:
      name: of the gate_release.
      receipts: gate_receipt targets.
      physical: platform of the macOS workers: a core_ml_worker.
      emulated: platform of the Linux workers, e.g. `@rules_coreml_gate//gate/platforms:linux_x86_64`.
      tags: of all targets.
      visibility: of all targets.
    """
    both = []
    for i, receipt in enumerate(receipts):
        for lane, platform in (("physical", physical), ("emulated", emulated)):
            target = "{}_{}_{}".format(name, i + 1, lane)
            both.append(target)
            receipt_on(
                name = target,
                lane = lane,
                platform = platform,
                receipt = receipt,
                tags = tags,
                visibility = visibility,
            )
    gate_release(
        name = name,
        receipts = both,
        tags = tags,
        visibility = visibility,
    )
