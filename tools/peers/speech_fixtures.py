#!/usr/bin/env python3
"""Makes recordings with known words on this machine, from Debian's packages and upstream's sample.

    tools/peers/speech_fixtures.py OUT [--whisper-cpp DIR] [--install]

Writes OUT/*.wav, *.flac, *.mp3 and OUT/fixtures.json, which lists each with language, words, what it is there for and
SHA-256. No recording is part of this repository. Sources, all free:
  pocketsphinx-testdata   LibriVox readings of "Sense and Sensibility" (public domain), playing cards, commands, digits
  alsa-utils              spoken channel names, and noise
  espeak-ng               sentences of this project's own in other languages, as synthetic speech
  whisper.cpp samples     jfk.wav or jfk.mp3 (United States government, public domain), with --whisper-cpp
--install installs the three packages with apt-get (as root). Files are made with Python's standard library only, and
from the same packages to the same bytes: a source package that is not the pinned one is refused, and a voice that
another espeak-ng speaks otherwise is listed as "unpinned", since the checked-in transcripts are not of it.
"""

import argparse
import array
import hashlib
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import wave

SPHINX = pathlib.Path("/usr/share/pocketsphinx/test/data")
ALSA = pathlib.Path("/usr/share/sounds/alsa")
LIBRIVOX = "librivox/sense_and_sensibility_01_austen_64kb-"

# Name: source, SHA-256 of the source, words as its makers give them (None where they give none).
RECORDED = {
    "librivox-0870": (SPHINX / f"{LIBRIVOX}0870.wav", "b0557cf95c974d930577e58e46b7f068c432a6e3afcc286563d88922b2a5315c",
        "and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them"),
    "librivox-0880": (SPHINX / f"{LIBRIVOX}0880.wav", "fbec491ef00ee734a67f0ee318e98c51c157b479e1629ff4f4426861ecac0414",
        "he was not an ill disposed young man"),
    "librivox-0890": (SPHINX / f"{LIBRIVOX}0890.wav", "5793ffbdee55fb8bfd284943a6866864c832d9d4accf2661cabd39915c84ee10",
        "unless to be rather cold hearted and rather selfish is to be ill disposed"),
    "librivox-0920": (SPHINX / f"{LIBRIVOX}0920.wav", "40882414ef4cc51f3ff7a63bad0c8c87e7f595ffeb8209fbf756c8ebc5c28a59",
        "had he married a more amiable woman he might have been made still more respectable than he was"),
    "librivox-0930": (SPHINX / f"{LIBRIVOX}0930.wav", "954adbf0b56ac8a148cbe77b39ca18d76b5f2a1e1f405565bd786ce3e68a68b7",
        "he might even have been made amiable himself"),
    "cards-001": (SPHINX / "cards/001.wav", "899951e768666f27c8f8b1d4090b96fe7909cae9cec01bec0a5d5d1b8a8d566e",
        "ten of clubs"),
    "cards-002": (SPHINX / "cards/002.wav", "a3f9eae6fdb69a1231989e39a14d62388a6f52fb59666c76d95005318fadafec",
        "four queen of clubs"),
    "cards-003": (SPHINX / "cards/003.wav", "00d283e46bc257ae479e4aa86593cadb541656eba1d19fc8abeece37f6a5a18b",
        "seven of clubs"),
    "cards-004": (SPHINX / "cards/004.wav", "4c44a8177f5b128b99f078cdeb918119933155574231f1833e8840d1af09c521",
        "five five"),
    "cards-005": (SPHINX / "cards/005.wav", "090f18f5f76cf8b2b43cd9e6b07823f4685a4742d9a36cd98b174a6586c18cf9",
        "eight of spades four of clubs seven of hearts"),
    "goforward": (SPHINX / "goforward.raw", "f15c60ec54059d8b66e410d0064945a0b0a04ea56e1ddca1958e493c0cf70e71",
        "go forward ten meters"),
    "something": (SPHINX / "something.raw", "eb95b74ce3f3037487e49dcfd935bbcf8c158b5f4083dd19451729c3ee694f5f",
        "go somewhere and do something"),
    "numbers": (SPHINX / "numbers.raw", "45b5f6d3f88e36dd55b025cc9e8f1cae567583ea93f554ecdff6d09e6dd4577d",
        None),
    "digits": (SPHINX / "tidigits/dhd.2934z.raw", "60c14412ad1412b83f37061e29c9e76f74cce0f90637debb8087f10cd559e552",
        "two nine three four zero"),
    "front-center": (ALSA / "Front_Center.wav", "0d61518bcd3f13b0c709a5298e939caf698b80d31d71d50475365ee0e5536cc9",
        "front center"),
    "front-left": (ALSA / "Front_Left.wav", "9f97e8458785da2f0aa0ec60bf9cc81520cbf80a4683e83eca9cb5f2958e9fef",
        "front left"),
    "front-right": (ALSA / "Front_Right.wav", "1fdea4d7003f1f7d3e48d3521aaab0a112c4ac570b02ddf1813abacac3070f6f",
        "front right"),
    "rear-center": (ALSA / "Rear_Center.wav", "9343207e3298813fdc4d26b7948e15a38533c37a9f232c3eff809b565398b330",
        "rear center"),
    "rear-left": (ALSA / "Rear_Left.wav", "1679e0557701864d55b742a0abd3fe5f50d95b1bfcb55ffad4b597dcc7e3c7b8",
        "rear left"),
    "rear-right": (ALSA / "Rear_Right.wav", "12828d125f692faa75c7445d52125dcc2c36f82c4f7a3ef49b8ae6afd74ada9d",
        "rear right"),
    "side-left": (ALSA / "Side_Left.wav", "03dc7c641d7825417d2a261831715e945e95d87343fb037db910e7ce4f87a2a1",
        "side left"),
    "side-right": (ALSA / "Side_Right.wav", "ecdd0329945f355960796a56f8126d5080ed93fdd2437c7eaddbbbd56137d7e9",
        "side right"),
}
NOISE = (ALSA / "Noise.wav", "0d897df3862192ea078efc1dd8fdc4f51fae9e93d3ed4c15e049829b0386729e")

