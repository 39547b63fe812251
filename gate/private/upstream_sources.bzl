"""upstream_sources: the pin, and a fresh hash of every upstream file that is compiled."""

load("//gate/private/providers:pin_info.bzl", "PinInfo")

visibility("//gate/...")

def _upstream_sources_impl(ctx):
    check = ctx.actions.declare_file(ctx.label.name + ".json")
    files = depset(ctx.files.srcs + ctx.files.unpatched)
    args = ctx.actions.args()
    args.add(ctx.file.manifest, format = "--manifest=%s")
    args.add(ctx.file.pin, format = "--pin=%s")
    args.add(ctx.file.manifest.dirname, format = "--root=%s")
    args.add(check, format = "--out=%s")
    args.add_all(files)
    args.use_param_file("@%s")
    args.set_param_file_format("multiline")
    ctx.actions.run(
        mnemonic = "GateSources",
        progress_message = "Hashing upstream sources again for %{label}",
        executable = ctx.executable._tool,
        arguments = [args],
        inputs = depset([ctx.file.manifest, ctx.file.pin], transitive = [files]),
        outputs = [check],
        env = {},
    )
    return [
        DefaultInfo(files = depset([check])),
        PinInfo(
            pin = ctx.file.pin,
            manifest = ctx.file.manifest,
            patch = ctx.file.patch,
            patches = ctx.files.patches,
            sources = files,
            check = check,
        ),
    ]

upstream_sources = rule(
    implementation = _upstream_sources_impl,
    doc = """Hashes the fetched upstream files in a build action.

The repository rule verified them when it fetched them. Whoever edits the fetched
tree afterwards changes the inputs of the compile actions and of this one alike, and
this one's verdict, on which the receipt depends, says so.""",
    attrs = {
        "srcs": attr.label_list(
            mandatory = True,
            allow_files = True,
            doc = "The files that the compile actions read, with the patched file as patched.",
        ),
        "unpatched": attr.label_list(
            allow_files = True,
            doc = "The untouched copies below `unpatched/`, which only experiments compile.",
        ),
        "manifest": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The content manifest. Paths of the other files are taken relative to its folder.",
        ),
        "patch": attr.label(
            mandatory = True,
            allow_single_file = [".patch"],
            doc = "The pin's compatibility patch.",
        ),
        "patches": attr.label_list(
            allow_files = [".patch"],
            doc = "Patches of the pin's owner on top of it, in order.",
        ),
        "pin": attr.label(
            mandatory = True,
            allow_single_file = [".json"],
            doc = "The pin's identity, as the repository rule wrote it.",
        ),
        "_tool": attr.label(
            default = "//tools/actions/gate_sources",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [PinInfo],
)
