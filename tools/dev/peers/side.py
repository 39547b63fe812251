"""Sides of a race: processes that stay warm and run once for each line, by turns."""
import os
import subprocess
import sys
import time


def serve_lines(run):
    """A peer's process: for each line read one run, answered with its nanoseconds. Returns what the last run gave."""
    print("ready", flush=True)
    y = None
    for _ in sys.stdin:
        start = time.perf_counter_ns()
        y = run()
        print(time.perf_counter_ns() - start, flush=True)
    return y


PAUSE = 0.1


class Side:
    """A process that runs once for each line."""

    def __init__(self, name, command, out=None, exact=True):
        self.name, self.out, self.times, self.cpu, self.exact = name, out, [], [], exact
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"{name} does not start")

    def used(self):
        """Seconds of processor time that the process took so far."""
        with open(f"/proc/{self.process.pid}/stat") as f:
            return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def run(self):
        """Seconds of one run. The side before may have threads that wait actively for a while; they are let end."""
        time.sleep(PAUSE)
        before = self.used()
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line.strip():
            sys.exit(f"{self.name} failed")
        self.cpu.append(self.used() - before)
        return int(line) / 1e9

    def close(self):
        """Ends the process, and keeps its peak resident set in MiB."""
        with open(f"/proc/{self.process.pid}/status") as f:
            self.peak = next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM:"))
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit(f"{self.name} failed")


def interleaved(mine, peers, pairs):
    """Pairs of times for each peer, ours and its own by turns: {peer: (ours, theirs, ours_first)}. A first round warms all up."""
    out = {p: ([], [], []) for p in peers}
    for i in range(pairs + 1):
        for p in peers:
            x, y = (mine.run(), p.run()) if i % 2 else (p.run(), mine.run())[::-1]
            if i > 0:
                for values, value in zip(out[p], (x, y, i % 2 == 1), strict=True):
                    values.append(value)
                mine.times.append(x)
                p.times.append(y)
    return out
