"""gate_release: the receipts of many gates, bound into one."""

load("//gate/private:messages.bzl", "empty_release")
load("//gate/private/providers:gate_receipt_info.bzl", "GateReceiptInfo")
load("//gate/private/providers:gate_release_info.bzl", "GateReleaseInfo")

visibility("//gate/...")

def _gate_release_impl(ctx):
    receipts = [r[GateReceiptInfo].receipt for r in ctx.attr.receipts]
    releases = [r[GateReleaseInfo].release for r in ctx.attr.releases]
    if not receipts and not releases:
        fail(empty_release(ctx.label))
    release = ctx.actions.declare_file(ctx.label.name + ".json")
    spec = ctx.actions.declare_file(ctx.label.name + ".spec.json")
    ctx.actions.write(spec, json.encode_indent({
        "schema": 1,
        "name": "//{}:{}".format(ctx.label.package, ctx.label.name),
        "receipts": [r.path for r in receipts],
    } | ({"releases": [r.path for r in releases]} if releases else {})) + "\n")
    args = ctx.actions.args()
    args.add(spec, format = "--spec=%s")
    args.add(release, format = "--out=%s")
    ctx.actions.run(
        mnemonic = "GateRelease",
        progress_message = "Binding the receipts of %{label}",
        executable = ctx.executable._release,
        arguments = [args],
        inputs = receipts + releases + [spec],
        outputs = [release],
        env = {},
    )
    return [
        DefaultInfo(files = depset([release])),
        GateReleaseInfo(release = release),
    ]

gate_release = rule(
    implementation = _gate_release_impl,
    doc = """Writes `<name>.json`: one statement whose subjects are the receipts of many gates.

It is what a release of several models, or of one model on both lanes, is signed and verified as.
It passes only if every receipt does. One action, however many receipts. With hundreds of gates make
one release a package and one of those: a gate that changed is then read again with its package alone.""",
    attrs = {
        "receipts": attr.label_list(
            providers = [GateReceiptInfo],
            doc = "gate_receipt targets, or receipt_on targets.",
        ),
        "releases": attr.label_list(
            providers = [GateReleaseInfo],
            doc = "gate_release targets, whose receipts become this one's.",
        ),
        "_release": attr.label(
            default = "//tools/actions/gate_release",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [GateReleaseInfo],
)
