"""coreml_encoder_gate: all targets of one model's gate."""

load("//gate/private:artifact_contract.bzl", "artifact_contract")
load("//gate/private:checks.bzl", "archive_stem", "digest_without_archive", "sidecar_of")
load("//gate/private:coreml_archive.bzl", "coreml_archive")
load("//gate/private:coreml_encoder.bzl", "coreml_encoder")
load("//gate/private:encoder_parity.bzl", "encoder_parity")
load("//gate/private:encoder_placement.bzl", "encoder_placement")
load("//gate/private:gate_judge.bzl", "gate_judge")
load("//gate/private:gate_receipt.bzl", "gate_receipt")
load("//gate/private:gate_test.bzl", "gate_test")
load("//gate/private:judgements.bzl", "JUDGEMENTS")
load("//gate/private:messages.bzl", "judgement_without_rule")
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

_RUNS = ["coreml", "canary", "contrast"]

def _judgements(gate):
    """The names of the gate's judgements, from the registration: one that no part makes is an error of every gate."""
    asked = gate.recordings or gate.probe or gate.source
    demands = ["always", "gate"] + (["asked"] if asked else [])
    names = [name for name, kind in JUDGEMENTS.items() if kind.source != "receipt" and kind.demand in demands]
    if gate.placement_policy:
        names.append("placement")
    for name in names:
        if name not in _PARTS:
            fail(judgement_without_rule(name))
    return names

def _encoder(gate):
    coreml_encoder(
        name = gate.prefix + "encoder",
        model = gate.model,
        package = gate.package,
        precision = gate.precision,
        **gate.common
    )

def _run(gate, kind):
    positive = dict(encoder = gate.prefix + "encoder", warm_up = gate.warm_up) if kind == "coreml" else {}

    # The words of a private run can be compared inside the run alone.
    heard = dict(reference = gate.reference) if kind != "canary" and not gate.public else {}
    whisper_run(
        name = "{}{}_run".format(gate.prefix, kind),
        kind = kind,
        cli = gate.contrast_cli if kind == "contrast" else gate.cli,
        model = gate.model,
        audio = gate.audio,
        language = gate.language,
        public = gate.public,
        threads = gate.threads,
        deadline_seconds = gate.deadline_seconds,
        lane = gate.lane,
        exec_properties = gate.on_runs,
        **(positive | heard | gate.common)
    )

def _of_runs(gate, judgement):
    gate_judge(
        name = gate.prefix + judgement,
        judgement = judgement,
        runs = ["{}{}_run".format(gate.prefix, kind) for kind in _RUNS],
        reference = gate.reference,
        policy = gate.policy,
        **gate.common
    )

def _contract(gate, judgement):
    artifact_contract(
        name = gate.prefix + judgement,
        model = gate.model,
        encoder = gate.prefix + "encoder",
        minimum_macos = gate.minimum_macos,
        **gate.common
    )

def _parity(gate, judgement):
    encoder_parity(
        name = gate.prefix + judgement,
        model = gate.model,
        encoder = gate.prefix + "encoder",
        mel = gate.mel,
        reference = gate.parity_reference,
        reference_sidecar = gate.parity_reference_sidecar,
        policy = gate.parity_policy,
        exec_properties = gate.on_runs,
        **gate.common
    )

def _placement(gate, judgement):
    encoder_placement(
        name = gate.prefix + judgement,
        model = gate.model,
        encoder = gate.prefix + "encoder",
        policy = gate.placement_policy,
        exec_properties = gate.on_runs,
        **gate.common
    )

def _words(gate, judgement):
    whisper_words(
        name = gate.prefix + judgement,
        model = gate.model,
        encoder = gate.prefix + "encoder",
        recordings = gate.recordings,
        probe = gate.probe,
        source = gate.source,
        cli = gate.cli,
        contrast_cli = gate.contrast_cli,
        policy = gate.words_policy,
        threads = gate.threads,
        deadline_seconds = gate.deadline_seconds,
        lane = gate.lane,
        exec_properties = gate.on_runs,
        **gate.common
    )

# What makes each judgement.
_PARTS = {
    name: _of_runs
    for name, kind in JUDGEMENTS.items()
    if kind.source == "runs"
} | {
    "contract": _contract,
    "parity": _parity,
    "placement": _placement,
    "words": _words,
}

