"""Gates that must fail: each experiment breaks one thing and names the reason that must be found."""

load("//gate:defs.bzl", "gate_judge", "gate_test", "whisper_run", "whisper_words")

visibility("//gate/experiments")

def experiment(
        name,
        judge,
        kind,
        expect,
        model,
        cli = "//third_party/whisper_cpp:cli_coreml",
        encoder = None,
        fault = "none",
        others = []):
    """Runs whisper-cli once under a broken condition, and holds a gate to failing for the right reason.

    Args:
      name: of the test; the run is `<name>_run`, the judgement `<name>_judgement`.
      judge: `markers`, `canary`, `contrast` or `transcript`.
      kind: of the broken run.
      expect: reason codes of which one must be found.
      model: the `.bin`.
      cli: the whisper_cli.
      encoder: the coreml_encoder, for `kind = "coreml"`.
      fault: of the emulated lane's double.
      others: sound whisper_run targets, for the sides that the broken run is not.
    """
    whisper_run(
        name = name + "_run",
        testonly = True,
        audio = "@whisper_cpp//:jfk",
        cli = cli,
        encoder = encoder,
        fault = fault,
        kind = kind,
        language = "en",
        model = model,
        public = True,
        # Experiments need the double; on a Mac, --//gate:lane=emulated.
        target_compatible_with = ["@platforms//os:linux"],
    )
    gate_judge(
        name = name + "_judgement",
        testonly = True,
        judgement = judge,
        reference = "//testdata/speech:jfk.txt",
        runs = others + [name + "_run"],
        target_compatible_with = ["@platforms//os:linux"],
    )
    gate_test(
        name = name,
        size = "small",
        expect = expect,
        judgements = [name + "_judgement"],
        target_compatible_with = ["@platforms//os:linux"],
    )

def words_experiment(
        name,
        expect,
        recordings = ["//testdata/speech:jfk"],
        source = "//testdata/transcripts:tiny.en.json",
        fault = "none",
        model = "@whisper_models//:tiny.en",
        encoder = "//gate:encoder",
        **kwargs):
    """Hears recordings under a broken condition, and holds the words gate to failing for the right reason.

    Args:
      name: of the test; the judgement is `<name>_words`.
      expect: reason codes of which one must be found.
      recordings: what is heard; the first is the probe.
      source: transcripts of the source model.
      fault: of the emulated lane's double.
      model: the `.bin`.
      encoder: the coreml_encoder.
      **kwargs: of the test.
    """
    whisper_words(
        name = name + "_words",
        testonly = True,
        encoder = encoder,
        fault = fault,
        model = model,
        probe = recordings[0],
        recordings = recordings,
        source = source,
        threads = 1,
        target_compatible_with = ["@platforms//os:linux"],
        **kwargs
    )
    gate_test(
        name = name,
        size = "small",
        expect = expect,
        judgements = [name + "_words"],
        target_compatible_with = ["@platforms//os:linux"],
        **kwargs
    )
