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
    worst = 0.0
    print(f"{WORDS} against {WORDS} words, {PAIRS} interleaved pairs, milliseconds: median (lowest to highest)")
    for name, hyp in sides.items():
        times = {"distance": ([], []), "alignment": ([], [])}
        for pair in range(PAIRS + 1):
            got = ours.run(ref, hyp)
            for what, mine, function in (("distance", "Distance", Levenshtein.distance), ("alignment", "Align", Levenshtein.opcodes)):
                theirs, result = timed(function, ref, hyp)
                if what == "distance" and result != got["Edits"]:
                    sys.exit(f"{name}: our distance is {got['Edits']}, rapidfuzz's {result}")
                if pair > 0:  # the first pair warms both up
                    times[what][0].append(got[mine][0] / 1e6)
                    times[what][1].append(theirs * 1e3)
        for what, (mine, theirs) in times.items():
            ratio = statistics.median(a / b for a, b in zip(mine, theirs))
            worst = max(worst, ratio)
            print(f"{name:12} {what:10} ours {spread(mine)}   rapidfuzz {spread(theirs)}   ratio {ratio:.2f}")
    print(f"peak memory: ours {ours.peak():.0f} MiB, rapidfuzz with Python {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    ours.close()
    print(f"ratio {worst:.2f}")
    return 0


def spread(values):
    return f"{statistics.median(values):6.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    sys.exit(main())
