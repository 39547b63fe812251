"""coreml_encoder: from a Whisper model's own tensors, or a given package, to the encoder the runtime opens."""

load("//gate/private:core_ml_toolchain.bzl", "CORE_ML_TOOLCHAIN_TYPE", "core_ml")
load("//gate/private:coreml_compile.bzl", "PACKAGE_ATTRS", "the_package")
load("//gate/private:derive.bzl", "derived_encoder_name")
load("//gate/private:messages.bzl", "not_a_model")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")

visibility("//gate/...")

def _write_package(ctx, model, name):
    package = ctx.actions.declare_directory(ctx.label.name + ".package/" + name + ".mlpackage")
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

def _coreml_encoder_impl(ctx):
    model = ctx.file.model
    if not model.basename.endswith(".bin"):
        fail(not_a_model(ctx.label, model.basename))
    name = derived_encoder_name(model.basename)

    if ctx.attr.package:
        package = the_package(ctx)
        precision = ""
    else:
        package = _write_package(ctx, model, name)
        precision = ctx.attr.precision

    compiled = ctx.actions.declare_directory(ctx.label.name + ".compiled/" + name + ".mlmodelc")
    toolchain = core_ml(ctx)
    toolchain.compile(
        actions = ctx.actions,
        core_ml = toolchain,
        package = package,
        output = compiled,
    )
    return [
        DefaultInfo(files = depset([compiled])),
        OutputGroupInfo(package = depset([package])),
        CoreMLEncoderInfo(
            package = package,
            compiled = compiled,
            precision = precision,
        ),
    ]

coreml_encoder = rule(
    implementation = _coreml_encoder_impl,
    doc = """Builds `<stem>-encoder.mlmodelc`, named as whisper.cpp derives it from the model's file name.

Without `package` the encoder is written from the model's own tensors, in the plain
Whisper form. With `package` that package is compiled. The compiler is the lane's:
coremlc on the physical one, our writer on the emulated one.""",
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
