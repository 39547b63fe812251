"""What rules refuse at analysis. Each message names the target, the attribute, what was expected, what was found, what to do."""

load("//gate/private:messages.bzl", "fault_on_physical")
load("//gate/private:refusal.bzl", "refusal")

visibility("//gate/...")

_DIGITS = "0123456789"

def unsupported_platform(label, system):
    return refusal(
        label,
        "--platforms",
        "a platform of Linux or macOS, on x86_64 or arm64",
        system,
        "whisper-cli is neither built nor run there. Give --platforms one of Linux or macOS, and workers of that kind (docs/remote.md).",
    )

def two_bridges(label, bridges):
    return refusal(
        label,
        "binary",
        "a program that links one bridge",
        "those of the lanes " + " and ".join(bridges),
        "Depend on @rules_coreml_gate//gate/toolchains:bridge alone, which is the bridge of the lane.",
    )

def check_bridge(label, cli, lane):
    """Fails if a program links another lane's bridge than the lane that it would run on.

    Args:
      label: of the target that runs it.
      cli: its WhisperCliInfo.
      lane: the lane that was resolved.
    """
    wanted = "" if cli.flavour == "ggml" else lane
    if cli.bridge != wanted:
        fail(refusal(
            label,
            "cli",
            "a whisper-cli of flavour {} that links {}".format(cli.flavour, "the bridge of the {} lane".format(wanted) if wanted else "no bridge"),
            "the bridge of the {} lane".format(cli.bridge) if cli.bridge else "none",
            ("The Core ML toolchain and the bridge were resolved for different machines: give --platforms a platform whose " +
             "constraints name both, such as a core_ml_worker. A fork depends on @rules_coreml_gate//gate/toolchains:bridge."),
        ))

def check_pin(label, attribute, cli, other):
    """Fails if two programs of one gate are of different pins.

    Args:
      label: of the target.
      attribute: that names the other program.
      cli: WhisperCliInfo of the program.
      other: WhisperCliInfo of the other one.
    """
    if cli.pin.pin != other.pin.pin:
        fail(refusal(
            label,
            attribute,
            "a whisper-cli of the pin of `cli`, {}".format(cli.pin.pin.short_path),
            other.pin.pin.short_path,
            "Take both from one repository: @whisper_cpp, or your fork.",
        ))

def check_flavour(label, attribute, cli, flavour):
    """Fails if a program is of another flavour than an attribute wants.

    Args:
      label: of the target.
      attribute: that names the program.
      cli: its WhisperCliInfo.
      flavour: that is wanted.
    """
    if cli.flavour != flavour:
        fail(refusal(
            label,
            attribute,
            "a whisper-cli of flavour {}".format(flavour),
            cli.flavour,
            "Name `:whisper_cli_{}` of the pin's repository.".format(flavour),
        ))

def check_recordings(label, recordings, probe):
    """Fails if recordings could not be told apart, or if the probe says nothing.

    Args:
      label: of the target.
      recordings: dict of RecordingInfo by label.
      probe: label of the probe, None if there is none.
    """
    names = {}
    for other, info in recordings.items():
        if info.name in names:
            fail(refusal(
                label,
                "recordings",
                "a name of its own for each, since evidence calls them by it",
                "two called `{}`: {} and {}".format(info.name, names[info.name], other),
                "Rename one of the recording targets.",
            ))
        names[info.name] = other
    if probe and recordings[probe].silence:
        fail(refusal(
            label,
            "probe",
            "a recording in which something is spoken",
            "{}, which is silence".format(probe),
            "Name another: all sides agree on silence.",
        ))

def check_warm_up(label, kind, warm_up):
    """Fails if a run that has to be the first is to be warmed up.

    Args:
      label: of the target.
      kind: of the run.
      warm_up: what the attribute holds.
    """
    if warm_up and kind != "coreml":
        fail(refusal(
            label,
            "warm_up",
            "false for a run of kind {}".format(kind),
            "true",
            "Leave it out: a canary has one attempt, and a contrast run loads no Core ML.",
        ))

def check_fault(label, fault, lane):
    """Fails if a fault of the double is asked of another lane.

    Args:
      label: of the target.
      fault: what the attribute holds.
      lane: the lane that was resolved.
    """
    if fault != "none" and lane != "emulated":
        fail(fault_on_physical(label, fault))

def is_version(text):
    """Whether a text is a version: one to three numbers with dots between."""
    parts = text.split(".")
    return len(parts) <= 3 and not [p for p in parts if not p or p.strip(_DIGITS) or (len(p) > 1 and p[0] == "0") or len(p) > 4]

def check_version(label, attribute, value):
    """Fails if an attribute is not a version.

    Args:
      label: of the target.
      attribute: its name.
      value: what it holds; empty is left to others.
    """
    if value and not is_version(value):
        fail(refusal(label, attribute, "a version in digits, such as `15.6`", "`{}`".format(value), "Write what the tool prints, without a name or a build."))

def check_minimum_macos(label, minimum):
    """Fails if an attribute that names the oldest macOS is not a version.

    Args:
      label: of the target.
      minimum: what the attribute holds; empty is allowed.
    """
    if minimum and not is_version(minimum):
        fail(refusal(
            label,
            "minimum_macos",
            "a version of macOS in digits, such as `13.0`",
            "`{}`".format(minimum),
            "Write the version and not its name; sw_vers -productVersion prints it.",
        ))