# Voice of espeak-ng, words a minute, sentences of our own, SHA-256 of what version 1.51 speaks.
SPOKEN = {
    "de": ("de", 160, "Am Montag fahren wir mit dem Zug nach Berlin. Das Wetter ist heute sehr schön. Meine Schwester kommt morgen mit ihren Kindern.",
           "3ddfe8fffa50456e257aaeb7b55794f34b62d516d97417b3b0e6f523bd41027e"),
    "es": ("es", 120, "Buenos días, me llamo María. Hoy vamos a visitar el museo. Mañana va a llover todo el día.",
           "82afb8c2c0299a7624a7a65018b4d52f28ead439477e781eb1cd1192790e2f62"),
    "it": ("it", 120, "Buongiorno, mi chiamo Maria. Oggi andiamo a visitare il museo. Domani pioverà tutto il giorno.",
           "2ac97f25af0aa7a376b8d6e5fd4199f7c03b7cac81db5123dcbd03ecb3ae40f4"),
    "pt": ("pt", 120, "Bom dia, meu nome é Maria. Hoje vamos visitar o museu. Amanhã vai chover o dia todo.",
           "f77797837cdfc42cf3f20fba83dae20d8cb09ce46008bcf736bbe42f1ffd887e"),
    "pl": ("pl", 160, "Dzień dobry, nazywam się Maria. Dzisiaj idziemy do muzeum. Jutro będzie padać cały dzień.",
           "d4ade133d7fed28f96b21524f5c7bd0b1208a41486ba492ac413a85e6d9c7478"),
    "ru": ("ru", 120, "Доброе утро, меня зовут Мария. Сегодня мы идём в музей. Завтра весь день будет дождь.",
           "cf628926537fea03bc5bcadaf90ce6d8e0320d31a1bcba25322f47b838d881b1"),
}

JFK_WORDS = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"
RATE = 16000


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_mono(path):
    """Samples and rate of a 16-bit mono recording; raw ones are 16 kHz."""
    if path.suffix == ".raw":
        rate, data = RATE, path.read_bytes()
    else:
        with wave.open(str(path)) as w:
            if w.getsampwidth() != 2 or w.getnchannels() != 1:
                sys.exit(f"{path}: expected 16-bit mono, found {8 * w.getsampwidth()}-bit, {w.getnchannels()} channels")
            rate, data = w.getframerate(), w.readframes(w.getnframes())
    samples = array.array("h", data)
    if sys.byteorder == "big":
        samples.byteswap()
    return samples, rate


def write_wav(path, samples, rate=RATE, channels=1):
    samples = array.array("h", samples)
    if sys.byteorder == "big":
        samples.byteswap()
    with wave.open(str(path), "wb") as w:
        w.setnchannels(channels)
        w.setsampwidth(2)
        w.setframerate(rate)
        w.writeframes(samples.tobytes())


def clip(x):
    return max(-32768, min(32767, int(x)))


def decimate(samples, factor):
    """Every factor-th sample after a windowed-sinc low-pass filter."""
    half = 16 * factor
    taps = [(math.sin(math.pi * k / factor) / (math.pi * k) if k else 1 / factor) * (0.5 + 0.5 * math.cos(math.pi * k / (half + 1))) for k in range(-half, half + 1)]
    padded = [0] * half + list(samples) + [0] * half
    return [clip(round(sum(t * padded[i + k] for k, t in enumerate(taps)))) for i in range(0, len(samples), factor)]


