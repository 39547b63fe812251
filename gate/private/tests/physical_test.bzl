"""The physical lane's compile action, as far as a machine without Xcode can see it."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private:physical_core_ml.bzl", "physical_core_ml")

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

def physical(name):
    """Declares the test.

    Args:
      name: of the test.
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
        tags = ["manual"],
    )
    _compile(
        name = "physical_compile",
        toolchain = ":physical_stub",
        tags = ["manual"],
    )
    _compile_action_test(
        name = name,
        target_under_test = ":physical_compile",
    )
