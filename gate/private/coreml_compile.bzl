"""coreml_compile: a `.mlpackage` as the `.mlmodelc` that Core ML opens, by the lane's compiler."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "core_ml")
load("//gate/private:messages.bzl", "not_a_package", "one_file")

visibility("//gate/...")

def the_package(ctx):
    """The one package directory of the attribute `package`.

    Args:
      ctx: of a rule with a label attribute `package` that allows files.

    Returns:
      A directory File.
    """
    packages = ctx.files.package
    if len(packages) != 1 or not packages[0].is_directory:
        fail(one_file(ctx.label, "package", packages))
    return packages[0]

def _coreml_compile_impl(ctx):
    package = the_package(ctx)
    stem = package.basename.removesuffix(".mlpackage")
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
    attrs = {
        "package": attr.label(
            mandatory = True,
            allow_files = True,
            doc = "A `.mlpackage` directory: an output directory of a rule, not a source directory.",
        ),
    },
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
