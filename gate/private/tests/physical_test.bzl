"""The physical lane's compile and parity actions, as far as a machine without Xcode can see them."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//gate/private:artifact_contract.bzl", "artifact_contract")
load("//gate/private:encoder_parity.bzl", "encoder_parity")
load("//gate/private:encoder_placement.bzl", "encoder_placement")
load("//gate/private:physical_core_ml.bzl", "physical_core_ml")
load(":stubs.bzl", "bridge_stub", "encoder_stub")

visibility("//gate/private/tests")

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

# On a Mac too, where the physical lane would be resolved.
_EMULATED = {str(Label("//gate:lane")): "emulated"}

_parity_action_test = analysistest.make(
    _parity_action_test_impl,
    attrs = {"physical": attr.bool(default = False)},
    config_settings = _EMULATED,
)

_PHYSICAL = {"//command_line_option:extra_toolchains": [str(Label("//gate/private/tests:physical_stub_toolchain"))]}

_physical_parity_action_test = analysistest.make(
    _parity_action_test_impl,
    attrs = {"physical": attr.bool(default = True)},
    config_settings = _PHYSICAL,
)

def _placement_action_test_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "GatePlacement"]
    lane = "physical" if ctx.attr.physical else "emulated"
    asserts.true(env, "--lane=" + lane in action.argv, "the toolchain says the lane, found {}".format(action.argv))
    asserts.true(env, "--policy=placement_plan_v1" in action.argv, "expected the policy, found {}".format(action.argv))
    probes = [a for a in action.argv if a.startswith("--probe=")]
    asserts.equals(env, 1 if ctx.attr.physical else 0, len(probes))
    inputs = [f.basename for f in action.inputs.to_list()]
    asserts.equals(env, ctx.attr.physical, "identity.json" in inputs)
    asserts.equals(env, ["lane_placement.json", "lane_placement.plan.json"], sorted([f.basename for f in action.outputs.to_list()]))
    return analysistest.end(env)

_PLACEMENT = {"physical": attr.bool(mandatory = True)}
_placement_action_test = analysistest.make(_placement_action_test_impl, attrs = _PLACEMENT, config_settings = _EMULATED)
_physical_placement_action_test = analysistest.make(_placement_action_test_impl, attrs = _PLACEMENT, config_settings = _PHYSICAL)

def _stand_in_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "//gate/private/tests:placement_of_the_stand_in: `stand_in`: expected none on the physical lane")
    asserts.expect_failure(env, "found `@@//tools/actions/gate_coremlc:gate_coremlc`")
    return analysistest.end(env)

_stand_in_test = analysistest.make(_stand_in_test_impl, expect_failure = True, config_settings = _PHYSICAL)

def _contract_action_test_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "GateContract"]
    said = [a.split("=")[0] for a in action.argv if a.startswith(("--identity=", "--minimum_macos="))]
    asserts.equals(env, ctx.attr.said, said)
    return analysistest.end(env)

_CONTRACT = {"said": attr.string_list()}
_contract_action_test = analysistest.make(_contract_action_test_impl, attrs = _CONTRACT, config_settings = _EMULATED)
_physical_contract_action_test = analysistest.make(_contract_action_test_impl, attrs = _CONTRACT, config_settings = _PHYSICAL)

def physical(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    bridge_stub(
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
    encoder_stub(
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
    encoder_placement(
        name = "lane_placement",
        encoder = ":parity_encoder",
        model = ":model.bin",
        tags = ["manual"],
    )
    _placement_action_test(
        name = name + "_emulated_placement",
        physical = False,
        target_under_test = ":lane_placement",
    )
    _physical_placement_action_test(
        name = name + "_placement",
        physical = True,
        target_under_test = ":lane_placement",
    )
    encoder_placement(
        name = "placement_of_the_stand_in",
        encoder = ":parity_encoder",
        model = ":model.bin",
        stand_in = "//tools/actions/gate_coremlc",
        tags = ["manual"],
    )
    _stand_in_test(
        name = name + "_stand_in",
        target_under_test = ":placement_of_the_stand_in",
    )
    for named in ("", "13.0"):
        artifact_contract(
            name = "contract_" + (named or "of_the_worker"),
            encoder = ":parity_encoder",
            minimum_macos = named,
            model = ":model.bin",
            tags = ["manual"],
        )
    _contract_action_test(
        name = name + "_emulated_contract",
        said = [],
        target_under_test = ":contract_of_the_worker",
    )
    _physical_contract_action_test(
        name = name + "_contract",
        said = ["--identity"],
        target_under_test = ":contract_of_the_worker",
    )
    _physical_contract_action_test(
        name = name + "_named_contract",
        said = ["--minimum_macos"],
        target_under_test = ":contract_13.0",
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
        tests = [name + suffix for suffix in ("_compile", "_contract", "_emulated_contract", "_named_contract", "_parity", "_emulated_parity", "_placement", "_emulated_placement", "_stand_in")],
    )
