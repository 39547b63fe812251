"""coreml_encoder_gate: all targets of one model's gate."""

load("//gate/private:artifact_contract.bzl", "artifact_contract")
load("//gate/private:checks.bzl", "archive_stem", "digest_without_archive", "sidecar_of")
load("//gate/private:coreml_archive.bzl", "coreml_archive")
load("//gate/private:coreml_encoder.bzl", "coreml_encoder")
load("//gate/private:encoder_parity.bzl", "encoder_parity")
load("//gate/private:gate_receipt.bzl", "gate_receipt")
load("//gate/private:gate_test.bzl", "gate_test")
load("//gate/private:whisper_run.bzl", "whisper_run")
load("//gate/private:whisper_words.bzl", "whisper_words")

visibility("//gate/...")

def _package_files(name, package, sha256):
    """An encoder that lies in the source tree as the target of its files, so that Bazel watches them; an archive unpacked; any other as it is."""
    if sha256:
        if not package or not archive_stem(str(package)):
            fail(digest_without_archive(native.package_relative_label(name), package))
        coreml_archive(
            name = name,
            archive = package,
            sha256 = sha256,
        )
        return ":" + name
    if not package or type(package) != "string" or package.startswith(("//", ":", "@")):
        return package
    files = native.glob([package + "/**"], allow_empty = True)
    if not files:
        return package
    native.filegroup(
        name = name,
        srcs = files,
    )
    return ":" + name

