#!/usr/bin/env python3
"""Makes recordings with known words on this machine, from free recordings (Debian packages them) and upstream's sample.

    tools/dev/peers/speech_fixtures.py OUT [--sources DIR] [--whisper-cpp DIR] [--install]

Writes OUT/*.wav, *.flac, *.mp3 and OUT/fixtures.json, which lists each with language, words, what it is there for and
SHA-256. No recording is part of this repository. Sources, all free (third_party/speech/README.md):
  pocketsphinx-testdata   LibriVox readings of "Sense and Sensibility" (public domain), playing cards, commands, digits
  alsa-utils              spoken channel names, and noise
  espeak-ng               sentences of this project's own in other languages, as synthetic speech
  whisper.cpp samples     jfk.wav or jfk.mp3 (United States government, public domain), with --whisper-cpp
--install installs the three packages with apt-get (as root); --sources names a folder that stands for the root of
their files. What is made of the first two is made by tools/actions/gate_speech, as in the build. A voice that another
espeak-ng speaks otherwise is listed as "unpinned", since the checked-in transcripts are not of it.

As a folder for --repo_env=WHISPER_SPEECH_DIR=, give one that has the packages' files under their own paths (/ is one
where the packages are installed) and the espeak-*.wav files of OUT.
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[3]
PINNED = json.loads((PROJECT / "third_party/speech/sources.json").read_text())["spoken"]["files"]

# Voice of espeak-ng, words a minute, sentences of our own. third_party/speech pins what version 1.51 speaks.
SPOKEN = {
    "de": ("de", 160, "Am Montag fahren wir mit dem Zug nach Berlin. Das Wetter ist heute sehr schön. Meine Schwester kommt morgen mit ihren Kindern."),
    "es": ("es", 120, "Buenos días, me llamo María. Hoy vamos a visitar el museo. Mañana va a llover todo el día."),
    "it": ("it", 120, "Buongiorno, mi chiamo Maria. Oggi andiamo a visitare il museo. Domani pioverà tutto il giorno."),
    "pt": ("pt", 120, "Bom dia, meu nome é Maria. Hoje vamos visitar o museu. Amanhã vai chover o dia todo."),
    "pl": ("pl", 160, "Dzień dobry, nazywam się Maria. Dzisiaj idziemy do muzeum. Jutro będzie padać cały dzień."),
    "ru": ("ru", 120, "Доброе утро, меня зовут Мария. Сегодня мы идём в музей. Завтра весь день будет дождь."),
}

JFK_WORDS = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"


def entry(out, name, file, language, words, why):
    sha256 = hashlib.sha256((out / file).read_bytes()).hexdigest()
    return {"name": name, "file": file, "language": language, "sha256": sha256, "human": words, "silence": False, "why": why}


def jfk(out, whisper_cpp):
    for suffix, why in ((".wav", "speech"), (".mp3", "speech as mp3")):
        source = whisper_cpp / "samples" / f"jfk{suffix}"
        if source.exists():
            shutil.copyfile(source, out / f"jfk{suffix}")
            yield entry(out, f"jfk-{suffix[1:]}", f"jfk{suffix}", "en", JFK_WORDS, why)


def spoken(out):
    for language, (voice, speed, text) in SPOKEN.items():
        file = f"espeak-{language}.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-w", str(out / file), text], check=True)
        made = entry(out, f"espeak-{language}", file, language, text, "synthetic speech at 22050 Hz")
        if made["sha256"] != PINNED[file]:
            made["why"] += ", unpinned"
        yield made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sources", type=pathlib.Path, default=pathlib.Path("/"), help="a folder that holds the packages' files under their own paths")
    parser.add_argument("--whisper-cpp", type=pathlib.Path, help="a folder with samples/jfk.wav or samples/jfk.mp3")
    parser.add_argument("--install", action="store_true", help="install the Debian packages first")
    args = parser.parse_args()
    if args.install:
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "pocketsphinx-testdata", "alsa-utils", "espeak-ng"], check=True, stdout=sys.stderr)
    out = args.out.resolve()
    folders = [args.sources.resolve() / folder for folder in ("usr/share/pocketsphinx", "usr/share/sounds")]
    subprocess.run(["go", "run", "./tools/actions/gate_speech", f"--out={out}", *map(str, folders)], check=True, cwd=PROJECT)
    listed = json.loads((out / "fixtures.json").read_text())
    if args.whisper_cpp:
        listed["fixtures"][:0] = jfk(out, args.whisper_cpp)
    listed["fixtures"] += spoken(out)
    (out / "fixtures.json").write_text(json.dumps(listed, ensure_ascii=False, indent=1) + "\n")
    print(f"{len(listed['fixtures'])} recordings in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
