"""Each refusal of the build phase, shown with its message."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//gate:defs.bzl", "coreml_compile", "coreml_encoder", "encoder_bench", "recording", "whisper_cli", "whisper_run", "whisper_words")

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

_MANUAL = ["manual"]

def _encoder_subjects():
    coreml_encoder(
        name = "encoder_of_other_name",
        model = ":model.gguf",
        tags = _MANUAL,
    )
    coreml_encoder(
        name = "encoder_of_plain_file",
        model = ":model.bin",
        package = ":model.gguf",
        tags = _MANUAL,
    )
    coreml_compile(
        name = "compile_of_plain_file",
        package = ":model.gguf",
        tags = _MANUAL,
    )
    coreml_encoder(
        name = "encoder_of_source_directory",
        model = ":model.bin",
        package = ":given.mlpackage",
        tags = _MANUAL,
    )
    native.filegroup(
        name = "mixed_files",
        srcs = [
            "given.mlpackage/Manifest.json",
            "model.gguf",
        ],
        tags = _MANUAL,
    )
    coreml_encoder(
        name = "encoder_of_mixed_files",
        model = ":model.bin",
        package = ":mixed_files",
        tags = _MANUAL,
    )
    coreml_compile(
        name = "compile_of_nothing",
        tags = _MANUAL,
    )
    coreml_compile(
        name = "compile_of_compiled",
        package = ":encoder",
        tags = _MANUAL,
    )
    coreml_encoder(
        name = "encoder",
        model = ":model.bin",
        tags = _MANUAL,
    )

def _run_subject(name, **kwargs):
    whisper_run(
        name = name,
        audio = ":audio.wav",
        cli = "//third_party/whisper_cpp:cli_coreml",
        language = "en",
        model = ":model.bin",
        tags = _MANUAL,
        **kwargs
    )

def refusals(name):
    """Declares the tests.

    Args:
      name: of the test_suite.
    """
    _encoder_subjects()
    _run_subject(
        name = "run_that_demands_physical",
        kind = "canary",
        lane = "physical",
    )
    _run_subject(
        name = "canary_with_encoder",
        kind = "canary",
        encoder = ":encoder",
    )
    _run_subject(
        name = "positive_without_encoder",
        kind = "coreml",
    )
    for subject in ("heard", "unheard"):
        recording(
            name = subject,
            audio = ":audio.wav",
            language = "en",
            tags = _MANUAL,
        )
    whisper_words(
        name = "words_of_another_probe",
        encoder = ":encoder",
        model = ":model.bin",
        probe = ":unheard",
        recordings = [":heard"],
        tags = _MANUAL,
    )
    whisper_words(
        name = "words_of_no_recordings",
        encoder = ":encoder",
        model = ":model.bin",
        probe = ":unheard",
        recordings = [],
        tags = _MANUAL,
    )
    for subject, settings in {
        "bench_of_another_control": {"control": "float16"},
        "bench_of_one_pair": {"pairs": 1, "ggml": True},
        "bench_of_pairs_without_another": {"pairs": 8},
    }.items():
        encoder_bench(
            name = subject,
            arms = {":encoder": "float32"},
            audio = ":audio.wav",
            language = "en",
            model = ":model.bin",
            tags = _MANUAL,
            **settings
        )
    whisper_cli(
        name = "cli_without_whisper",
        binary = "//tools/actions/gate_run",
        flavour = "coreml",
        tags = _MANUAL,
    )
    subjects = {
        "bench_of_another_control": ["`control`: expected one of the arms", "float16", "Name the encoders"],
        "bench_of_one_pair": ["at least 8 with two arms", "found 1", "no comparison"],
        "bench_of_pairs_without_another": ["at least 8 with two arms", "found 8", "float32"],
        "canary_with_encoder": ["`encoder`: expected none for a run of kind canary", "remove `encoder`"],
        "cli_without_whisper": ["no action that compiles whisper.cpp", "cc_binary"],
        "compile_of_compiled": ["name ends in `.mlpackage`", "model-encoder.mlmodelc", "name the package"],
        "compile_of_nothing": ["`package`: expected one directory", "found 0"],
        "compile_of_plain_file": ["`package`: expected one directory", "model.gguf"],
        "encoder_of_mixed_files": ["`package`: expected one directory", "the files of one `.mlpackage`", "found 2", "model.gguf"],
        "encoder_of_other_name": ["name ends in `.bin`", "model.gguf", "rename the file"],
        "encoder_of_plain_file": ["`package`: expected one directory", "model.gguf"],
        "encoder_of_source_directory": ["Bazel does not watch", "given.mlpackage", "name a filegroup"],
        "positive_without_encoder": ["`encoder`: expected the one that a run of kind coreml loads", "Set `encoder`"],
        "words_of_another_probe": ["`probe`: expected one of its `recordings`", "unheard", "name another"],
        "words_of_no_recordings": ["`recordings`: expected those that `probe`", "leave all three out"],
        "run_that_demands_physical": ["`lane`: expected a platform of the physical lane", "found the emulated one", "macOS arm64"],
    }
    for subject, message in subjects.items():
        _refusal_test(
            name = subject + "_test",
            message = message,
            target_under_test = ":" + subject,
            # On a Mac the physical lane is there to be demanded.
            target_compatible_with = ["@platforms//os:linux"] if subject == "run_that_demands_physical" else [],
        )
    native.test_suite(
        name = name,
        tests = [subject + "_test" for subject in subjects],
    )
