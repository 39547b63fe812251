"""The module extension `whisper`: pinned upstream source and pinned models."""

load(":core_ml_host_repo.bzl", "core_ml_host_repo")
load(":coreml_encoder_repo.bzl", "coreml_encoder_repo")
load(":messages.bzl", "bad_fork_name", "bad_patch_label", "bad_pin", "repository_taken", "unknown_pin")
load(":objective_c_host_repo.bzl", "objective_c_host_repo")
load(":speech_repo.bzl", "speech_repo")
load(":whisper_cpp_repo.bzl", "whisper_cpp_repo")
load(":whisper_model_repo.bzl", "whisper_model_repo")
load(":whisper_models_repo.bzl", "whisper_models_repo")

visibility("//gate/...")

_PIN = "WHISPER_CPP_PIN"
_MODELS = Label("//third_party/whisper_models:models.json")
_MODEL_REPO = "whisper_model_"
_ENCODER_REPO = "whisper_encoder_"
_OURS = "@rules_coreml_gate//patches:"
_SPEECH = Label("//third_party/speech:sources.json")

# What holds when no module says otherwise.
_DEFAULT = struct(
    name = "whisper_cpp",
    pins = [
        Label("//third_party/whisper_cpp/pins:97c56f1d.json"),
        Label("//third_party/whisper_cpp/pins:v1.9.1.json"),
    ],
    overlay = Label("//third_party/whisper_cpp/overlay:whisper_cpp.BUILD"),
)

_PIN_KEYS = ["name", "commit", "tree", "supported", "urls", "manifest", "patch", "patched_file", "versions"]

# Patches of the pin's owner, which upstream's own pins have none of.
_OPTIONAL_PIN_KEYS = ["patches"]

def _read_pin(mctx, label):
    pin = json.decode(mctx.read(mctx.path(label)), None)
    keys = [k for k in pin.keys() if k not in _OPTIONAL_PIN_KEYS] if type(pin) == "dict" else []
    if sorted(keys) != sorted(_PIN_KEYS):
        fail(bad_pin(label, "expected a JSON object with exactly the fields {}, and maybe {}, found {}".format(
            ", ".join(_PIN_KEYS),
            ", ".join(_OPTIONAL_PIN_KEYS),
            ", ".join(pin.keys()) if type(pin) == "dict" else "no JSON object",
        )))
    return pin

def _patch_label(pin, text):
    """The file of a patch that the pin `pin` names: one of the pin's own repository, or one of this project's."""
    if text.startswith(_OURS):
        return Label(text.removeprefix("@rules_coreml_gate"))
    if not text.startswith("//"):
        fail(bad_patch_label(pin, text))
    return Label("@@{}{}".format(pin.repo_name, text))

def _pinned_repo(name, label, pin, overlay):
    """Makes the repository of one pin."""
    whisper_cpp_repo(
        name = name,
        short_name = name,
        pin = label,
        manifest = label.same_package_label(pin["manifest"]["file"]),
        patch = _patch_label(label, pin["patch"]["label"]),
        patches = [_patch_label(label, p["label"]) for p in pin.get("patches", [])],
        overlay = overlay,
    )

def _whisper_cpp(mctx, tag):
    """Makes the repository of the one pin that is chosen."""
    pins = {}
    for label in tag.pins:
        pin = _read_pin(mctx, label)
        pins[pin["name"]] = (label, pin)
    wanted = mctx.getenv(_PIN, "") or list(pins.keys())[0]
    if wanted not in pins:
        fail(unknown_pin(wanted, pins.keys()))
    label, pin = pins[wanted]
    _pinned_repo(tag.name, label, pin, tag.overlay)

def _forks(mctx):
    """Makes the repository of each fork, beside upstream's."""
    for tag in _one_of_each_name(mctx, "fork"):
        name = tag.name
        if name == "whisper_cpp" or not name[:1].islower() or name.strip("abcdefghijklmnopqrstuvwxyz0123456789_"):
            fail(bad_fork_name(name))
        _pinned_repo(name, tag.pin, _read_pin(mctx, tag.pin), tag.overlay)

def _one_of_each_name(mctx, kind):
    """The tags of one class by name. The root module's word counts; others must agree."""
    chosen = {}
    for module in mctx.modules:
        for tag in getattr(module.tags, kind):
            settings = {a: getattr(tag, a) for a in dir(tag)}
            if tag.name not in chosen:
                chosen[tag.name] = (module, tag, settings)
                continue
            first, _, taken = chosen[tag.name]
            if taken != settings and not first.is_root:
                fail(repository_taken(tag.name, [first.name, module.name]))
    return [tag for _, tag, _ in chosen.values()]

def _models(mctx):
    """Models by name: this project's own, and those of every module that asks."""
    models = {
        name: struct(name = name, **model)
        for name, model in json.decode(mctx.read(mctx.path(_MODELS))).items()
    }
    for tag in _one_of_each_name(mctx, "whisper_model"):
        models[tag.name] = tag
    return models

