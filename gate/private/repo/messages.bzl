"""Messages of the repository phase. Each names the thing, what was expected, what was found and what to do."""

visibility("//gate/...")

def digest_differs(thing, expected, found, remedy):
    return "{thing}: expected SHA-256 {expected}, found {found}. {remedy}".format(
        thing = thing,
        expected = expected,
        found = found,
        remedy = remedy,
    )

def manifest_differs(name, path, expected, found):
    return digest_differs(
        "content manifest of pin {} ({})".format(name, path),
        expected,
        found,
        "The manifest was edited without its pin, or damaged: restore it from version control, or make a new pin with `coregate pin manifest`.",
    )

def file_differs(name, path, origin, expected, found):
    return digest_differs(
        "{} of pin {}, from {}".format(path, name, origin),
        expected,
        found,
        "This is not the pinned source: give the archive or checkout of the pinned commit, or choose the pin that it belongs to " +
        "with --repo_env=WHISPER_CPP_PIN=. A fork takes its own by --repo_env=WHISPER_CPP_ARCHIVE_<ITS NAME>=.",
    )

def archive_escapes(name, origin, found):
    return ("{origin} unpacked files outside of its own folder: {found}. Expected every name in it to stay inside. It is not upstream's " +
            "archive for pin {name}: do not use it, and look for what else it wrote on this machine.").format(
        origin = origin,
        found = ", ".join(found),
        name = name,
    )

def files_missing(name, origin, root, missing):
    return ("{origin} lacks {count} file(s) that pin {name} names, the first: {first}. Expected all of them below `{root}`. Give an " +
            "archive or a checkout of the whole upstream tree by --repo_env=WHISPER_CPP_ARCHIVE=.").format(
        origin = origin,
        count = len(missing),
        name = name,
        first = ", ".join(missing[:5]),
        root = root,
    )

def anchor_missing(name, origin, anchor, looked):
    return ("{origin} holds no `{anchor}`, which pin {name} needs: looked through {looked} folders, at most eight deep. Expected a " +
            "whisper.cpp source tree, at any depth: check what --repo_env=WHISPER_CPP_ARCHIVE= names.").format(
        origin = origin,
        anchor = anchor,
        name = name,
        looked = looked,
    )

def patch_differs(name, label, expected, found):
    return digest_differs(
        "patch {} of pin {}".format(label, name),
        expected,
        found,
        "A patch is identified by its bytes: restore the file (line endings and blob names included; see patches/README.md).",
    )

def patch_malformed(label, line, text, why):
    return ("patch {label}, line {line}: {why}, found `{text}`. Expected a plain git diff of one existing file: make it as " +
            "patches/README.md says.").format(label = label, line = line, why = why, text = text)

def patch_touches(label, expected, found):
    return ("patch {label} must touch exactly one file, `{expected}`, found {count}: {found}. Split the patch, or correct the pin's " +
            "`patched_file`.").format(label = label, expected = expected, count = len(found), found = ", ".join(found) or "none")

def further_patch_touches(label, name, expected, found):
    return ("patch {label} of pin {name} must touch exactly the files that the pin says it leaves, each once: expected {expected}, found " +
            "{found}. Make the pin again with `coregate pin make`.").format(
        label = label,
        name = name,
        expected = ", ".join(expected),
        found = ", ".join(found) or "none",
    )

def further_patch_unlisted(label, name, found):
    return ("patch {label} of pin {name} touches {found}, which the content manifest does not list. Expected files that the build reads: " +
            "make the pin again with `coregate pin make --also PATH`.").format(label = label, name = name, found = found)

def patched_file_differs(name, path, expected, found):
    return digest_differs(
        "patched {} of pin {}".format(path, name),
        expected,
        found,
        "The patch applied, and its result is not the pinned one: the pin's source, patch and result do not belong together. Check " +
        "the pin with `coregate pin verify`.",
    )

