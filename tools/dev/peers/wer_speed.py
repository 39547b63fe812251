#!/usr/bin/env python3
"""ten thousand words against ten thousand: distance and alignment raced against rapidfuzz"""
# requirements: wer
# ours: ./tools/dev/peers/werours
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

from rapidfuzz.distance import Levenshtein

WORDS = 10_000
PAIRS = 11


def text(rnd, n):
    """Words as frequent as in speech: the k-th most frequent stands 1/k as often as the first."""
    return [f"w{w}" for w in rnd.choices(range(4000), [1 / (k + 1) for k in range(4000)], k=n)]


def noisy(rnd, words, share):
    """A transcript of the same speech with a share of its words lost, replaced or followed by another."""
    out = []
    for w in words:
        kind = rnd.random() / share
        if kind < 1 / 3:
            continue
        out.append(text(rnd, 1)[0] if kind < 2 / 3 else w)
        if 2 / 3 <= kind < 1:
            out += text(rnd, 1)
    return (out + text(rnd, len(words)))[:len(words)]


class Ours:
    """Our side as one process that answers a line with a line, so that both sides are warm."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ["PEER_OURS"], "speed"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, ref, hyp):
        self.process.stdin.write(json.dumps({"Ref": ref, "Hyp": hyp, "Times": 1}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM:"))

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("our side failed")


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rnd = random.Random(20261129)
    ref = text(rnd, WORDS)
    sides = {"5 % errors": noisy(rnd, ref, 0.05), "20 % errors": noisy(rnd, ref, 0.2), "50 % errors": noisy(rnd, ref, 0.5), "unrelated": text(rnd, WORDS)}
    ours = Ours()
    worst, race = 0.0, None
    compared = (("distance", "Distance", Levenshtein.distance), ("alignment", "Align", Levenshtein.opcodes))
    print(f"{WORDS} against {WORDS} words, {PAIRS} interleaved pairs, milliseconds: median (lowest to highest)")
    for name, hyp in sides.items():
        times = {"distance": ([], []), "alignment": ([], [])}
        for pair in range(PAIRS + 1):
            # Who runs first alternates.
            peer = {what: timed(function, ref, hyp) for what, _, function in compared} if pair % 2 == 0 else {}
            got = ours.run(ref, hyp)
            for what, mine, function in compared:
                theirs, result = peer.get(what) or timed(function, ref, hyp)
                if what == "distance" and result != got["Edits"]:
                    sys.exit(f"{name}: our distance is {got['Edits']}, rapidfuzz's {result}")
                if pair > 0:  # the first pair warms both up
                    times[what][0].append(got[mine][0] / 1e6)
                    times[what][1].append(theirs * 1e3)
        for what, (mine, theirs) in times.items():
            ratio = statistics.median(a / b for a, b in zip(mine, theirs))
            if ratio > worst:
                worst, race = ratio, (f"wer-{name}-{what}", [{"ours": a, "theirs": b, "ours_first": i % 2 == 0} for i, (a, b) in enumerate(zip(mine, theirs))])
            print(f"{name:12} {what:10} ours {spread(mine)}   rapidfuzz {spread(theirs)}   ratio {ratio:.2f}")
    peaks = ours.peak(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory: ours {peaks[0]:.0f} MiB, rapidfuzz with Python {peaks[1]:.0f} MiB")
    ours.close()
    rounds = {"rounds": race[1], "ours_peak_bytes": int(peaks[0] * 2**20), "theirs_peak_bytes": int(peaks[1] * 2**20)}
    subprocess.run([os.environ["PEER_RACE"], "judge", race[0].replace(" ", "-").replace("%", "percent")], input=json.dumps(rounds), text=True, check=True)
    return 0


def spread(values):
    return f"{statistics.median(values):6.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    sys.exit(main())
