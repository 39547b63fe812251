"""Messages of the build phase. Each names the thing, what was expected, what was found and what to do."""

visibility("//gate/...")

def wrong_lane(label, demanded, found):
    return ("{label} demands the {demanded} lane, but the Core ML toolchain resolved for its platform is the {found} one. " +
            "The physical lane exists only for macOS arm64 (and not under --@rules_coreml_gate//gate:lane=emulated): " +
            "build with a macOS arm64 platform and workers, or do not demand a lane here.").format(
        label = label,
        demanded = demanded,
        found = found,
    )

def not_a_model(label, name):
    return ("{label}: `model` must be a ggml file whose name ends in `.bin`, found `{name}`. whisper.cpp derives the encoder's path " +
            "by cutting that name at its last dot; rename the file, or wrap it with whisper_model.").format(
        label = label,
        name = name,
    )

def not_a_package(label, name):
    return ("{label}: `package` must be a directory whose name ends in `.mlpackage` (coreml_encoder takes a ready `.mlmodelc` too), found " +
            "`{name}`. The compiler names its output after its input: name the package <stem>-encoder.mlpackage.").format(label = label, name = name)

def no_package(label, found):
    return ("{label}: `package` must be one directory that a rule writes, or the files of one `.mlpackage` or `.mlmodelc`, found {count}: {found}. " +
            "Of a directory in the source tree give the files, since Bazel does not watch what is in a directory: " +
            "`package = \"x.mlpackage\"` of coreml_encoder_gate does, or name a filegroup with `srcs = glob([\"x.mlpackage/**\"])`.").format(
        label = label,
        count = len(found),
        found = [f.short_path for f in found],
    )

def one_file(label, attribute, found):
    return "{label}: `{attribute}` must be exactly one file or directory, found {count}: {found}. Name one target that gives one output.".format(
        label = label,
        attribute = attribute,
        count = len(found),
        found = [f.short_path for f in found],
    )

def encoder_needed(label, kind, has_encoder):
    if has_encoder:
        return ("{label}: a `{kind}` run must not have an encoder, found one. The canary proves a refusal only while the encoder is " +
                "absent, and the contrast runs ggml's own: remove `encoder`.").format(label = label, kind = kind)
    return "{label}: a `{kind}` run needs the `encoder` that whisper-cli shall load, found none: set `encoder`.".format(label = label, kind = kind)

def fault_on_physical(label, fault):
    return ("{label}: `fault = \"{fault}\"` is a setting of the emulated lane's double, and this target resolved the physical lane. " +
            "Apple's Core ML has no such setting: remove `fault`.").format(label = label, fault = fault)

def no_compile_action(label):
    return ("{label}: found no action that compiles whisper.cpp below `binary`, so the flavour's defines cannot be read. Expected a " +
            "cc_binary that depends on the cc_library of src/whisper.cpp.").format(label = label)

def words_without_recordings(label):
    return ("{label}: `recordings` is empty, and `probe` and `source` are about them: give the recordings, or leave all three out.").format(
        label = label,
    )

def wrong_probe(label, probe, recordings):
    return ("{label}: `probe` must be one of its `recordings`, which are {recordings}, found {probe}: add it to them, or name another.").format(
        label = label,
        probe = probe,
        recordings = [str(r) for r in recordings],
    )

def relative_ledger(label, path):
    return ("{label}: --@rules_coreml_gate//gate:attempt_ledger must be an absolute path, found `{path}`: name a folder outside of " +
            "every action that all workers share.").format(label = label, path = path)

def receipt_on_other_lane(label, receipt, platform, demanded, found):
    return ("{label}: the {demanded} receipt must come from the {demanded} lane, but {receipt} built for {platform} is on the {found} " +
            "one. The physical lane needs a macOS arm64 platform, a physical Core ML toolchain that matches it (core_ml_worker makes " +
            "one) and workers; without those name the platform as the emulated one.").format(
        label = label,
        demanded = demanded,
        receipt = receipt,
        platform = platform,
        found = found,
    )

def empty_release(label):
    return "{label}: a release of nothing proves nothing: name `receipts`, `releases` or both.".format(label = label)

def bench_arms(label, names, control):
    return ("{label}: each arm needs a name of its own, and `control` must be one of them; found arms {names} and control `{control}`. " +
            "Name the encoders in `arms`, or set `ggml = True`.").format(label = label, names = names, control = control)

def bench_pairs(label, pairs, least, names):
    return ("{label}: `pairs` must be 0, or at least {least} with two arms, found {pairs} with arms {names}. Fewer pairs are no comparison: " +
            "machines differ by more from run to run than encoders do.").format(label = label, pairs = pairs, least = least, names = names)

def no_objective_c(label, missing):
    return "{label}: upstream's own bridge and coremlprobe run over the stand-in for Core ML only where this machine compiles Objective-C: {missing}".format(
        label = label,
        missing = missing,
    )

def two_runs_of_a_kind(label, kind):
    return "{label}: `runs` must have one run of each kind, found two of kind `{kind}`: name the runs of one gate.".format(label = label, kind = kind)

def judgement_twice(label, name):
    return "{label}: each judgement must be there once, found two called `{name}`: name the judgements of one gate.".format(label = label, name = name)

def judgement_missing(label, name, found):
    return ("{label}: the judgement `{name}` must be among `judgements`, which are {found}: add the target that makes it. Without it " +
            "nothing would say that it was judged.").format(label = label, name = name, found = found)

def judgement_of_another(label, name, what, expected, found):
    return ("{label}: the judgement `{name}` must be about the {what} of this gate, {expected}, but it is about {found}: name the " +
            "judgement that was made for this gate.").format(
        label = label,
        name = name,
        what = what,
        expected = expected.short_path if expected else "none",
        found = found.short_path if found else "none",
    )

def judgement_without_rule(name):
    return ("coreml_encoder_gate: no part of it makes the judgement `{name}`, which tools/base/judgements registers: add one to _PARTS " +
            "in gate/private/coreml_encoder_gate.bzl.").format(name = name)
