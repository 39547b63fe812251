"""What a user gives as an encoder: a directory that a rule writes, or the files of one in the source tree."""

load("//gate/private:checks.bzl", "archive_stem", "archive_without_digest")
load("//gate/private:core_ml_toolchain.bzl", "core_ml")
load("//gate/private:messages.bzl", "no_package")

visibility("//gate/...")

COMPILED = ".mlmodelc"
PACKAGE = ".mlpackage"

def _root(file):
    """The path of the artifact that a file lies in, None if it lies in none."""
    parts = file.path.split("/")
    for depth in range(1, len(parts)):
        if parts[depth - 1].endswith((COMPILED, PACKAGE)):
            return "/".join(parts[:depth])
    return None

def given_artifact(ctx):
    """The artifact of the attribute `package`, whose files are laid out as one directory if they are given one by one.

    Args:
      ctx: of a rule with PACKAGE_ATTRS.

    Returns:
      A directory File, whose name ends as the artifact's does.
    """
    files = ctx.files.package
    if len(files) == 1 and files[0].is_directory and not files[0].is_source:
        return files[0]
    if len(files) == 1 and archive_stem(files[0].basename):
        fail(archive_without_digest(ctx.label, files[0].short_path))
    roots = {_root(f): None for f in files if not f.is_directory}
    if len(roots) != 1 or None in roots or [f for f in files if f.is_directory]:
        fail(no_package(ctx.label, files))
    root = roots.keys()[0]
    artifact = ctx.actions.declare_directory("{}.package/{}".format(ctx.label.name, root.split("/")[-1]))
    args = ctx.actions.args()
    args.add("--root", root)
    args.add_all([artifact], before_each = "--out", expand_directories = False)
    args.add_all(files)
    ctx.actions.run(
        mnemonic = "GatePackage",
        progress_message = "Laying out the files of an encoder for %{label}",
        executable = ctx.executable._layer,
        arguments = [args],
        inputs = files,
        outputs = [artifact],
    )
    return artifact

def compile_package(ctx, package, name):
    """Compiles a package with the lane's compiler.

    Args:
      ctx: of a rule that needs the Core ML toolchain.
      package: a `.mlpackage` directory.
      name: of the compiled encoder, without its ending.

    Returns:
      The `.mlmodelc` directory.
    """
    compiled = ctx.actions.declare_directory("{}.compiled/{}{}".format(ctx.label.name, name, COMPILED))
    toolchain = core_ml(ctx)
    toolchain.compile(
        actions = ctx.actions,
        core_ml = toolchain,
        package = package,
        output = compiled,
    )
    return compiled

PACKAGE_ATTRS = {
    "package": attr.label(
        allow_files = True,
        doc = "A `.mlpackage` to compile, or a ready `.mlmodelc` to take as it is: a directory that a rule writes (coreml_archive " +
              "unpacks one), or its files (a filegroup of `glob([\"x.mlmodelc/**\"])`), but not a source directory.",
    ),
    "_layer": attr.label(
        default = "//tools/actions/gate_package",
        executable = True,
        cfg = "exec",
    ),
}