def _test(gate, name, judgements):
    gate_test(
        name = name,
        size = "small",
        judgements = [gate.prefix + judgement for judgement in judgements],
        required = judgements,
        exec_properties = gate.on_tests,
        **gate.common
    )

def _receipt(gate, judgements):
    gate_receipt(
        name = gate.prefix + "receipt",
        coreml = gate.prefix + "coreml_run",
        canary = gate.prefix + "canary_run",
        contrast = gate.prefix + "contrast_run",
        judgements = [gate.prefix + judgement for judgement in judgements],
        required = [name for name in judgements if JUDGEMENTS[name].demand != "always"],
        reference = gate.reference,
        policy = gate.policy,
        **gate.common
    )

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
        placement_policy = None,
        tags = [],
        visibility = None):
    """Makes encoder, runs, tests and receipt for one Whisper model.

    Targets, with `<prefix>` before each name:

    - `encoder`: the compiled Core ML encoder, named as the runtime derives it;
    - `contract`, `contract_test`: model and encoder belong together and keep the runtime's contract;
    - `parity`, `parity_test`: the encoder computes what the model's own tensors say;
    - `coreml_run`, `canary_run`, `contrast_run`: the evidence of three runs;
    - `markers`, `markers_test`: the Core ML encoder executed, and no other;
    - `canary`, `canary_test`: the same program refuses cleanly without the encoder;
    - `contrast`, `contrast_test`: ggml's own encoder shows its own marker, so that markers discriminate;
    - `transcript`, `transcript_test`: both encoders write the reference words;
    - `words`, `words_test`, with `recordings`: both encoders write the source model's words in each of them;
    - `placement`, `placement_test`, with `placement_policy`: an instrument saw where the encoder runs;
    - `receipt`: all of it bound by digest, as `<prefix>receipt.json`;
    - `<name>`: a test of all these judgements at once. It fails if one of them is missing or does not pass, whatever
      filters, tags and shards do to the tests above.

    Args:
      name: of the test of all judgements.
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
      public: whether audio and words may appear in evidence. Otherwise digests and counts are in their place.
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
      recordings: `recording` targets: what is heard beyond `audio`. With them, the receipt also requires the judgement `words`.
      probe: the one of `recordings` on which all sides have to agree first. Without one, the words are provisional.
      source: transcripts of `recordings` by the source model itself (docs/transcripts.md). Without them, the words are provisional.
      words_policy: name of the frozen policy for the words.
      placement_policy: name of the frozen policy for the placement, such as `placement_plan_v1` (docs/placement.md). With it, the receipt
        also requires the judgement `placement`, which no gate of the emulated lane can pass.
      run_exec_properties: exec properties of the actions that run whisper-cli or Core ML, beside the platform's: a pool.
      test_exec_properties: exec properties of the tests that judge, beside the platform's.
      tags: of all targets.
      visibility: of all targets.
    """
    prefix = name + "_" if prefix == None else prefix
    gate = struct(
        prefix = prefix,
        model = model,
        audio = audio,
        language = language,
        reference = reference,
        package = _package_files(prefix + "package_files", package, package_sha256),
        precision = precision,
        cli = cli or Label("//third_party/whisper_cpp:cli_coreml"),
        contrast_cli = contrast_cli or Label("//third_party/whisper_cpp:cli_ggml"),
        public = public,
        lane = lane,
        threads = threads,
        deadline_seconds = deadline_seconds,
        warm_up = warm_up,
        minimum_macos = minimum_macos,
        mel = mel,
        parity_reference = parity_reference,
        parity_reference_sidecar = parity_reference_sidecar or sidecar_of(parity_reference),
        parity_policy = parity_policy or ("fp16_v1" if precision == "float16" and not package else "fp32_v2"),
        policy = policy or Label("//gate/policy:default"),
        on_runs = {"run." + key: value for key, value in run_exec_properties.items()},
        on_tests = {"test." + key: value for key, value in test_exec_properties.items()},
        recordings = recordings,
        probe = probe,
        source = source,
        words_policy = words_policy,
        placement_policy = placement_policy,
        common = dict(tags = tags, visibility = visibility),
    )
    judgements = _judgements(gate)

    _encoder(gate)
    for kind in _RUNS:
        _run(gate, kind)
    for judgement in judgements:
        _PARTS[judgement](gate, judgement)
        _test(gate, gate.prefix + judgement + "_test", [judgement])
    _receipt(gate, judgements)
    _test(gate, name, judgements)
