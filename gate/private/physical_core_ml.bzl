"""physical_core_ml: Apple's Core ML on macOS arm64. Never run by this project's own CI, which has no Mac."""

load("@build_bazel_apple_support//lib:apple_support.bzl", "apple_support")
load("@build_bazel_apple_support//xcode:providers.bzl", "XcodeVersionInfo")
load("//gate/private:core_ml_lane.bzl", "LANE_ATTRS", "compile_args", "lane_toolchain")

visibility("//gate/...")

def _compile(actions, core_ml, package, output):
    data = core_ml.compile_data
    identity = actions.args()
    identity.add("--identity", core_ml.identity)
    apple_support.run(
        actions = actions,
        xcode_config = data.xcode_config,
        apple_fragment = data.apple_fragment,
        mnemonic = "GateCoreMLCompile",
        progress_message = "Compiling %{input} with coremlc",
        executable = data.compiler,
        arguments = [compile_args(actions, package, output), identity],
        # The identity names Xcode's build: another Xcode is another key.
        inputs = [package, core_ml.identity],
        outputs = [output],
        # No toolchain of its own: the action runs where its rule's does.
        toolchain = None,
        use_default_shell_env = False,
    )

def _physical_core_ml_impl(ctx):
    return lane_toolchain(
        ctx,
        lane = "physical",
        compile = _compile,
        compile_data = struct(
            apple_fragment = ctx.fragments.apple,
            compiler = ctx.attr.compiler[DefaultInfo].files_to_run,
            xcode_config = (ctx.attr.xcode_config or ctx.attr._xcode_config)[XcodeVersionInfo],
        ),
        predict = ctx.attr.predictor[DefaultInfo].files_to_run,
        plan = ctx.attr.predictor[DefaultInfo].files_to_run,
        evaluator = None,
        # Core ML, the Neural Engine's compiler and Metal keep per-user caches that a sandbox denies.
        run_requirements = {
            "no-sandbox": "1",
            "requires-darwin": "1",
        },
    )

physical_core_ml = rule(
    implementation = _physical_core_ml_impl,
    doc = """The physical lane: upstream's Objective-C++ bridge, the CoreML framework and Xcode's coremlc.

Its compiler runs `xcrun coremlc compile` after checking that coremlc comes from a full Xcode, the one of the identity.""",
    attrs = apple_support.action_required_attrs() | LANE_ATTRS | {
        "xcode_config": attr.label(
            providers = [XcodeVersionInfo],
            doc = "The Xcode that compiles encoders. Default the build's own, which a host without Xcode has not.",
        ),
        "predictor": attr.label(
            mandatory = True,
            executable = True,
            cfg = "exec",
            doc = "Program that predicts as upstream's bridge does, tells what the bridge does not, and reads compute plans: //tools/encoder/coremlprobe.",
        ),
    },
    fragments = ["apple"],
)