def download_failed(name, urls, variable, what):
    return ("{name}: could not be downloaded from {urls}. Without access to these addresses, name {what} by " +
            "--repo_env={variable}=/absolute/path.").format(
        name = name,
        urls = ", ".join(urls) or "(no address is given)",
        what = what,
        variable = variable,
    )

def not_absolute(variable, found):
    return ("{variable} must be an absolute path, found `{found}`: repository rules run in no particular folder. Write " +
            "--repo_env={variable}=/absolute/path.").format(variable = variable, found = found)

def path_missing(variable, found):
    return "{variable} names `{found}`, which does not exist. Correct the path, or leave {variable} unset to download.".format(
        variable = variable,
        found = found,
    )

def file_missing(kind, file, folder, variable):
    return ("{kind} {file} has no `urls`, and {where}. Put the official file under that name into a folder and name the folder by " +
            "--repo_env={variable}=/absolute/path, or give `urls`.").format(
        kind = kind,
        file = file,
        variable = variable,
        where = "`{}`, which {} names, does not hold it".format(folder, variable) if folder else variable + " is not set",
    )

def pinned_file_differs(kind, file, origin, expected, found):
    return digest_differs(
        "{} {}, from {}".format(kind, file, origin),
        expected,
        found,
        "This is not the pinned {}: fetch the official file again (a file of some hundred bytes is an LFS pointer).".format(kind),
    )

def speech_missing(file, folder):
    return ("recording {file} has no address, and {where}. Make the folder of recordings with tools/dev/peers/speech_fixtures.py, or put the " +
            "file there, and name the folder by --repo_env=WHISPER_SPEECH_DIR=/absolute/path.").format(
        file = file,
        where = "`{}` does not hold it".format(folder) if folder else "WHISPER_SPEECH_DIR is not set",
    )

def speech_differs(file, origin, expected, found):
    return digest_differs(
        "recording {}, from {}".format(file, origin),
        expected,
        found,
        "Transcripts are of the pinned bytes: give the pinned recording, or pin this one and make its transcripts anew.",
    )

def bad_speech_path(name, found):
    return "recordings of {name}: a path must be relative and plain, found `{found}`: correct it where it is pinned.".format(
        name = name,
        found = found,
    )

def bad_digest(thing, found):
    return "{thing}: expected 64 lower-case hexadecimal digits of a SHA-256, found `{found}`. Correct the pin.".format(thing = thing, found = found)

def bad_manifest_line(path, number, line):
    return ("content manifest {path}, line {number}: expected `<64 hexadecimal digits>  <relative path>`, sorted by path and unique, " +
            "found `{line}`. Make the manifest with `coregate pin manifest`.").format(path = path, number = number, line = line)

def bad_file_name(kind, name, endings, found):
    return "{kind} {name}: `file` must be a plain file name that ends in {endings}, found `{found}`. Keep the official name.".format(
        kind = kind,
        name = name,
        endings = " or ".join(["`{}`".format(e) for e in endings]),
        found = found,
    )

def unknown_pin(wanted, known):
    return "WHISPER_CPP_PIN is `{wanted}`; the known pins are: {known}. Choose one with --repo_env=WHISPER_CPP_PIN=.".format(
        wanted = wanted,
        known = ", ".join(known),
    )

def bad_pin(path, why):
    return "pin {path}: {why}. See third_party/whisper_cpp/pins for the form of a pin.".format(path = path, why = why)

def bad_fork_name(name):
    return ("whisper.fork: `name` must be lower-case letters, digits and underscores that begin with a letter, and not `whisper_cpp`, " +
            "found `{}`. It names a repository of yours; upstream's own stays beside it.").format(name)

def bad_patch_label(path, found):
    return ("pin {}: a patch's `label` must begin with `//`, for a file of the pin's own repository, or with `@rules_coreml_gate//patches:`, " +
            "found `{}`. Correct the pin.").format(path, found)

def repository_taken(name, modules):
    return ("repository `{name}` is asked for by modules {modules} with different settings. The root module may decide: write its tag " +
            "there.").format(name = name, modules = " and ".join(modules))
