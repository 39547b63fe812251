"""Messages of the build phase. Each names the target, the attribute, what was expected, what was found and what to do."""

load("//gate/private:refusal.bzl", "refusal")

visibility("//gate/...")

def _paths(files):
    return "{}: {}".format(len(files), [f.short_path for f in files])

def _path(file):
    return file.short_path if file else "none"

def wrong_lane(label, demanded, found):
    return refusal(
        label,
        "lane",
        "a platform of the {} lane, which the target demands".format(demanded),
        "the {} one, which the Core ML toolchain of its platform is of".format(found),
        ("The physical lane exists only for macOS arm64 (and not under --@rules_coreml_gate//gate:lane=emulated): build with a macOS arm64 " +
         "platform and workers, or do not demand a lane here."),
    )

def not_a_model(label, name):
    return refusal(
        label,
        "model",
        "a ggml file whose name ends in `.bin`",
        "`{}`".format(name),
        "whisper.cpp derives the encoder's path by cutting that name at its last dot; rename the file, or wrap it with whisper_model.",
    )

def not_a_package(label, name):
    return refusal(
        label,
        "package",
        "a directory whose name ends in `.mlpackage` (coreml_encoder takes a ready `.mlmodelc` too)",
        "`{}`".format(name),
        "The compiler names its output after its input: name the package <stem>-encoder.mlpackage.",
    )

def no_package(label, found):
    return refusal(
        label,
        "package",
        "one directory that a rule writes, or the files of one `.mlpackage` or `.mlmodelc`",
        _paths(found),
        ("Of a directory in the source tree give the files, since Bazel does not watch what is in a directory: " +
         "`package = \"x.mlpackage\"` of coreml_encoder_gate does, or name a filegroup with `srcs = glob([\"x.mlpackage/**\"])`."),
    )

def one_file(label, attribute, found):
    return refusal(label, attribute, "exactly one file or directory", _paths(found), "Name one target that gives one output.")

def encoder_needed(label, kind, has_encoder):
    if has_encoder:
        return refusal(
            label,
            "encoder",
            "none for a run of kind {}".format(kind),
            "one",
            "The canary proves a refusal only while the encoder is absent, and the contrast runs ggml's own: remove `encoder`.",
        )
    return refusal(label, "encoder", "the one that a run of kind {} loads".format(kind), "none", "Set `encoder`.")

def fault_on_physical(label, fault):
    return refusal(
        label,
        "fault",
        "none on the physical lane",
        "`{}`".format(fault),
        "It is a setting of the emulated lane's double, and Apple's Core ML has no such setting: remove `fault`.",
    )

def no_compile_action(label):
    return refusal(
        label,
        "binary",
        "a cc_binary that depends on the cc_library of src/whisper.cpp",
        "no action that compiles whisper.cpp below it",
        "The flavour's defines are read off that action: name the program that is compiled here.",
    )

def words_without_recordings(label):
    return refusal(label, "recordings", "those that `probe` and `source` are about", "none", "Give the recordings, or leave all three out.")

def wrong_probe(label, probe, recordings):
    return refusal(
        label,
        "probe",
        "one of its `recordings`, which are {}".format([str(r) for r in recordings]),
        str(probe),
        "Add it to them, or name another.",
    )

def relative_ledger(label, path):
    return refusal(
        label,
        "--@rules_coreml_gate//gate:attempt_ledger",
        "an absolute path",
        "`{}`".format(path),
        "Name a folder outside of every action that all workers share.",
    )

def receipt_on_other_lane(label, receipt, platform, demanded, found):
    return refusal(
        label,
        "platform",
        "one of the {} lane for the {} receipt".format(demanded, demanded),
        "{} built for {}, which is of the {} one".format(receipt, platform, found),
        ("The physical lane needs a macOS arm64 platform, a physical Core ML toolchain that matches it (core_ml_worker makes one) and " +
         "workers; without those name the platform as the emulated one."),
    )

def empty_release(label):
    return refusal(label, "receipts", "at least one receipt or release", "none", "A release of nothing proves nothing: name `receipts`, `releases` or both.")

def bench_arms(label, names, control):
    return refusal(
        label,
        "control",
        "one of the arms, each of a name of its own",
        "`{}` beside the arms {}".format(control, names),
        "Name the encoders in `arms`, or set `ggml = True`.",
    )

def bench_pairs(label, pairs, least, names):
    return refusal(
        label,
        "pairs",
        "0, or at least {} with two arms".format(least),
        "{} with arms {}".format(pairs, names),
        "Fewer pairs are no comparison: machines differ by more from run to run than encoders do.",
    )

def no_objective_c(label, missing):
    return refusal(
        label,
        "srcs",
        "a machine that compiles Objective-C, for upstream's own bridge and coremlprobe over the stand-in for Core ML",
        "one that does not",
        missing,
    )

def two_runs_of_a_kind(label, kind):
    return refusal(label, "runs", "one run of each kind", "two of kind `{}`".format(kind), "Name the runs of one gate.")

def judgement_twice(label, name):
    return refusal(label, "judgements", "each judgement once", "two called `{}`".format(name), "Name the judgements of one gate.")

def judgement_missing(label, name, found):
    return refusal(
        label,
        "judgements",
        "the judgement `{}` among them".format(name),
        "{}".format(found),
        "Add the target that makes it. Without it nothing would say that it was judged.",
    )

def judgement_of_another(label, name, what, expected, found):
    return refusal(
        label,
        "judgements",
        "the judgement `{}` about the {} of this gate, {}".format(name, what, _path(expected)),
        "one about {}".format(_path(found)),
        "Name the judgement that was made for this gate.",
    )

def judgement_without_rule(name):
    return refusal(
        "coreml_encoder_gate",
        name,
        "a part of the gate that makes this judgement, which tools/base/judgements registers",
        "none",
        "Add one to _PARTS in gate/private/coreml_encoder_gate.bzl.",
    )
