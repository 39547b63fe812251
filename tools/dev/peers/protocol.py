"""What peers that race or print tables share: pairs, races and tables go through the protocol code of coregate bench.

The program in $PEER_RACE (tools/dev/peers/race) decides: how many pairs are a comparison, whether a difference is one, and what a
stored report looks like. Nothing of that is computed here.
"""
import argparse
import json
import os
import subprocess
import sys

RACE = os.environ["PEER_RACE"]


def ask(*arguments, told=None):
    """The answer of the protocol's program; its refusal ends the peer, with its exit code."""
    done = subprocess.run([RACE, *arguments], input=None if told is None else json.dumps(told), text=True, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def parser(name, pairs):
    """A parser with --pairs."""
    p = argparse.ArgumentParser(prog=f"tools/dev/peers/run {name}")
    p.add_argument("--pairs", type=int, default=pairs)
    return p


def check_pairs(pairs):
    """Refuses what is no comparison before anything runs."""
    ask("pairs", str(pairs))


def rounds(ours, theirs, ours_first, ours_peak, theirs_peak):
    """A race of paired times: ours_first says of each pair who ran first; peaks are in bytes."""
    return {"rounds": [{"ours": a, "theirs": b, "ours_first": f} for a, b, f in zip(ours, theirs, ours_first, strict=True)],
            "ours_peak_bytes": int(ours_peak), "theirs_peak_bytes": int(theirs_peak)}


def judge(name, race):
    """Prints what a race means, and its ratio on the last line."""
    print(ask("judge", name, told=race), end="", flush=True)


class Report:
    """Tables of one start of a peer, with the state of the machine before it."""

    def __init__(self, name, conditions=""):
        self.name, self.tables = name, []
        self.told = {"command": " ".join([f"tools/dev/peers/run {name}", *map(portable, sys.argv[1:])]), "conditions": conditions, "before": json.loads(ask("state"))}

    def table(self, name, *columns):
        """Begins a table. A column is a name, or (name, unit, decimals) of numbers."""
        kinds = [{"name": c, "kind": "text"} if isinstance(c, str) else {"name": c[0], "kind": "number", "unit": c[1], "decimals": c[2]} for c in columns]
        self.tables.append({"name": name, "columns": kinds, "rows": []})

    def row(self, *cells):
        """Adds a row: a text, a number, a list of values for their spread, a dict from rounds(), or None."""
        self.tables[-1]["rows"].append([cell(c) for c in cells])

    def end(self):
        """Prints the tables, and stores them below $PEER_REPORTS."""
        print(ask("tables", self.name, told={**self.told, "tables": self.tables}), end="", flush=True)


def cell(value):
    if isinstance(value, dict):
        return {"race": value}
    if isinstance(value, list):
        return {"values": value}
    return {} if value is None else {"text": value} if isinstance(value, str) else {"number": value}


def portable(argument):
    """A path of this machine means nothing on another: its last part stays."""
    flag, equals, value = argument.rpartition("=")
    return flag + equals + (os.path.basename(value) if os.path.isabs(value) else value)
