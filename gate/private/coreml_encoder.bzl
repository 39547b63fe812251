"""coreml_encoder: from a Whisper model's own tensors, or a given artifact, to the encoder the runtime opens."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE")
load("//gate/private:coreml_package.bzl", "COMPILED", "PACKAGE", "PACKAGE_ATTRS", "compile_package", "given_artifact")
load("//gate/private:derive.bzl", "derived_encoder_name")
load("//gate/private:messages.bzl", "not_a_model", "not_a_package")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")

visibility("//gate/...")

def _write_package(ctx, model, name):
    package = ctx.actions.declare_directory(ctx.label.name + ".package/" + name + PACKAGE)
    args = ctx.actions.args()
    args.add("package")
    args.add("--model", model)
    args.add("--precision", ctx.attr.precision)
    args.add_all([package], before_each = "--out", expand_directories = False)
    ctx.actions.run(
        mnemonic = "GateEncoderPackage",
        progress_message = "Writing a Core ML encoder from the tensors of %{input}",
        executable = ctx.executable._writer,
        arguments = [args],
        inputs = [model],
        outputs = [package],
    )
    return package

def _named(ctx, compiled, name):
    """A ready encoder under the name that the model wants. Its bytes are those that were given."""
    if compiled.basename == name + COMPILED:
        return compiled
    named = ctx.actions.declare_directory("{}.compiled/{}{}".format(ctx.label.name, name, COMPILED))
    ctx.actions.symlink(
        output = named,
        target_file = compiled,
    )
    return named

def _encoder(ctx, name):
    """The package, None if there is none, and the compiled encoder."""
    if not ctx.attr.package:
        package = _write_package(ctx, ctx.file.model, name)
        return package, compile_package(ctx, package, name)
    given = given_artifact(ctx)
    if given.basename.endswith(COMPILED):
        return None, _named(ctx, given, name)
    if given.basename.endswith(PACKAGE):
        return given, compile_package(ctx, given, name)
    return fail(not_a_package(ctx.label, given.basename))

def _coreml_encoder_impl(ctx):
    model = ctx.file.model
    if not model.basename.endswith(".bin"):
        fail(not_a_model(ctx.label, model.basename))
    package, compiled = _encoder(ctx, derived_encoder_name(model.basename))
    return [
        DefaultInfo(files = depset([compiled])),
        OutputGroupInfo(package = depset([package] if package else [])),
        CoreMLEncoderInfo(
            package = package,
            compiled = compiled,
            precision = "" if ctx.attr.package else ctx.attr.precision,
        ),
    ]

coreml_encoder = rule(
    implementation = _coreml_encoder_impl,
    doc = """Gives `<stem>-encoder.mlmodelc`, named as whisper.cpp derives it from the model's file name.

Without `package` the encoder is written from the model's own tensors, in the plain Whisper form, and compiled. With a
`.mlpackage` that package is compiled: it is a source, and what is gated is its compiled form. With a ready `.mlmodelc`
those very bytes are gated on both lanes, and nothing is compiled. The compiler is the lane's: coremlc on the physical
one, our writer on the emulated one.""",
    attrs = PACKAGE_ATTRS | {
        "model": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The ggml `.bin` that the encoder belongs to.",
        ),
        "precision": attr.string(
            default = "float32",
            values = ["float32", "float16"],
            doc = "Precision of weights and arithmetic of the encoder that is written. The interface is float32 in either case.",
        ),
        "_writer": attr.label(
            default = "//tools/actions/gate_encoder",
            executable = True,
            cfg = "exec",
        ),
    },
    provides = [CoreMLEncoderInfo],
    toolchains = [CORE_ML_TOOLCHAIN_TYPE],
)
