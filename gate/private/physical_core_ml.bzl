"""physical_core_ml: Apple's Core ML on macOS arm64. Never run by this project's own CI, which has no Mac."""

load("@build_bazel_apple_support//lib:apple_support.bzl", "apple_support")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private/providers:core_ml_toolchain_info.bzl", "CoreMLToolchainInfo")

visibility("//gate/...")

def _compile(actions, core_ml, package, output):
    data = core_ml.compile_data
    args = actions.args()
    args.add_all([package], before_each = "--package", expand_directories = False)
    args.add_all([output], before_each = "--out", expand_directories = False)
    args.add("--identity", core_ml.identity)
    apple_support.run(
        actions = actions,
        xcode_config = data.xcode_config,
        apple_fragment = data.apple_fragment,
        mnemonic = "GateCoreMLCompile",
        progress_message = "Compiling %{input} with coremlc",
        executable = data.compiler,
        arguments = [args],
        # The identity names Xcode's build: another Xcode is another key.
        inputs = [package, core_ml.identity],
        outputs = [output],
        use_default_shell_env = False,
    )

def _physical_core_ml_impl(ctx):
    info = CoreMLToolchainInfo(
        lane = "physical",
        identity = ctx.file.identity,
        bridge = ctx.attr.bridge[CcInfo],
        compile = _compile,
        compile_data = struct(
            apple_fragment = ctx.fragments.apple,
            compiler = ctx.attr.compiler[DefaultInfo].files_to_run,
            xcode_config = ctx.attr._xcode_config[apple_common.XcodeVersionConfig],
        ),
        predict = ctx.attr.predictor[DefaultInfo].files_to_run,
        evaluator = None,
        # Core ML, the Neural Engine's compiler and Metal keep per-user caches that a sandbox denies.
        run_requirements = {
            "no-sandbox": "1",
            "requires-darwin": "1",
        },
    )
    return [platform_common.ToolchainInfo(core_ml = info)]

physical_core_ml = rule(
    implementation = _physical_core_ml_impl,
    doc = "The physical lane: upstream's Objective-C++ bridge, the CoreML framework and Xcode's coremlc.",
    attrs = apple_support.action_required_attrs() | {
        "bridge": attr.label(
            mandatory = True,
            providers = [CcInfo],
            doc = "Upstream's own bridge, compiled with automatic reference counting.",
        ),
        "compiler": attr.label(
            mandatory = True,
            executable = True,
            cfg = "exec",
            doc = "Program that runs `xcrun coremlc compile` after checking that coremlc comes from a full Xcode.",
        ),
        "predictor": attr.label(
            mandatory = True,
            executable = True,
            cfg = "exec",
            doc = "Program that predicts as upstream's bridge does and tells what the bridge does not: //tools/encoder/coremlprobe.",
        ),
        "identity": attr.label(
            mandatory = True,
            allow_single_file = [".json"],
            doc = "Xcode build, OS build and chip of the machine that runs whisper-cli.",
        ),
    },
    fragments = ["apple"],
)