def _speech(mctx):
    """Repositories of recordings: this project's own, by source, and those of every module that asks."""
    for name, source in json.decode(mctx.read(mctx.path(_SPEECH))).items():
        speech_repo(
            name = "whisper_speech_" + name,
            files = source["files"],
            urls = {
                file: [source["url_prefix"] + file.removeprefix(source["strip_prefix"])]
                for file in source["files"]
                if source["url_prefix"]
            },
        )
    for tag in _one_of_each_name(mctx, "speech"):
        speech_repo(
            name = tag.name,
            files = {tag.file: tag.sha256},
            urls = {tag.file: tag.urls} if tag.urls else {},
        )

def _whisper_impl(mctx):
    _whisper_cpp(mctx, (_one_of_each_name(mctx, "whisper_cpp") or [_DEFAULT])[0])
    _forks(mctx)
    models = _models(mctx)
    for name, model in models.items():
        whisper_model_repo(
            name = _MODEL_REPO + name,
            file = model.file,
            sha256 = model.sha256,
            urls = model.urls,
        )
    whisper_models_repo(name = "whisper_models", models = {n: "@{}{}//:model".format(_MODEL_REPO, n) for n in models})
    encoders = {tag.name: tag for tag in _one_of_each_name(mctx, "encoder")}
    for name, encoder in encoders.items():
        coreml_encoder_repo(
            name = _ENCODER_REPO + name,
            file = encoder.file,
            sha256 = encoder.sha256,
            urls = encoder.urls,
        )
    whisper_models_repo(name = "whisper_encoders", models = {n: "@{}{}//:encoder".format(_ENCODER_REPO, n) for n in encoders})
    _speech(mctx)
    core_ml_host_repo(name = "core_ml_host")
    objective_c_host_repo(name = "objective_c_host")

whisper = module_extension(
    implementation = _whisper_impl,
    doc = """Repositories `whisper_cpp`, `whisper_models`, `whisper_encoders`, `whisper_speech_*`, `core_ml_host` and `objective_c_host`, and one a fork.

Upstream source, models, encoders and recordings are pinned by content; where a machine gets them from is its own affair.""",
    environ = [_PIN],
    tag_classes = {
        "whisper_cpp": tag_class(
            doc = "Other pins of upstream than this project's. At most one module's word counts, the root's before others.",
            attrs = {
                "name": attr.string(default = "whisper_cpp", values = ["whisper_cpp"], doc = "Always `whisper_cpp`: a build has one."),
                "pins": attr.label_list(
                    default = _DEFAULT.pins,
                    doc = "Pins, the default first; `--repo_env=WHISPER_CPP_PIN=` chooses. A pin's manifest is beside it.",
                ),
                "overlay": attr.label(
                    default = _DEFAULT.overlay,
                    doc = "The BUILD file of the repository.",
                ),
            },
        ),
        "fork": tag_class(
            doc = "A whisper.cpp of your own beside upstream's, in a repository of its own (docs/fork.md). Its receipts say `unsupported`.",
            attrs = {
                "name": attr.string(mandatory = True, doc = "Of the repository, such as `my_whisper`; `@my_whisper//:whisper_cli_coreml` is its program."),
                "pin": attr.label(mandatory = True, doc = "Its pin, which `coregate pin make` writes. The pin's manifest is beside it."),
                "overlay": attr.label(
                    default = _DEFAULT.overlay,
                    doc = "The BUILD file of the repository.",
                ),
            },
        ),
        "encoder": tag_class(
            doc = "A ready Core ML encoder, an archive: from `urls`, or from the folder that `--repo_env=WHISPER_ENCODERS_DIR=` names.",
            attrs = {
                "name": attr.string(mandatory = True, doc = "Its target, the `.mlmodelc`, is `@whisper_encoders//:<name>`."),
                "file": attr.string(mandatory = True, doc = "The file name as it was published, such as `ggml-tiny.en-encoder.mlmodelc.zip`."),
                "sha256": attr.string(mandatory = True, doc = "SHA-256 of the file."),
                "urls": attr.string_list(doc = "Where to download it from, in order of preference."),
            },
        ),
        "speech": tag_class(
            doc = "A recording: from `urls`, or from the folder that `--repo_env=WHISPER_SPEECH_DIR=` names.",
            attrs = {
                "name": attr.string(mandatory = True, doc = "Of the repository; its target is `@<name>//:files`."),
                "file": attr.string(mandatory = True, doc = "Path below the folder; whisper-cli goes by its ending."),
                "sha256": attr.string(mandatory = True, doc = "SHA-256 of the file."),
                "urls": attr.string_list(doc = "Where to download it from, in order of preference."),
            },
        ),
        "whisper_model": tag_class(
            doc = "A ggml model: from `urls`, or from the folder that `--repo_env=WHISPER_MODELS_DIR=` names.",
            attrs = {
                "name": attr.string(mandatory = True, doc = "Its target is `@whisper_models//:<name>`."),
                "file": attr.string(mandatory = True, doc = "The official file name, such as `ggml-tiny.en.bin`."),
                "sha256": attr.string(mandatory = True, doc = "SHA-256 of the file."),
                "urls": attr.string_list(doc = "Where to download it from, in order of preference."),
            },
        ),
    },
)
