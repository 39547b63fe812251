#!/usr/bin/env python3
"""digest of an encoder's tree: equal to the documented command, and raced against sha256sum"""
# requirements: none
# ours: ./tools/dev/peers/treeours
import os
import statistics
import subprocess
import tempfile
import time

PAIRS = 8
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
    with tempfile.TemporaryDirectory() as root:
        make(root)
        ours = subprocess.Popen([os.environ["PEER_OURS"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def run():
            ours.stdin.write(root + "\n")
            ours.stdin.flush()
            digest, seconds = ours.stdout.readline().split()
            return float(seconds), digest

        run()  # both sides read from the page cache
        rows = []
        for i in range(PAIRS):
            # Who runs first alternates.
            if i % 2 == 0:
                mine, digest = run()
            one, out = timed(COMMAND.format(root))
            if i % 2 == 1:
                many, _ = timed(PARALLEL.format(root, os.cpu_count()))
                mine, digest = run()
            if out.split()[0] != digest:
                raise SystemExit(f"the documented command prints {out.split()[0]}, our digest is {digest}")
            if i % 2 == 0:
                many, _ = timed(PARALLEL.format(root, os.cpu_count()))
            rows.append((mine, one, many))
        with open(f"/proc/{ours.pid}/status") as f:
            peak = next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM:"))
        ours.stdin.close()
        if ours.wait() != 0:
            raise SystemExit("our side failed")
    ratios = sorted(min(one, many) / mine for mine, one, many in rows)
    for name, k in (("ours", 0), ("sha256sum, one after the other", 1), ("sha256sum, in parallel", 2)):
        seconds = statistics.median(row[k] for row in rows)
        print(f"{name:32s} {seconds:7.3f} s  {MEGABYTES / seconds:8.0f} MB/s")
    print(f"peak memory of ours {peak:.0f} MB; speed of ours over the faster of the others: {ratios[0]:.2f} to {ratios[-1]:.2f}")
    print(f"ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