def coreml_encoder_gate(
        name,
        model,
        audio,
        language,
        reference,
        prefix = None,
        package = None,
        package_sha256 = None,
        precision = "float32",
        public = False,
        lane = "",
        cli = None,
        contrast_cli = None,
        threads = 1,
        deadline_seconds = 900,
        warm_up = False,
        minimum_macos = "",
        mel = None,
        parity_reference = None,
        parity_reference_sidecar = None,
        parity_policy = None,
        policy = None,
        run_exec_properties = {},
        test_exec_properties = {},
        recordings = [],
        probe = None,
        source = None,
        words_policy = "words_v2",
        tags = [],
        visibility = None):
    """Makes encoder, runs, tests and receipt for one Whisper model.

    Targets, with `<prefix>` before each name:

    - `encoder`: the compiled Core ML encoder, named as the runtime derives it;
    - `contract`, `contract_test`: model and encoder belong together and keep the runtime's contract;
    - `parity`, `parity_test`: the encoder computes what the model's own tensors say;
    - `coreml_run`, `canary_run`, `contrast_run`: the evidence of three runs;
    - `markers_test`: the Core ML encoder executed, and no other;
    - `canary_test`: the same program refuses cleanly without the encoder;
    - `contrast_test`: ggml's own encoder shows its own marker, so that markers discriminate;
    - `transcript_test`: both encoders write the reference words;
    - `words`, `words_test`, with `recordings`: both encoders write the source model's words in each of them;
    - `receipt`: all of it bound by digest, as `<prefix>receipt.json`;
    - `<name>`: a test_suite of the tests.

    Args:
      name: of the test_suite.
      model: a ggml `.bin`: a whisper_model or any file.
      audio: speech in a format that whisper-cli decodes.
      language: spoken language, e.g. `en`. Required, since a multilingual model would guess.
      reference: text file with the words of `audio`.
      prefix: before the names of all other targets; default `<name>_`.
      package: your own encoder. A ready `.mlmodelc` is gated as it is, byte for byte, on both lanes; a `.mlpackage` is a source,
        and its compiled form is gated. The path of one in this package's source tree, or the label of a rule that writes one,
        of a filegroup of its files, of `@whisper_encoders//:<name>`, or, with `package_sha256`, of an archive. Without it, an
        encoder is written from the model's own tensors.
      package_sha256: SHA-256 of `package` where that is a `.zip`, `.tar` or `.tar.gz` with one encoder in it.
      precision: of the encoder that is written without `package`: `float32` or `float16`.
      public: whether audio and words may appear in evidence. Otherwise digests and counts stand for them.
      lane: demand `physical` or `emulated`; empty takes what the platform gives.
      cli: the whisper_cli of flavour coreml; default upstream's. A fork's is `@<fork>//:whisper_cli_coreml` (docs/fork.md).
      contrast_cli: the whisper_cli of flavour ggml, of the same pin as `cli`; a fork's is `@<fork>//:whisper_cli_ggml`.
      threads: of whisper-cli.
      deadline_seconds: of each run, its first load included.
      warm_up: on the physical lane, one recorded run before the measured positive one.
      minimum_macos: the oldest macOS that must read the encoder, such as `13.0`. Empty takes the worker's own on the physical lane.
      mel: what the numbers are compared on: a tensor file, or 16 kHz mono speech as .wav; a built-in sound without it.
      parity_reference: the source model's own encoder output on `mel`, a tensor file (docs/parity.md): what a float32 encoder of a
        fine-tune is held to, whose `.bin` has float16. Without it, the `.bin`'s own tensors are evaluated.
      parity_reference_sidecar: what made `parity_reference`; default the file of its name with `.json` after it.
      parity_policy: name of the frozen policy for the numbers. Default `fp32_v2` for float32 encoders, which alone
        satisfies the release gate, and `fp16_v1` for float16 ones that are written here.
      policy: frozen thresholds; default `@rules_coreml_gate//gate/policy:default`.
      recordings: `recording` targets: what is heard beyond `audio`. With them, the receipt is no pass without the judgement `words`.
      probe: the one of `recordings` on which all sides have to agree first. Without one, the words are provisional.
      source: transcripts of `recordings` by the source model itself (docs/transcripts.md). Without them, the words are provisional.
      words_policy: name of the frozen policy for the words.
      run_exec_properties: exec properties of the actions that run whisper-cli or Core ML, beside the platform's: a pool.
      test_exec_properties: exec properties of the tests that judge, beside the platform's.
      tags: of all targets.
      visibility: of all targets.
    """
    if prefix == None:
        prefix = name + "_"
    cli = cli or Label("//third_party/whisper_cpp:cli_coreml")
    contrast_cli = contrast_cli or Label("//third_party/whisper_cpp:cli_ggml")
    common = dict(tags = tags, visibility = visibility)
    policy = policy or Label("//gate/policy:default")
    on_runs = {"run." + name: value for name, value in run_exec_properties.items()}
    on_tests = {"test." + name: value for name, value in test_exec_properties.items()}

    coreml_encoder(
        name = prefix + "encoder",
        model = model,
        package = _package_files(prefix + "package_files", package, package_sha256),
        precision = precision,
        **common
    )

    artifact_contract(
        name = prefix + "contract",
        model = model,
        encoder = prefix + "encoder",
        minimum_macos = minimum_macos,
        **common
    )
    encoder_parity(
        name = prefix + "parity",
        model = model,
        encoder = prefix + "encoder",
        mel = mel,
        reference = parity_reference,
        reference_sidecar = parity_reference_sidecar or sidecar_of(parity_reference),
        policy = parity_policy or ("fp16_v1" if precision == "float16" and not package else "fp32_v2"),
        exec_properties = on_runs,
        **common
    )
    written = {
        "contract": "GATE_CONTRACT",
        "parity": "GATE_PARITY",
    }
    if recordings or probe or source:
        whisper_words(
            name = prefix + "words",
            model = model,
            encoder = prefix + "encoder",
            recordings = recordings,
            probe = probe,
            source = source,
            cli = cli,
            contrast_cli = contrast_cli,
            policy = words_policy,
            threads = threads,
            deadline_seconds = deadline_seconds,
            lane = lane,
            exec_properties = on_runs,
            **common
        )
        written["words"] = "GATE_WORDS"
    for judgement, variable in written.items():
        gate_test(
            name = prefix + judgement + "_test",
            size = "small",
            judge = Label("//gate/tests:" + judgement + "_test"),
            inputs = {prefix + judgement: variable},
            exec_properties = on_tests,
            **common
        )

    run = dict(
        model = model,
        audio = audio,
        language = language,
        public = public,
        threads = threads,
        deadline_seconds = deadline_seconds,
        lane = lane,
        exec_properties = on_runs,
        **common
    )
    whisper_run(
        name = prefix + "coreml_run",
        kind = "coreml",
        cli = cli,
        encoder = prefix + "encoder",
        warm_up = warm_up,
        **run
    )
    whisper_run(
        name = prefix + "canary_run",
        kind = "canary",
        cli = cli,
        **run
    )
    whisper_run(
        name = prefix + "contrast_run",
        kind = "contrast",
        cli = contrast_cli,
        **run
    )

    roles = {
        prefix + "coreml_run": "coreml",
        prefix + "canary_run": "canary",
        prefix + "contrast_run": "contrast",
    }
    inputs = {
        reference: "GATE_REFERENCE",
        policy: "GATE_POLICY",
    }
    tests = [prefix + judgement + "_test" for judgement in written]
    for judgement in ("markers", "canary", "contrast", "transcript"):
        test = prefix + judgement + "_test"
        tests.append(test)
        gate_test(
            name = test,
            size = "small",
            judge = Label("//gate/tests:" + judgement + "_test"),
            runs = roles,
            inputs = inputs,
            exec_properties = on_tests,
            **common
        )
    gate_receipt(
        name = prefix + "receipt",
        coreml = prefix + "coreml_run",
        canary = prefix + "canary_run",
        contrast = prefix + "contrast_run",
        judgements = [prefix + judgement for judgement in written],
        required = written.keys(),
        reference = reference,
        policy = policy,
        **common
    )
    native.test_suite(
        name = name,
        tests = tests,
        **common
    )
