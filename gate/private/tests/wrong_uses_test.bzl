"""Wrong uses: each is an error at analysis that names target, attribute, what was expected, what was found and what to do."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(
    "//gate:defs.bzl",
    "artifact_contract",
    "coreml_archive",
    "coreml_encoder",
    "encoder_parity",
    "encoder_placement",
    "patch_ab_report",
    "recording",
    "upstream_sources",
    "whisper_run",
    "whisper_words",
)
load("//gate/private:core_ml_identity.bzl", "core_ml_identity")
load(":stubs.bzl", "cli_stub", "directory_stub", "encoder_stub")

visibility("//gate/private/tests")

def _refusal_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "{}: `{}`: expected ".format(ctx.attr.subject, ctx.attr.attribute))
    for part in ctx.attr.message:
        asserts.expect_failure(env, part)
    return analysistest.end(env)

# The emulated lane, on a Mac too.
_refusal_test = analysistest.make(
    _refusal_test_impl,
    expect_failure = True,
    attrs = {
        "attribute": attr.string(mandatory = True),
        "message": attr.string_list(mandatory = True),
        "subject": attr.string(mandatory = True),
    },
    config_settings = {str(Label("//gate:lane")): "emulated"},
)

# The same, for Windows.
_on_windows_test = analysistest.make(
    _refusal_test_impl,
    expect_failure = True,
    attrs = {
        "attribute": attr.string(mandatory = True),
        "message": attr.string_list(mandatory = True),
        "subject": attr.string(mandatory = True),
    },
    config_settings = {"//command_line_option:platforms": str(Label(":windows"))},
)

_MANUAL = ["manual"]

# What is wrong, by a name for it: the rule, its attributes, the attribute that is refused and what the message says of it.
def _runs():
    right = dict(
        audio = ":audio.wav",
        cli = ":wrong_cli_right",
        kind = "canary",
        language = "en",
        model = ":model.bin",
    )
    found = {
        "bridge_absent": ({"cli": ":wrong_cli_absent"}, "cli", ["links the bridge of the emulated lane", "found none", "//gate/toolchains:bridge"]),
        "bridge_of_ggml": ({"cli": ":wrong_cli_ggml", "kind": "contrast"}, "cli", ["links no bridge", "found the bridge of the emulated lane"]),
        "bridge_of_other_lane": ({"cli": ":wrong_cli_physical"}, "cli", ["the emulated lane", "found the bridge of the physical lane", "core_ml_worker"]),
        "deadline_of_a_month": ({"deadline_seconds": 2592000}, "deadline_seconds", ["from 1 to 86400", "found 2592000"]),
        "deadline_of_nothing": ({"deadline_seconds": 0}, "deadline_seconds", ["from 1 to 86400", "found 0", "whole seconds"]),
        "language_guessed": ({"language": "auto"}, "language", ["found `auto`", "may guess differently"]),
        "language_of_nothing": ({"language": ""}, "language", ["such as `en`", "found ``"]),
        "language_with_region": ({"language": "en-GB"}, "language", ["found `en-GB`"]),
        "threads_below_nothing": ({"threads": -1}, "threads", ["found -1"]),
        "threads_of_a_farm": ({"threads": 4096}, "threads", ["from 1 to 512", "found 4096"]),
        "threads_of_nothing": ({"threads": 0}, "threads", ["from 1 to 512", "found 0", "processors"]),
        "warm_canary": ({"warm_up": True}, "warm_up", ["run of kind canary", "one attempt"]),
        "warm_contrast": ({"kind": "contrast", "cli": ":wrong_cli_contrast", "warm_up": True}, "warm_up", ["run of kind contrast"]),
    }
    return {name: (whisper_run, right | wrong, attribute, message) for name, (wrong, attribute, message) in found.items()}

def _words():
    right = dict(
        cli = ":wrong_cli_right",
        contrast_cli = ":wrong_cli_contrast",
        encoder = ":wrong_encoder",
        model = ":model.bin",
        recordings = [":wrong_heard"],
    )
    found = {
        "words_by_numbers_policy": ({"policy": "fp32_v2"}, "policy", ["one of words_v1", "found `fp32_v2`"]),
        "words_of_one_name": ({"recordings": [":wrong_heard", "//gate/private/tests/other:wrong_heard"]}, "recordings", ["two called `wrong_heard`", "Rename"]),
        "words_of_other_pin": ({"contrast_cli": ":wrong_cli_other_pin"}, "contrast_cli", ["of the pin of `cli`", "identity.json", "from one repository"]),
        "words_probed_by_silence": ({"probe": ":wrong_silence", "recordings": [":wrong_silence"]}, "probe", ["something is spoken", "which is silence"]),
        "words_side_by_nothing": ({"side_by_side": 0}, "side_by_side", ["from 1 to 512", "found 0"]),
    }
    return {name: (whisper_words, right | wrong, attribute, message) for name, (wrong, attribute, message) in found.items()}

def _encoders():
    right = dict(encoder = ":wrong_encoder", model = ":model.bin")
    contracts = {
        "macos_by_comma": ("14,0", ["a version of macOS in digits", "found `14,0`"]),
        "macos_by_name": ("sonoma", ["a version of macOS in digits", "found `sonoma`", "not its name"]),
        "macos_by_wildcard": ("12.x", ["found `12.x`"]),
        "macos_of_four_parts": ("13.0.1.2", ["found `13.0.1.2`"]),
        "macos_with_its_name": ("macOS 13", ["found `macOS 13`"]),
    }
    parities = {
        "parity_by_words_policy": ({"policy": "words_v1"}, "policy", ["one of fp32_v2", "found `words_v1`"]),
        "parity_by_other_policy": ({"policy": "fp64"}, "policy", ["one of fp32_v2", "found `fp64`", "docs/parity.md"]),
        "reference_without_sidecar": ({"reference": ":reference.npy"}, "reference_sidecar", ["found `reference` alone", "source-reference"]),
        "sidecar_without_reference": ({"reference_sidecar": ":identity.json"}, "reference", ["found `reference_sidecar` alone"]),
    }
    placements = {
        "placement_by_numbers_policy": ({"policy": "fp32_v2"}, "policy", ["one of placement_plan_v1", "found `fp32_v2`", "docs/placement.md"]),
    }
    archives = {
        "archive_by_other_ending": ({"archive": ":model.bin", "sha256": "0" * 64}, "archive", [".tar.gz", "found `model.bin`"]),
        "archive_by_short_digest": ({"archive": ":archive.zip", "sha256": "abc"}, "sha256", ["64 lower-case", "found `abc`", "sha256sum"]),
        "archive_by_upper_case": ({"archive": ":archive.zip", "sha256": "A" * 64}, "sha256", ["lower-case"]),
    }
    return {
        name: (artifact_contract, right | {"minimum_macos": version}, "minimum_macos", message)
        for name, (version, message) in contracts.items()
    } | {
        name: (encoder_parity, right | wrong, attribute, message)
        for name, (wrong, attribute, message) in parities.items()
    } | {
        name: (encoder_placement, right | wrong, attribute, message)
        for name, (wrong, attribute, message) in placements.items()
    } | {
        name: (coreml_archive, wrong, attribute, message)
        for name, (wrong, attribute, message) in archives.items()
    } | {
        "encoder_of_archive": (coreml_encoder, {"model": ":model.bin", "package": ":archive.zip"}, "package", ["an archive with its SHA-256", "archive.zip", "package_sha256"]),
    }

def _others():
    mac = dict(chip = "Apple M4", hardware = "Mac16,10", os_build = "24G84", os_version = "15.6", xcode_build = "16F6", xcode_version = "16.4")
    ab = dict(audio = ":audio.wav", model = ":model.bin", patched = ":wrong_cli_right", unpatched = ":wrong_cli_unpatched")
    return {
        "ab_of_nothing": (patch_ab_report, ab | {"n": 0}, "n", ["from 1 to", "found 0"]),
        "ab_patched_alone": (patch_ab_report, ab | {"unpatched": ":wrong_cli_right"}, "unpatched", ["of flavour coreml_unpatched", "found coreml"]),
        "ab_unpatched_alone": (patch_ab_report, ab | {"patched": ":wrong_cli_unpatched"}, "patched", ["of flavour coreml,", "found coreml_unpatched"]),
        "mac_by_name": (core_ml_identity, mac | {"os_version": "Sequoia"}, "os_version", ["a version in digits", "found `Sequoia`"]),
        "recording_of_any_language": (recording, {"audio": ":audio.wav", "language": "auto"}, "language", ["found `auto`"]),
        "xcode_by_build": (core_ml_identity, mac | {"xcode_version": "16F6"}, "xcode_version", ["found `16F6`"]),
    }

def _subjects():
    cli_stub(name = "wrong_cli_right", bridge = "emulated")
    cli_stub(name = "wrong_cli_absent", bridge = "")
    cli_stub(name = "wrong_cli_physical", bridge = "physical")
    cli_stub(name = "wrong_cli_ggml", bridge = "emulated", flavour = "ggml")
    cli_stub(name = "wrong_cli_contrast", flavour = "ggml")
    cli_stub(name = "wrong_cli_unpatched", bridge = "emulated", flavour = "coreml_unpatched")
    cli_stub(name = "wrong_cli_other_pin", flavour = "ggml", upstream = ":wrong_pin")
    upstream_sources(
        name = "wrong_pin",
        srcs = [":audio.wav"],
        manifest = ":model.gguf",
        patch = "//patches:whisper_batch_zero_init.patch",
        pin = ":identity.json",
        tags = _MANUAL,
    )
    encoder_stub(name = "wrong_encoder", tags = _MANUAL)
    recording(name = "wrong_heard", audio = ":audio.wav", language = "en", tags = _MANUAL)
    recording(name = "wrong_silence", audio = ":audio.wav", language = "en", silence = True, tags = _MANUAL)

def _other_directory_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "wrong_encoder_of_other_directory: `package`: expected a directory whose name ends in `.mlpackage`")
    asserts.expect_failure(env, "takes a ready `.mlmodelc` too")
    asserts.expect_failure(env, "found `x.mlmodel`")
    return analysistest.end(env)

_other_directory_test = analysistest.make(_other_directory_test_impl, expect_failure = True)

def wrong_uses(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    _subjects()
    directory_stub(name = "wrong_directory", basename = "x.mlmodel", tags = _MANUAL)
    coreml_encoder(name = "wrong_encoder_of_other_directory", model = ":model.bin", package = ":wrong_directory", tags = _MANUAL)
    _other_directory_test(name = "wrong_encoder_of_other_directory_test", target_under_test = ":wrong_encoder_of_other_directory")
    native.platform(
        name = "windows",
        constraint_values = [
            "@platforms//cpu:x86_64",
            "@platforms//os:windows",
        ],
    )
    coreml_encoder(name = "wrong_encoder_on_windows", model = ":model.bin", tags = _MANUAL)
    _on_windows_test(
        name = "wrong_encoder_on_windows_test",
        attribute = "--platforms",
        message = ["of Linux or macOS", "found Windows", "neither built nor run there"],
        subject = "wrong_encoder_on_windows",
        target_under_test = ":wrong_encoder_on_windows",
    )
    tests = ["wrong_encoder_of_other_directory_test", "wrong_encoder_on_windows_test"]
    for use, (rule, attributes, attribute, message) in (_runs() | _words() | _encoders() | _others()).items():
        subject = "wrong_" + use + "_subject"
        rule(name = subject, tags = _MANUAL, **attributes)
        _refusal_test(
            name = "wrong_" + use + "_test",
            attribute = attribute,
            message = message,
            subject = subject,
            target_under_test = ":" + subject,
        )
        tests.append("wrong_" + use + "_test")
    native.test_suite(
        name = name,
        tests = tests,
    )
