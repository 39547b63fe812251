"""A package that lies in the source tree: its files, laid out as one directory under its own name."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//gate:defs.bzl", "coreml_encoder_gate")

visibility("//gate/private/tests")

def _package_test_impl(ctx):
    env = analysistest.begin(ctx)
    layouts = [action for action in analysistest.target_actions(env) if action.mnemonic == "GatePackage"]
    asserts.equals(env, 1, len(layouts))
    outputs = layouts[0].outputs.to_list()
    asserts.equals(env, ["given.mlpackage"], [f.basename for f in outputs])
    asserts.true(env, outputs[0].is_directory)
    root = "gate/private/tests/given.mlpackage/"
    files = [f.short_path for f in layouts[0].inputs.to_list() if f.is_source]
    asserts.equals(env, [root + "Data/com.apple.CoreML/model.mlmodel", root + "Manifest.json"], sorted(files))
    return analysistest.end(env)

_package_test = analysistest.make(_package_test_impl)

def package_test(name):
    """Declares the test.

    Args:
      name: of the test.
    """
    coreml_encoder_gate(
        name = name + "_gate",
        audio = ":audio.wav",
        language = "en",
        model = ":model.bin",
        package = "given.mlpackage",
        reference = ":identity.json",
        tags = ["manual"],
    )
    _package_test(
        name = name,
        target_under_test = name + "_gate_encoder",
    )
