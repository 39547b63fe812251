"""recording: audio, with its language and whether its words may be shown."""

load("//gate/private:checks.bzl", "check_language")
load("//gate/private/providers:recording_info.bzl", "RecordingInfo")

visibility("//gate/...")

def _recording_impl(ctx):
    check_language(ctx.label, ctx.attr.language)
    return [
        DefaultInfo(files = depset([ctx.file.audio])),
        RecordingInfo(
            name = ctx.label.name,
            audio = ctx.file.audio,
            language = ctx.attr.language,
            public = ctx.attr.public,
            silence = ctx.attr.silence,
            human = ctx.attr.human,
        ),
    ]

recording = rule(
    implementation = _recording_impl,
    doc = """One recording for whisper_words.

Unless it is public, its words are compared inside the action that hears them, and digests and
counts are all that leaves it; it is then called by its audio's digest.""",
    attrs = {
        "audio": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The audio, in a format that whisper-cli decodes: wav, mp3, flac or ogg.",
        ),
        "language": attr.string(
            mandatory = True,
            doc = "Spoken language, as whisper-cli's `--language` takes it, e.g. `en`.",
        ),
        "public": attr.bool(
            doc = "Whether name and words may be published.",
        ),
        "silence": attr.bool(
            doc = "Whether nothing is spoken in it, so that an empty transcript is right.",
        ),
        "human": attr.string(
            doc = "What a person wrote down. A separate, informative column that no verdict reads.",
        ),
    },
    provides = [RecordingInfo],
)