def check_range(label, attribute, value, low, high, do):
    """Fails if a number is out of its range.

    Args:
      label: of the target.
      attribute: its name.
      value: what it holds.
      low: the least that is allowed.
      high: the most.
      do: what to do.
    """
    if value < low or value > high:
        fail(refusal(label, attribute, "a number from {} to {}".format(low, high), str(value), do))

def check_run(label, threads, deadline_seconds, language):
    """Fails on settings of a run with which whisper-cli would do something else than was meant.

    Args:
      label: of the target.
      threads: of whisper-cli.
      deadline_seconds: of the run.
      language: that is spoken.
    """
    check_range(label, "threads", threads, 1, 512, "Give the number of processors that a run may have, such as 2.")
    check_range(label, "deadline_seconds", deadline_seconds, 1, 86400, "Give whole seconds: a first load on a device may take minutes.")
    check_language(label, language)

def check_language(label, language):
    """Fails if a spoken language is not given as whisper-cli takes it.

    Args:
      label: of the target.
      language: what the attribute holds.
    """
    lower = "abcdefghijklmnopqrstuvwxyz"
    if language == "auto" or not language or language.strip(lower) or len(language) > 20:
        fail(refusal(
            label,
            "language",
            "one language as whisper-cli takes it, such as `en`",
            "`{}`".format(language),
            "Name the language: with `auto` a model guesses, and two runs may guess differently.",
        ))

def check_name(label, attribute, value, allowed, do):
    """Fails if a value is not one of those that are known.

    Args:
      label: of the target.
      attribute: its name.
      value: what it holds.
      allowed: list of what is known.
      do: what to do.
    """
    if value not in allowed:
        fail(refusal(label, attribute, "one of " + ", ".join(allowed), "`{}`".format(value), do))

# Frozen policies of //gate/policy, by kind.
PARITY_POLICIES = ["fp32_v2", "fp16_v1", "int8_v1", "int4_v1", "ggml_v1", "ggml_flash_v1"]
WORDS_POLICIES = ["words_v1", "words_v2"]
PLACEMENT_POLICIES = ["placement_plan_v1", "placement_trace_v1"]

def check_policy(label, attribute, value, allowed):
    """Fails if a policy is not a frozen one of its kind.

    Args:
      label: of the target.
      attribute: its name.
      value: what it holds.
      allowed: names of the frozen policies of the kind.
    """
    check_name(label, attribute, value, allowed, "A policy is chosen by its name in //gate/policy; docs/parity.md, docs/transcripts.md and docs/placement.md say what each demands.")

def check_stand_in(label, lane, stand_in):
    """Fails if the stand-in for Core ML is given on the lane that has Core ML itself.

    Args:
      label: of the target.
      lane: that was resolved.
      stand_in: the attribute, or None.
    """
    if stand_in and lane != "emulated":
        fail(refusal(
            label,
            "stand_in",
            "none on the {} lane, which asks Core ML itself".format(lane),
            "`{}`".format(stand_in.label),
            "Leave it out; it is for tests on the emulated lane.",
        ))

_HEX = "0123456789abcdef"

def check_sha256(label, attribute, digest):
    """Fails if an attribute is no SHA-256.

    Args:
      label: of the target.
      attribute: its name.
      digest: what it holds.
    """
    if len(digest) != 64 or digest.strip(_HEX):
        fail(refusal(
            label,
            attribute,
            "a SHA-256 of 64 lower-case hexadecimal digits",
            "`{}`".format(digest),
            "sha256sum FILE prints it.",
        ))

_ARCHIVES = [".tar.gz", ".tgz", ".tar", ".zip"]

def archive_stem(name):
    """The name of an archive without the ending that says that it is one.

    Args:
      name: of a file.

    Returns:
      A string, empty for other files.
    """
    for ending in _ARCHIVES:
        if name.endswith(ending):
            return name.removesuffix(ending)
    return ""

def check_archive(label, attribute, name):
    """Fails if a file is not an archive by its name.

    Args:
      label: of the target.
      attribute: that names it.
      name: of the file.
    """
    if not archive_stem(name):
        fail(refusal(
            label,
            attribute,
            "a file whose name ends in .zip, .tar, .tar.gz or .tgz",
            "`{}`".format(name),
            "Name the archive as it was published; give an unpacked folder to `package` of coreml_encoder as it is.",
        ))

def digest_without_archive(label, package):
    return refusal(
        label,
        "package_sha256",
        "an archive in `package`: a name that ends in .zip, .tar, .tar.gz or .tgz",
        "`{}`".format(package),
        "Leave `package_sha256` out: Bazel hashes the files of a folder itself.",
    )

def sidecar_of(reference):
    """Where the sidecar of a reference is unless one is named: under its name with `.json` after it."""
    return str(reference) + ".json" if reference else None

def check_reference(label, reference, sidecar):
    """Fails if a reference of an encoder's numbers is given without what says where it is from.

    Args:
      label: of the target.
      reference: a File, or None.
      sidecar: a File, or None.
    """
    if bool(reference) != bool(sidecar):
        fail(refusal(
            label,
            "reference_sidecar" if reference else "reference",
            "a reference and its sidecar, or neither",
            "`{}` alone".format("reference" if reference else "reference_sidecar"),
            "tools/dev/peers/run source-reference writes both; docs/parity.md has the sidecar's fields.",
        ))

def archive_without_digest(label, found):
    return refusal(
        label,
        "package",
        "a folder, or an archive with its SHA-256",
        "the archive `{}`".format(found),
        "Unpack it with coreml_archive(archive, sha256), or set `package_sha256` of coreml_encoder_gate.",
    )
