"""patch_ab_report: the negative control, unpatched against patched, many times."""

load("//gate/private:checks.bzl", "check_flavour", "check_range")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")

visibility("//gate/...")

def _patch_ab_report_impl(ctx):
    for attribute, flavour in (("unpatched", "coreml_unpatched"), ("patched", "coreml")):
        check_flavour(ctx.label, attribute, getattr(ctx.attr, attribute)[WhisperCliInfo], flavour)
    check_range(ctx.label, "n", ctx.attr.n, 1, 100000, "Give how often each arm is run, such as 100.")
    report = ctx.actions.declare_file(ctx.label.name + ".json")
    table = ctx.actions.declare_file(ctx.label.name + ".txt")
    args = ctx.actions.args()
    args.add(ctx.attr.unpatched[WhisperCliInfo].executable, format = "--unpatched=%s")
    args.add(ctx.attr.patched[WhisperCliInfo].executable, format = "--patched=%s")
    args.add(ctx.file.model, format = "--model=%s")
    args.add(ctx.file.audio, format = "--audio=%s")
    args.add(ctx.attr.n, format = "--n=%s")
    args.add(report, format = "--out=%s")
    args.add(table, format = "--table=%s")
    ctx.actions.run(
        mnemonic = "GatePatchAB",
        progress_message = "Comparing the negative control unpatched and patched for %{label}",
        executable = ctx.executable._ab,
        arguments = [args],
        inputs = [ctx.file.model, ctx.file.audio],
        tools = [
            ctx.attr.patched[DefaultInfo].files_to_run,
            ctx.attr.unpatched[DefaultInfo].files_to_run,
        ],
        outputs = [report, table],
        env = {},
    )
    return [
        DefaultInfo(files = depset([table])),
        OutputGroupInfo(json = depset([report])),
    ]

patch_ab_report = rule(
    implementation = _patch_ab_report_impl,
    doc = """Runs the negative control interleaved, unpatched and patched, under each heap setting of the system.

Writes `<name>.txt`, a table of exits and signals with Wilson intervals, and `<name>.json`. Exits of
the unpatched build depend on what its heap happens to hold, so two reports need not be equal.""",
    attrs = {
        "unpatched": attr.label(
            mandatory = True,
            providers = [WhisperCliInfo],
            doc = "whisper_cli of flavour coreml_unpatched.",
        ),
        "patched": attr.label(
            mandatory = True,
            providers = [WhisperCliInfo],
            doc = "whisper_cli of flavour coreml.",
        ),
        "model": attr.label(
            mandatory = True,
            allow_single_file = [".bin"],
            doc = "A ggml model, staged without an encoder.",
        ),
        "audio": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "An audio file: whisper-cli looks for it before it loads the model.",
        ),
        "n": attr.int(
            default = 100,
            doc = "Runs of each arm under each heap setting.",
        ),
        "_ab": attr.label(
            default = "//tools/actions/gate_ab",
            executable = True,
            cfg = "exec",
        ),
    },
)
