#!/usr/bin/env python3
"""ten thousand words against ten thousand: distance and alignment raced against rapidfuzz"""
# requirements: wer
# ours: ./tools/dev/peers/werours
#
#   tools/dev/peers/run wer-speed [--pairs N]
#
# The last line is the ratio, ours over rapidfuzz's, of the race in which ours does worst.
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

from rapidfuzz.distance import Levenshtein

import protocol

WORDS = 10_000


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
    pairs = protocol.parser("wer-speed", 11).parse_args().pairs
    protocol.check_pairs(pairs)
    rnd = random.Random(20261129)
    ref = text(rnd, WORDS)
    sides = {"5 %": noisy(rnd, ref, 0.05), "20 %": noisy(rnd, ref, 0.2), "50 %": noisy(rnd, ref, 0.5), "unrelated": text(rnd, WORDS)}
    compared = (("distance", "Distance", Levenshtein.distance), ("alignment", "Align", Levenshtein.opcodes))
    report = protocol.Report("wer-speed", f"{WORDS} words against {WORDS}; ours counts from words as strings, numbering included; each side is a process that stays warm")
    ours = Ours()
    raced = []
    for name, hyp in sides.items():
        times = {what: ([], []) for what, _, _ in compared}
        for pair in range(pairs + 1):
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
        raced += [(name, what, mine, theirs) for what, (mine, theirs) in times.items()]
    peaks = ours.peak() * 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    ours.close()
    report.table("races", "errors", "of words", ("ours", "ms", 1), ("rapidfuzz", "ms", 1), ("ours over rapidfuzz", "", 2))
    races = {}
    for name, what, mine, theirs in raced:
        races[f"wer-speed-{name}-{what}"] = protocol.rounds(mine, theirs, [i % 2 == 0 for i in range(pairs)], *peaks)
        report.row(name, what, mine, theirs, races[f"wer-speed-{name}-{what}"])
    report.table("memory", "side", ("peak resident set", "MiB", 0))
    report.row("ours", peaks[0] / 2**20)
    report.row("rapidfuzz, with Python", peaks[1] / 2**20)
    report.end()
    worst = max(races, key=lambda name: statistics.median(r["ours"] / r["theirs"] for r in races[name]["rounds"]))
    protocol.judge(worst.replace(" ", "-").replace("%", "percent"), races[worst])


if __name__ == "__main__":
    main()
