"""A ready encoder is taken as it is, on both lanes, and a program of other sources is of no pin."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@objective_c_host//:host.bzl", "FOUND")
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("//gate:defs.bzl", "coreml_archive", "coreml_encoder", "whisper_cli")
load("//gate/private/providers:coreml_encoder_info.bzl", "CoreMLEncoderInfo")
load("//gate/private/providers:whisper_cli_info.bzl", "WhisperCliInfo")
load(":stubs.bzl", "directory_stub")

visibility("//gate/private/tests")

def _ready_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    actions = [a.mnemonic for a in analysistest.target_actions(env)]
    asserts.equals(env, ctx.attr.actions, actions)
    info = target[CoreMLEncoderInfo]
    asserts.equals(env, "model-encoder.mlmodelc", info.compiled.basename)
    asserts.true(env, info.compiled.is_directory)
    asserts.equals(env, None, info.package)
    asserts.equals(env, "", info.precision)
    return analysistest.end(env)

_READY = {"actions": attr.string_list()}
_emulated_ready_test = analysistest.make(_ready_test_impl, attrs = _READY, config_settings = {str(Label("//gate:lane")): "emulated"})
_physical_ready_test = analysistest.make(
    _ready_test_impl,
    attrs = _READY,
    config_settings = {"//command_line_option:extra_toolchains": [str(Label("//gate/private/tests:physical_stub_toolchain"))]},
)

def _no_pin_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[WhisperCliInfo]
    written = {
        a.outputs.to_list()[0].basename: a.content
        for a in analysistest.target_actions(env)
        if a.mnemonic == "FileWrite"
    }
    if not ctx.attr.foreign:
        asserts.false(env, "sources.json" in written, "expected the pin of the sources, found none")
        asserts.equals(env, "pin.json", info.pin.pin.basename)
        return analysistest.end(env)
    identity = json.decode(written["pin.json"])
    asserts.equals(env, "none", identity["name"])
    asserts.equals(env, False, identity["supported"])
    check = json.decode(written["sources.json"])
    asserts.equals(env, "fail", check["verdict"])
    named = [m["path"] for m in check["mismatches"]]
    asserts.true(env, [p for p in named if p.endswith(ctx.attr.foreign)], "expected {} to be named, found {}".format(ctx.attr.foreign, named))
    return analysistest.end(env)

_FOREIGN = {"foreign": attr.string()}
_no_pin_test = analysistest.make(_no_pin_test_impl, attrs = _FOREIGN)

# The same programs with upstream's own bridge over the stand-in.
_no_pin_of_upstream_test = analysistest.make(
    _no_pin_test_impl,
    attrs = _FOREIGN,
    config_settings = {str(Label("//third_party/whisper_cpp:bridge")): "upstream"},
)

def _program_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(executable, "#!/bin/sh\ncat good.log >&2\n", is_executable = True)
    return [DefaultInfo(executable = executable)]

# Prints the log of a good run, and depends on whisper.cpp to look like a build of it.
_script = rule(
    implementation = _program_impl,
    executable = True,
    attrs = {"deps": attr.label_list()},
)

def ready(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    directory_stub(name = "ready_other_name", basename = "x.mlmodelc", tags = ["manual"])
    directory_stub(name = "ready_right_name", basename = "model-encoder.mlmodelc", tags = ["manual"])
    coreml_archive(
        name = "ready_archive",
        archive = ":archive.zip",
        sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        tags = ["manual"],
    )
    tests = []
    for package, actions in {
        "archive": ["Symlink"],
        "files": ["GatePackage", "Symlink"],
        "other_name": ["Symlink"],
        "right_name": [],
    }.items():
        coreml_encoder(
            name = "ready_encoder_" + package,
            model = ":model.bin",
            package = ":ready_" + package,
            tags = ["manual"],
        )
        for lane, test in {"emulated": _emulated_ready_test, "physical": _physical_ready_test}.items():
            tests.append("ready_{}_{}_test".format(package, lane))
            test(
                name = tests[-1],
                actions = actions,
                target_under_test = ":ready_encoder_" + package,
            )
    native.filegroup(
        name = "ready_files",
        srcs = native.glob(["ready.mlmodelc/**"]),
        tags = ["manual"],
    )

    # Programs that a pin does not vouch for: another main, another bridge, a script that prints a good log.
    cc_binary(
        name = "own_main",
        srcs = ["own_main.cc"],
        tags = ["manual"],
        deps = ["@whisper_cpp//:whisper_coreml"],
    )
    _script(
        name = "script",
        tags = ["manual"],
        deps = ["@whisper_cpp//:whisper_coreml"],
    )
    for program, foreign in {
        ":own_main": "own_main.cc",
        ":script": "/script",
        "@whisper_cpp//:cli_coreml": "",
    }.items():
        subject = "pin_of_" + program.split(":")[-1]
        whisper_cli(
            name = subject,
            binary = program,
            flavour = "coreml",
            tags = ["manual"],
        )
        tests.append(subject + "_test")
        _no_pin_test(
            name = subject + "_test",
            foreign = foreign,
            target_under_test = ":" + subject,
        )
        tests.append(subject + "_of_upstream_test")
        _no_pin_of_upstream_test(
            name = subject + "_of_upstream_test",
            foreign = foreign,
            target_compatible_with = [] if FOUND else ["@platforms//:incompatible"],
            target_under_test = ":" + subject,
        )
    native.test_suite(
        name = name,
        tests = tests,
    )
