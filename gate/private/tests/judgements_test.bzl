"""What gate_judge, gate_test and gate_receipt refuse: judgements that are missing, there twice, or of another gate."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//gate:defs.bzl", "artifact_contract", "coreml_encoder", "coreml_encoder_gate", "gate_judge", "gate_receipt", "gate_test")

visibility("//gate/private/tests")

def _refusal_test_impl(ctx):
    env = analysistest.begin(ctx)
    for part in [": expected ", ", found "] + ctx.attr.message:
        asserts.expect_failure(env, part)
    return analysistest.end(env)

_refusal_test = analysistest.make(
    _refusal_test_impl,
    expect_failure = True,
    attrs = {"message": attr.string_list(mandatory = True)},
)

def _placed_test_impl(ctx):
    env = analysistest.begin(ctx)
    (spec,) = [
        json.decode(a.content)
        for a in analysistest.target_actions(env)
        if a.content and a.outputs.to_list()[0].basename.endswith(".spec.json")
    ]
    asserts.true(env, "placement" in spec["required"], "the receipt of a gate that asks for a placement must require it, found {}".format(spec["required"]))
    asserts.equals(env, 1, len([path for path in spec["judgements"] if path.endswith("_placement.json")]))
    return analysistest.end(env)

_placed_test = analysistest.make(_placed_test_impl)

_MANUAL = ["manual"]

def _receipt(name, gate, judgements):
    gate_receipt(
        name = name,
        canary = gate + "_canary_run",
        contrast = gate + "_contrast_run",
        coreml = gate + "_coreml_run",
        judgements = judgements,
        reference = ":identity.json",
        tags = _MANUAL,
    )

def _subjects(gate, other):
    of_runs = [gate + "_" + name for name in ("markers", "canary", "contrast", "transcript")]
    gate_judge(
        name = "judgement_of_two_canaries",
        judgement = "canary",
        reference = ":identity.json",
        runs = [gate + "_canary_run", other + "_canary_run"],
        tags = _MANUAL,
    )
    gate_test(
        name = "canary_twice",
        judgements = [gate + "_canary", other + "_canary"],
        tags = _MANUAL,
    )
    gate_test(
        name = "without_canary",
        judgements = [gate + "_contract"],
        required = ["canary"],
        tags = _MANUAL,
    )
    _receipt("receipt_without_markers", gate, of_runs[1:] + [gate + "_contract", gate + "_parity"])
    _receipt("receipt_without_parity", gate, of_runs + [gate + "_contract"])
    _receipt("receipt_with_canary_twice", gate, of_runs + [gate + "_contract", gate + "_parity", other + "_canary"])
    _receipt("receipt_of_another_model", gate, of_runs + [other + "_contract", gate + "_parity"])
    _receipt("receipt_of_other_runs", gate, [other + "_markers"] + of_runs[1:] + [gate + "_contract", gate + "_parity"])
    coreml_encoder(
        name = "another_encoder",
        model = ":model.bin",
        precision = "float16",
        tags = _MANUAL,
    )
    artifact_contract(
        name = "contract_of_another_encoder",
        encoder = ":another_encoder",
        model = ":model.bin",
        tags = _MANUAL,
    )
    _receipt("receipt_of_another_encoder", gate, of_runs + ["contract_of_another_encoder", gate + "_parity"])

def judgements(name):
    """Declares the tests.

    Args:
      name: of the test_suite, and before the names of two gates.
    """
    gates = {name + "_one": ":model.bin", name + "_two": ":other.bin"}
    for gate, model in gates.items():
        coreml_encoder_gate(
            name = gate,
            audio = ":audio.wav",
            language = "en",
            model = model,
            reference = ":identity.json",
            tags = _MANUAL,
        )
    _subjects(*gates.keys())
    coreml_encoder_gate(
        name = name + "_placed",
        audio = ":audio.wav",
        language = "en",
        model = ":model.bin",
        placement_policy = "placement_plan_v1",
        reference = ":identity.json",
        tags = _MANUAL,
    )
    _placed_test(
        name = name + "_placed_receipt_test",
        target_under_test = ":" + name + "_placed_receipt",
    )
    subjects = {
        "canary_twice": ["`judgements`: expected each judgement once", "two called `canary`"],
        "judgement_of_two_canaries": ["one run of each kind", "two of kind `canary`"],
        "receipt_of_another_encoder": ["the judgement `contract` about the encoder of this gate", "another_encoder"],
        "receipt_of_another_model": ["the judgement `contract` about the model of this gate", "other.bin"],
        "receipt_of_other_runs": ["the judgement `markers` about the model of this gate", "other.bin"],
        "receipt_with_canary_twice": ["`judgements`: expected each judgement once", "two called `canary`"],
        "receipt_without_markers": ["expected the judgement `markers` among", "Add the target that makes it"],
        "receipt_without_parity": ["expected the judgement `parity` among"],
        "without_canary": ["expected the judgement `canary` among", "contract"],
    }
    for subject, message in subjects.items():
        _refusal_test(
            name = subject + "_test",
            message = message,
            target_under_test = ":" + subject,
        )
    native.test_suite(
        name = name,
        tests = [subject + "_test" for subject in subjects] + [name + "_placed_receipt_test"],
    )
