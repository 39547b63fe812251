"""coreml_archive: the Core ML folder that an archive holds, checked by the archive's SHA-256."""

load("//gate/private:checks.bzl", "archive_stem", "check_archive", "check_sha256")

visibility("//gate/...")

def _coreml_archive_impl(ctx):
    archive = ctx.file.archive
    check_sha256(ctx.label, "sha256", ctx.attr.sha256)
    check_archive(ctx.label, "archive", archive.basename)
    stem = archive_stem(archive.basename)
    folder = stem if stem.endswith((".mlmodelc", ".mlpackage")) else stem + "." + ctx.attr.form
    out = ctx.actions.declare_directory("{}.unpacked/{}".format(ctx.label.name, folder))
    args = ctx.actions.args()
    args.add(archive, format = "--archive=%s")
    args.add(ctx.attr.sha256, format = "--sha256=%s")
    args.add_all([out], format_each = "--out=%s", expand_directories = False)
    ctx.actions.run(
        mnemonic = "GateUnpack",
        progress_message = "Unpacking %{input} for %{label}",
        executable = ctx.executable._unpack,
        arguments = [args],
        inputs = [archive],
        outputs = [out],
        env = {},
    )
    return [DefaultInfo(files = depset([out]))]

coreml_archive = rule(
    implementation = _coreml_archive_impl,
    doc = """Unpacks the one `.mlmodelc` (or `.mlpackage`) of a `.zip`, `.tar` or `.tar.gz`, as a directory.

The archive's SHA-256 is checked before anything in it is read. Its files come out byte for byte; names that leave the
folder and links are refused. The result is for `package` of coreml_encoder.""",
    attrs = {
        "archive": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The archive, a file whose name ends in `.zip`, `.tar`, `.tar.gz` or `.tgz`.",
        ),
        "form": attr.string(
            default = "mlmodelc",
            values = ["mlmodelc", "mlpackage"],
            doc = "What the archive holds, where its name does not say so as `x.mlmodelc.zip` does.",
        ),
        "sha256": attr.string(
            mandatory = True,
            doc = "SHA-256 of the archive, 64 lower-case hexadecimal digits.",
        ),
        "_unpack": attr.label(
            default = "//tools/actions/gate_unpack",
            executable = True,
            cfg = "exec",
        ),
    },
)
