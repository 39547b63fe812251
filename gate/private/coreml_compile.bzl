"""coreml_compile: a `.mlpackage` as the `.mlmodelc` that Core ML opens, by the lane's compiler."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "core_ml")
load("//gate/private:messages.bzl", "no_package", "not_a_package")

visibility("//gate/...")

_SUFFIX = ".mlpackage"

def _root(file):
    """The path of the package that a file lies in, None if it lies in none."""
    parts = file.path.split("/")
    for depth in range(1, len(parts)):
        if parts[depth - 1].endswith(_SUFFIX):
            return "/".join(parts[:depth])
    return None

def the_package(ctx):
    """The package of the attribute `package`, whose files are laid out as one directory if they are given one by one.

    Args:
      ctx: of a rule with PACKAGE_ATTRS.

    Returns:
      A directory File.
    """
    files = ctx.files.package
    if len(files) == 1 and files[0].is_directory:
        return files[0]
    roots = {_root(f): None for f in files if not f.is_directory}
    if len(roots) != 1 or None in roots or [f for f in files if f.is_directory]:
        fail(no_package(ctx.label, files))
    root = roots.keys()[0]
    package = ctx.actions.declare_directory("{}.package/{}".format(ctx.label.name, root.split("/")[-1]))
    args = ctx.actions.args()
    args.add("--root", root)
    args.add_all([package], before_each = "--out", expand_directories = False)
    args.add_all(files)
    ctx.actions.run(
        mnemonic = "GatePackage",
        progress_message = "Laying out the files of a package for %{label}",
        executable = ctx.executable._layer,
        arguments = [args],
        inputs = files,
        outputs = [package],
    )
    return package

PACKAGE_ATTRS = {
    "package": attr.label(
        allow_files = True,
        doc = "A `.mlpackage`: a directory that a rule writes, or its files (a filegroup of `glob([\"x.mlpackage/**\"])`), but not a source directory.",
    ),
    "_layer": attr.label(
        default = "//tools/actions/gate_package",
        executable = True,
        cfg = "exec",
    ),
}

def _coreml_compile_impl(ctx):
    package = the_package(ctx)
    stem = package.basename.removesuffix(_SUFFIX)
    if stem == package.basename:
        fail(not_a_package(ctx.label, package.basename))

    # coremlc names its output after its input, and the runtime derives that name from the model's: it is kept.
    compiled = ctx.actions.declare_directory("{}.compiled/{}.mlmodelc".format(ctx.label.name, stem))
    toolchain = core_ml(ctx)
    toolchain.compile(
        actions = ctx.actions,
        core_ml = toolchain,
        package = package,
        output = compiled,
    )
    return [DefaultInfo(files = depset([compiled]))]

coreml_compile = rule(
    implementation = _coreml_compile_impl,
    doc = """Compiles a package under its own name, for whoever needs no model beside it.

On the physical lane with `xcrun coremlc` of a full Xcode, whose identity stands in the key; on the
emulated one with our writer. coreml_encoder does this too, under the name that the model wants.""",
    attrs = PACKAGE_ATTRS,
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
