"""emulated_core_ml: the lane that any host can run."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private/providers:core_ml_toolchain_info.bzl", "CoreMLToolchainInfo")

visibility("//gate/...")

def _compile(actions, core_ml, package, output):
    args = actions.args()
    args.add("compile")
    args.add_all([package], before_each = "--package", expand_directories = False)
    args.add_all([output], before_each = "--out", expand_directories = False)
    actions.run(
        mnemonic = "GateCoreMLCompile",
        progress_message = "Compiling %{input} for the emulated Core ML",
        executable = core_ml.compile_data.compiler,
        arguments = [args],
        inputs = [package],
        outputs = [output],
    )

def _emulated_core_ml_impl(ctx):
    info = CoreMLToolchainInfo(
        lane = "emulated",
        identity = ctx.file.identity,
        bridge = ctx.attr.bridge[CcInfo],
        compile = _compile,
        compile_data = struct(compiler = ctx.attr.compiler[DefaultInfo].files_to_run),
        predict = None,
        evaluator = ctx.attr.evaluator[DefaultInfo].files_to_run,
        run_requirements = {},
    )
    return [platform_common.ToolchainInfo(core_ml = info)]

emulated_core_ml = rule(
    implementation = _emulated_core_ml_impl,
    doc = "The emulated lane: our double of the bridge, our writer of compiled encoders, our MIL evaluator.",
    attrs = {
        "bridge": attr.label(
            mandatory = True,
            providers = [CcInfo],
            doc = "The double: a C++ library with the three functions of `whisper-encoder.h`.",
        ),
        "compiler": attr.label(
            mandatory = True,
            executable = True,
            cfg = "exec",
            doc = "Program that turns a `.mlpackage` into a `.mlmodelc`.",
        ),
        "evaluator": attr.label(
            mandatory = True,
            executable = True,
            cfg = "target",
            doc = "Program that the double starts to evaluate encoders. It runs beside whisper-cli, so it is built for the target.",
        ),
        "identity": attr.label(
            mandatory = True,
            allow_single_file = [".json"],
            doc = "What a receipt says and hashes about this lane.",
        ),
    },
)
