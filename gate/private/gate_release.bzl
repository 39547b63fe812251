"""gate_release: the receipts of many gates, bound into one."""

load("//gate/private/providers:gate_receipt_info.bzl", "GateReceiptInfo")

visibility("//gate/...")

def _gate_release_impl(ctx):
    receipts = [r[GateReceiptInfo].receipt for r in ctx.attr.receipts]
    release = ctx.actions.declare_file(ctx.label.name + ".json")
    spec = ctx.actions.declare_file(ctx.label.name + ".spec.json")
    ctx.actions.write(spec, json.encode_indent({
        "schema": 1,
        "name": "//{}:{}".format(ctx.label.package, ctx.label.name),
        "receipts": [r.path for r in receipts],
    }) + "\n")
    args = ctx.actions.args()
    args.add(spec, format = "--spec=%s")
    args.add(release, format = "--out=%s")
    ctx.actions.run(
        mnemonic = "GateRelease",
        progress_message = "Binding the receipts of %{label}",
        executable = ctx.executable._release,
        arguments = [args],
        inputs = receipts + [spec],
        outputs = [release],
        env = {},
    )
    return [DefaultInfo(files = depset([release]))]

gate_release = rule(
    implementation = _gate_release_impl,
    doc = """Writes `<name>.json`: one statement whose subjects are the receipts of many gates.

It is what a release of several models, or of one model on both lanes, is signed and verified as.
It passes only if every receipt does. One action, however many receipts.""",
    attrs = {
        "receipts": attr.label_list(
            mandatory = True,
            allow_empty = False,
            providers = [GateReceiptInfo],
            doc = "gate_receipt targets.",
        ),
        "_release": attr.label(
            default = "//tools/actions/gate_release",
            executable = True,
            cfg = "exec",
        ),
    },
)