def write_flac(path, samples, rate=RATE):
    """16-bit mono FLAC of verbatim subframes: no compression, so the same bytes everywhere (RFC 9639)."""
    def crc(data, bits, polynomial):
        value, top, mask = 0, 1 << (bits - 1), (1 << bits) - 1
        for byte in data:
            value ^= byte << (bits - 8)
            for _ in range(8):
                value = ((value << 1) ^ polynomial if value & top else value << 1) & mask
        return value

    block = 4096
    samples = samples[:len(samples) // block * block]  # whole blocks only: one frame size
    pcm = struct.pack(f"<{len(samples)}h", *samples)
    info = struct.pack(">HH", block, block) + bytes(6) + ((rate << 44) | (0 << 41) | (15 << 36) | len(samples)).to_bytes(8, "big") + hashlib.md5(pcm).digest()
    out = bytearray(b"fLaC" + b"\x80" + len(info).to_bytes(3, "big") + info)
    for frame in range(len(samples) // block):
        if frame >= 128:
            sys.exit("write_flac: more than 128 frames need longer frame numbers")
        header = bytes([0xFF, 0xF8, 0xC5, 0x08, frame])  # 4096 samples, 16 kHz, mono, 16 bit
        body = header + bytes([crc(header, 8, 0x07), 0x02]) + struct.pack(f">{block}h", *samples[frame * block:(frame + 1) * block])
        out += body + crc(body, 16, 0x8005).to_bytes(2, "big")
    path.write_bytes(out)


class Maker:
    def __init__(self, out):
        self.out = out
        self.list = []

    def add(self, name, file, language, words, why, silence=False):
        self.list.append({"name": name, "file": file, "language": language, "sha256": sha256(self.out / file), "human": words or "", "silence": silence, "why": why})

    def recorded(self):
        for name, (source, pinned, words) in RECORDED.items():
            check(source, pinned)
            samples, rate = read_mono(source)
            write_wav(self.out / f"{name}.wav", samples, rate)
            self.add(name, f"{name}.wav", "en", words, "speech" if rate == RATE else f"speech at {rate} Hz")

    def jfk(self, whisper_cpp):
        for suffix, why in ((".wav", "speech"), (".mp3", "speech as mp3")):
            source = whisper_cpp / "samples" / f"jfk{suffix}"
            if source.exists():
                shutil.copyfile(source, self.out / f"jfk{suffix}")
                self.add(f"jfk-{suffix[1:]}", f"jfk{suffix}", "en", JFK_WORDS, why)

    def derived(self):
        books = [read_mono(self.out / f"{n}.wav")[0] for n in RECORDED if n.startswith("librivox")]
        words = [RECORDED[n][2] for n in RECORDED if n.startswith("librivox")]
        pause = array.array("h", [0] * (RATE // 2))
        joined = array.array("h")
        for samples in books * 4:
            joined += samples + pause
        write_wav(self.out / "joined.wav", joined)
        self.add("joined", "joined.wav", "en", " ".join(words * 4), f"{len(joined) / RATE:.0f} s, several windows")
        write_wav(self.out / "clipped.wav", [clip(6 * s) for s in books[0]])
        self.add("clipped", "clipped.wav", "en", words[0], "clipping")
        write_wav(self.out / "stereo.wav", [s for left in books[3] for s in (left, 0)], channels=2)
        self.add("stereo", "stereo.wav", "en", words[3], "two channels, one silent")
        write_wav(self.out / "rate-8000.wav", decimate(books[2], 2), 8000)
        self.add("rate-8000", "rate-8000.wav", "en", words[2], "8 kHz")
        write_flac(self.out / "flac.flac", books[4])
        self.add("flac", "flac.flac", "en", words[4], "FLAC")
        write_wav(self.out / "silence.wav", [0] * (5 * RATE))
        self.add("silence", "silence.wav", "en", "", "digital silence", silence=True)
        check(*NOISE)
        samples, rate = read_mono(NOISE[0])
        write_wav(self.out / "noise.wav", samples, rate)
        self.add("noise", "noise.wav", "en", "", "noise without words", silence=True)
        (self.out / "unreadable.wav").write_bytes(b"This is not a recording.\n" * 40)
        self.add("unreadable", "unreadable.wav", "en", "", "upstream exits 0 on it; a gate must not")

    def spoken(self):
        for language, (voice, speed, text, pinned) in SPOKEN.items():
            file = f"espeak-{language}.wav"
            subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-w", str(self.out / file), text], check=True)
            why = "synthetic speech at 22050 Hz"
            if sha256(self.out / file) != pinned:
                why += ", unpinned"
            self.add(f"espeak-{language}", file, language, text, why)


def check(source, pinned):
    if not source.exists():
        sys.exit(f"{source} is not there: install pocketsphinx-testdata, alsa-utils and espeak-ng, or give --install")
    if sha256(source) != pinned:
        sys.exit(f"{source}: SHA-256 is {sha256(source)}, expected {pinned}: another version of its package")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--whisper-cpp", type=pathlib.Path, help="a folder with samples/jfk.wav or samples/jfk.mp3")
    parser.add_argument("--install", action="store_true", help="install the Debian packages first")
    args = parser.parse_args()
    if args.install:
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "pocketsphinx-testdata", "alsa-utils", "espeak-ng"], check=True, stdout=sys.stderr)
    args.out.mkdir(parents=True, exist_ok=True)
    maker = Maker(args.out)
    if args.whisper_cpp:
        maker.jfk(args.whisper_cpp)
    maker.recorded()
    maker.derived()
    maker.spoken()
    (args.out / "fixtures.json").write_text(json.dumps({"schema": 1, "fixtures": maker.list}, ensure_ascii=False, indent=1) + "\n")
    print(f"{len(maker.list)} recordings in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
