"""coreml_compile: a `.mlpackage` as the `.mlmodelc` that Core ML opens, by the lane's compiler."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE")
load("//gate/private:coreml_package.bzl", "PACKAGE", "PACKAGE_ATTRS", "compile_package", "given_artifact")
load("//gate/private:messages.bzl", "not_a_package")

visibility("//gate/...")

def _coreml_compile_impl(ctx):
    package = given_artifact(ctx)
    stem = package.basename.removesuffix(PACKAGE)
    if stem == package.basename:
        fail(not_a_package(ctx.label, package.basename))

    # coremlc names its output after its input, and the runtime derives that name from the model's: it is kept.
    return [DefaultInfo(files = depset([compile_package(ctx, package, stem)]))]

coreml_compile = rule(
    implementation = _coreml_compile_impl,
    doc = """Compiles a package under its own name, for whoever needs no model beside it.

On the physical lane with `xcrun coremlc` of a full Xcode, whose identity is in the key; on the
emulated one with our writer. coreml_encoder does this too, under the name that the model wants.""",
    attrs = PACKAGE_ATTRS,
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
