"""What coreml_encoder_gate asks of a receipt: the words, where recordings are given."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//gate:defs.bzl", "coreml_encoder_gate", "recording")
load("//gate/private:judgements.bzl", "JUDGEMENTS")

visibility("//gate/private/tests")

def _required_test_impl(ctx):
    env = analysistest.begin(ctx)
    specs = [
        json.decode(action.content)
        for action in analysistest.target_actions(env)
        if action.mnemonic == "FileWrite" and action.content.startswith("{")
    ]
    asserts.equals(env, 1, len(specs))
    asserts.equals(env, ctx.attr.required, sorted(specs[0]["required"]))
    of_runs = [name for name, kind in JUDGEMENTS.items() if kind.source == "runs"]
    asserts.equals(env, len(ctx.attr.required) + len(of_runs), len(specs[0]["judgements"]))
    return analysistest.end(env)

_required_test = analysistest.make(
    _required_test_impl,
    attrs = {"required": attr.string_list()},
)

def words(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    recording(
        name = name + "_heard",
        audio = ":audio.wav",
        language = "en",
        tags = ["manual"],
    )
    tests = []
    for gate, recordings, required in (
        ("with", [name + "_heard"], ["contract", "parity", "words"]),
        ("without", [], ["contract", "parity"]),
    ):
        subject = "{}_{}".format(name, gate)
        coreml_encoder_gate(
            name = subject,
            audio = ":audio.wav",
            language = "en",
            model = ":model.bin",
            recordings = recordings,
            reference = ":identity.json",
            tags = ["manual"],
        )
        _required_test(
            name = subject + "_recordings_test",
            required = required,
            target_under_test = subject + "_receipt",
        )
        tests.append(subject + "_recordings_test")
    native.test_suite(
        name = name,
        tests = tests,
    )
