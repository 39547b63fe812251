#!/usr/bin/env python3
"""digest of an encoder's tree: equal to the documented command, and raced against sha256sum"""
# requirements: none
# ours: ./tools/dev/peers/treeours
#
#   tools/dev/peers/run tree-speed [--pairs N]
#
# The last line is the ratio, ours over the faster one's of sha256sum's two ways.
import os
import resource
import statistics
import subprocess
import tempfile
import time

import protocol

MEGABYTES = int(os.environ.get("TREE_SPEED_MEGABYTES", "512"))
# The command that package tree documents, on one core and on all of them.
COMMAND = "(cd '{}' && find . -type f | cut -c3- | LC_ALL=C sort | xargs -d'\\n' sha256sum) | sha256sum"
PARALLEL = "cd '{}' && find . -type f -print0 | xargs -0 -n 1 -P {} sha256sum > /dev/null"


def make(root):
    """An encoder's shape: one large weight file, one of a third of it, and the small ones."""
    block = os.urandom(1 << 20)
    os.makedirs(f"{root}/weights")
    for name, size in (("weights/weight.bin", MEGABYTES * 3 // 4), ("weights/more.bin", MEGABYTES // 4)):
        with open(f"{root}/{name}", "wb") as f:
            for i in range(size):
                f.write(i.to_bytes(8, "little") + block[8:])
    for name in ("model.mil", "metadata.json", "coremldata.bin"):
        with open(f"{root}/{name}", "wb") as f:
            f.write(block[:50_000])


def timed(command):
    start = time.perf_counter()
    out = subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, out


def main():
    pairs = protocol.parser("tree-speed", 8).parse_args().pairs
    protocol.check_pairs(pairs)
    report = protocol.Report("tree-speed", f"{MEGABYTES} MiB in five files, read from the page cache")
    with tempfile.TemporaryDirectory() as root:
        make(root)
        ours = subprocess.Popen([os.environ["PEER_OURS"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def run():
            ours.stdin.write(root + "\n")
            ours.stdin.flush()
            digest, seconds = ours.stdout.readline().split()
            return float(seconds), digest

        run()  # both sides read from the page cache
        sides = {"one after the other": COMMAND.format(root), "in parallel": PARALLEL.format(root, os.cpu_count())}
        times = {name: ([], []) for name in sides}
        for i in range(pairs):
            for name, command in sides.items():
                # Who runs first alternates; each peer has pairs of its own with ours.
                if i % 2 == 0:
                    mine, digest = run()
                theirs, out = timed(command)
                if i % 2 == 1:
                    mine, digest = run()
                if command == sides["one after the other"] and out.split()[0] != digest:
                    raise SystemExit(f"the documented command prints {out.split()[0]}, our digest is {digest}")
                times[name][0].append(mine)
                times[name][1].append(theirs)
        with open(f"/proc/{ours.pid}/status") as f:
            peak = next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))
        ours.stdin.close()
        if ours.wait() != 0:
            raise SystemExit("our side failed")
    # Of the largest process that the commands started.
    theirs_peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    report.table("races", "how sha256sum runs", ("ours", "s", 3), ("sha256sum", "s", 3), ("ours over sha256sum", "", 2))
    races = {name: protocol.rounds(*times[name], [i % 2 == 0 for i in range(pairs)], peak, theirs_peak) for name in sides}
    for name in sides:
        report.row(name, *times[name], races[name])
    report.end()
    fastest = min(sides, key=lambda name: statistics.median(times[name][1]))
    protocol.judge("tree-speed-" + fastest.replace(" ", "-"), races[fastest])


if __name__ == "__main__":
    main()
