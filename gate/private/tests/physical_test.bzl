"""The physical lane's compile and parity actions, as far as a machine without Xcode can see them."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private:encoder_parity.bzl", "encoder_parity")
load("//gate/private:physical_core_ml.bzl", "physical_core_ml")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")

def _bridge_impl(_ctx):
    return [CcInfo()]

# Stands for upstream's bridge, which only Apple's compiler takes.
_bridge = rule(implementation = _bridge_impl)

def _compile_impl(ctx):
    core_ml = ctx.attr.toolchain[platform_common.ToolchainInfo].core_ml
    package = ctx.actions.declare_directory("ggml-model-encoder.mlpackage")
    ctx.actions.run_shell(outputs = [package], command = "exit 1")
    compiled = ctx.actions.declare_directory("compiled/ggml-model-encoder.mlmodelc")
    core_ml.compile(
        actions = ctx.actions,
        core_ml = core_ml,
        package = package,
        output = compiled,
    )
    return [DefaultInfo(files = depset([compiled]))]

_compile = rule(
    implementation = _compile_impl,
    attrs = {"toolchain": attr.label(mandatory = True)},
)

def _compile_action_test_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "GateCoreMLCompile"]
    argv = " ".join(action.argv)
    asserts.true(env, "gate_coremlc" in action.argv[0], "expected gate_coremlc to be run, found " + argv)
    asserts.true(env, "--package" in action.argv and "--out" in action.argv, "expected --package and --out, found " + argv)
    inputs = [f.basename for f in action.inputs.to_list()]
    asserts.true(env, "identity.json" in inputs, "the Xcode identity must stand in the key, found inputs {}".format(inputs))
    (output,) = action.outputs.to_list()
    asserts.equals(env, "ggml-model-encoder.mlmodelc", output.basename)
    return analysistest.end(env)

_compile_action_test = analysistest.make(_compile_action_test_impl)

def _encoder_impl(ctx):
    compiled = ctx.actions.declare_directory("parity/ggml-model-encoder.mlmodelc")
    ctx.actions.run_shell(outputs = [compiled], command = "exit 1")
    return [CoreMLEncoderInfo(package = None, compiled = compiled, precision = "float32")]

_encoder = rule(implementation = _encoder_impl)

def _parity_action_test_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "GateParity"]
    probes = [a for a in action.argv if a.startswith("--probe=")]
    inputs = [f.basename for f in action.inputs.to_list()]
    if not ctx.attr.physical:
        asserts.equals(env, [], probes)
        asserts.false(env, "identity.json" in inputs, "an evaluation does not depend on the machine, found inputs {}".format(inputs))
        return analysistest.end(env)
    asserts.equals(env, 1, len(probes))
    asserts.true(env, probes[0].endswith("gate_coremlc"), "expected the toolchain's predictor, found " + probes[0])
    asserts.true(env, "identity.json" in inputs, "the machine's identity must stand in the key, found inputs {}".format(inputs))
    return analysistest.end(env)

_parity_action_test = analysistest.make(
    _parity_action_test_impl,
    attrs = {"physical": attr.bool(default = False)},
)

_physical_parity_action_test = analysistest.make(
    _parity_action_test_impl,
    attrs = {"physical": attr.bool(default = True)},
    config_settings = {"//command_line_option:extra_toolchains": [str(Label("//gate/private/tests:physical_stub_toolchain"))]},
)

def physical(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    _bridge(
        name = "bridge_stub",
        tags = ["manual"],
    )
    physical_core_ml(
        name = "physical_stub",
        bridge = ":bridge_stub",
        compiler = "//tools/actions/gate_coremlc",
        identity = ":identity.json",
        # Stands for coremlprobe, which only Apple's compiler takes.
        predictor = "//tools/actions/gate_coremlc",
        tags = ["manual"],
    )
    native.toolchain(
        name = "physical_stub_toolchain",
        toolchain = ":physical_stub",
        toolchain_type = "//gate/toolchains:core_ml_toolchain_type",
    )
    _encoder(
        name = "parity_encoder",
        tags = ["manual"],
    )
    encoder_parity(
        name = "lane_parity",
        encoder = ":parity_encoder",
        model = ":model.bin",
        tags = ["manual"],
    )
    _parity_action_test(
        name = name + "_emulated_parity",
        target_under_test = ":lane_parity",
    )
    _physical_parity_action_test(
        name = name + "_parity",
        target_under_test = ":lane_parity",
    )
    _compile(
        name = "physical_compile",
        toolchain = ":physical_stub",
        tags = ["manual"],
    )
    _compile_action_test(
        name = name + "_compile",
        target_under_test = ":physical_compile",
    )
    native.test_suite(
        name = name,
        tests = [name + suffix for suffix in ("_compile", "_parity", "_emulated_parity")],
    )
