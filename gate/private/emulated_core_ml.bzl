"""emulated_core_ml: the lane that any host can run."""

load("//gate/private:core_ml_lane.bzl", "LANE_ATTRS", "compile_args", "lane_toolchain")

visibility("//gate/...")

def _compile(actions, core_ml, package, output):
    command = actions.args()
    command.add("compile")
    actions.run(
        mnemonic = "GateCoreMLCompile",
        progress_message = "Compiling %{input} for the emulated Core ML",
        executable = core_ml.compile_data.compiler,
        arguments = [command, compile_args(actions, package, output)],
        inputs = [package],
        outputs = [output],
    )

def _emulated_core_ml_impl(ctx):
    return lane_toolchain(
        ctx,
        lane = "emulated",
        compile = _compile,
        compile_data = struct(compiler = ctx.attr.compiler[DefaultInfo].files_to_run),
        predict = None,
        plan = None,
        evaluator = ctx.attr.evaluator[DefaultInfo].files_to_run,
        run_requirements = {},
    )

emulated_core_ml = rule(
    implementation = _emulated_core_ml_impl,
    doc = "The emulated lane: our double of the bridge, our writer of compiled encoders, our MIL evaluator.",
    attrs = LANE_ATTRS | {
        "evaluator": attr.label(
            mandatory = True,
            executable = True,
            cfg = "exec",
            doc = "Program that the double starts to evaluate encoders, beside whisper-cli in a build action.",
        ),
    },
)
