"""Workers: which lane a platform gives, what stands in the keys, and both lanes in one build."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//gate:defs.bzl", "core_ml_worker", "gate_release", "receipt_on", "two_lane_release", "whisper_run")
load("//gate/private:core_ml_identity.bzl", "core_ml_identity")
load("//gate/private/providers:whisper_run_info.bzl", "WhisperRunInfo")
load(":stubs.bzl", "bridge_stub", "cli_stub", "encoder_stub", "receipt_stub")

visibility("//gate/private/tests")

# What a user gives on the command line, or registers in MODULE.bazel.
def _on(platform, toolchains):
    return {
        "//command_line_option:extra_execution_platforms": [str(Label(p)) for p in ("//gate/platforms:linux_x86_64", ":mac_one", ":mac_two")],
        "//command_line_option:extra_toolchains": [str(Label(t)) for t in toolchains],
        "//command_line_option:platforms": [str(Label(platform))],
    }

_MACS = [":mac_one_toolchain", ":mac_two_toolchain"]

def _lane_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[WhisperRunInfo]
    asserts.equals(env, ctx.attr.lane, info.lane)
    (action,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "GateRun"]
    identities = [f.basename for f in action.inputs.to_list() if f.basename in ctx.attr.identities]
    asserts.equals(env, [ctx.attr.identity], identities)
    return analysistest.end(env)

_LANE = {
    "identities": attr.string_list(default = ["mac_one_identity_file.json", "mac_two_identity_file.json", "emulated_identity.json"]),
    "identity": attr.string(mandatory = True),
    "lane": attr.string(mandatory = True),
}
_on_mac_one_test = analysistest.make(_lane_test_impl, attrs = _LANE, config_settings = _on(":mac_one", _MACS))
_on_mac_two_test = analysistest.make(_lane_test_impl, attrs = _LANE, config_settings = _on(":mac_two", _MACS))
_on_linux_test = analysistest.make(_lane_test_impl, attrs = _LANE, config_settings = _on("//gate/platforms:linux_x86_64", _MACS))

def _both_lanes_test_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "GateRelease"]
    receipts = [f.path for f in action.inputs.to_list() if f.basename == "worker_canary.evidence.json"]
    asserts.equals(env, 2, len(receipts), "expected one receipt of each lane, found {}".format(receipts))
    (spec,) = [a for a in analysistest.target_actions(env) if a.mnemonic == "FileWrite"]
    for path in receipts:
        asserts.true(env, path in spec.content, "{} is not released:\n{}".format(path, spec.content))
    return analysistest.end(env)

_both_lanes_test = analysistest.make(_both_lanes_test_impl, config_settings = _on("//gate/platforms:linux_x86_64", _MACS))

def _refusal_test_impl(ctx):
    env = analysistest.begin(ctx)
    for part in ctx.attr.message:
        asserts.expect_failure(env, part)
    return analysistest.end(env)

_refusal_test = analysistest.make(
    _refusal_test_impl,
    expect_failure = True,
    attrs = {"message": attr.string_list(mandatory = True)},
    config_settings = _on("//gate/platforms:linux_x86_64", _MACS),
)
_relative_ledger_test = analysistest.make(
    _refusal_test_impl,
    expect_failure = True,
    attrs = {"message": attr.string_list(mandatory = True)},
    config_settings = {str(Label("//gate:attempt_ledger")): "ledger"},
)

def _spec_test_impl(ctx):
    env = analysistest.begin(ctx)
    (spec,) = [json.decode(a.content) for a in analysistest.target_actions(env) if a.mnemonic == "FileWrite"]
    asserts.equals(env, json.decode(ctx.attr.want), {
        key: spec[key]
        for key in ("attempt", "attempt_ledger")
        if key in spec
    })
    return analysistest.end(env)

_SPEC = {"want": attr.string(mandatory = True)}
_asked_once_test = analysistest.make(_spec_test_impl, attrs = _SPEC)
_asked_again_test = analysistest.make(
    _spec_test_impl,
    attrs = _SPEC,
    config_settings = {
        str(Label("//gate:attempt")): 7,
        str(Label("//gate:attempt_ledger")): "/ledger",
    },
)

_MANUAL = ["manual"]

# A Mac finds no C++ toolchain for Linux, which building for a Linux platform takes.
_LINUX = ["@platforms//os:linux"]

def _subjects():
    for name, build in (("mac_one", "24G84"), ("mac_two", "24G90")):
        core_ml_worker(
            name = name,
            bridge = ":worker_bridge",
            chip = "Apple M4",
            hardware = "Mac16,10",
            os_build = build,
            os_version = "15.6",
            xcode_build = "16F6",
            xcode_version = "16.4",
            macos_sdk_version = "15.5",
            predictor = "//tools/actions/gate_coremlc",
        )

    # Alike but for one exec property: `go run ./tools/dev/remote/conformance keys` shows that their keys differ.
    for build in ("24G84", "24G90"):
        native.platform(
            name = "linux_" + build,
            parents = ["//gate/platforms:linux_x86_64"],
            exec_properties = {"run.OSBuild": build},
        )
    core_ml_identity(
        name = "mac_with_hole_identity_file",
        chip = "Apple M4",
        hardware = "Mac16,10",
        os_build = "",
        os_version = "15.6",
        tags = _MANUAL,
        xcode_build = "16F6",
        xcode_version = "16.4",
    )
    bridge_stub(name = "worker_bridge", tags = _MANUAL)
    cli_stub(name = "worker_cli")
    encoder_stub(name = "worker_encoder", tags = _MANUAL)
    for kind in ("coreml", "canary", "contrast"):
        whisper_run(
            name = "worker_" + kind,
            audio = ":audio.wav",
            cli = ":worker_cli",
            encoder = ":worker_encoder" if kind == "coreml" else None,
            kind = kind,
            language = "en",
            model = ":model.bin",
            tags = _MANUAL,
        )
    receipt_stub(name = "worker_receipt", run = ":worker_canary", tags = _MANUAL)
    two_lane_release(
        name = "both_lanes",
        emulated = "//gate/platforms:linux_x86_64",
        physical = ":mac_one",
        receipts = [":worker_receipt"],
        tags = _MANUAL,
    )
    receipt_on(
        name = "physical_of_linux",
        lane = "physical",
        platform = "//gate/platforms:linux_x86_64",
        receipt = ":worker_receipt",
        tags = _MANUAL,
    )
    receipt_on(
        name = "emulated_of_mac",
        lane = "emulated",
        platform = ":mac_two",
        receipt = ":worker_receipt",
        tags = _MANUAL,
    )
    gate_release(
        name = "release_of_nothing",
        tags = _MANUAL,
    )

def workers(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    _subjects()
    _on_mac_one_test(name = "on_mac_one_test", target_under_test = ":worker_canary", lane = "physical", identity = "mac_one_identity_file.json")
    _on_mac_two_test(name = "on_mac_two_test", target_under_test = ":worker_coreml", lane = "physical", identity = "mac_two_identity_file.json")
    _on_linux_test(name = "on_linux_test", target_under_test = ":worker_canary", lane = "emulated", identity = "emulated_identity.json", target_compatible_with = _LINUX)
    _both_lanes_test(name = "both_lanes_test", target_under_test = ":both_lanes", target_compatible_with = _LINUX)
    refusals = {
        "emulated_of_mac": ["expected one of the emulated lane", "mac_two, which is of the physical one"],
        "mac_with_hole_identity_file": ["`os_build` must be what the worker itself says", "docs/remote.md"],
        "physical_of_linux": ["expected one of the physical lane", "linux_x86_64, which is of the emulated one", "core_ml_worker"],
        "release_of_nothing": ["`receipts`: expected at least one", "found none", "A release of nothing proves nothing"],
    }
    for subject, message in refusals.items():
        _refusal_test(name = subject + "_test", target_under_test = ":" + subject, message = message, target_compatible_with = _LINUX)
    _relative_ledger_test(name = "relative_ledger_test", target_under_test = ":worker_canary", message = ["expected an absolute path, found `ledger`"])
    asked = []
    for kind, want in (("coreml", {"attempt": 7}), ("canary", {"attempt_ledger": "/ledger"}), ("contrast", {})):
        _asked_once_test(name = kind + "_asked_once_test", target_under_test = ":worker_" + kind, want = "{}")
        _asked_again_test(name = kind + "_asked_again_test", target_under_test = ":worker_" + kind, want = json.encode(want))
        asked += [kind + "_asked_once_test", kind + "_asked_again_test"]
    native.test_suite(
        name = name,
        tests = [
            "on_mac_one_test",
            "on_mac_two_test",
            "on_linux_test",
            "both_lanes_test",
            "relative_ledger_test",
        ] + asked + [subject + "_test" for subject in refusals],
    )
