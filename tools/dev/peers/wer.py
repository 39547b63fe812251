#!/usr/bin/env python3
"""normalised text equal to whisper-normalizer's, error rates and alignments equal to jiwer's"""
# requirements: wer
# ours: ./tools/dev/peers/werours
#
# `tools/dev/peers/run wer --golden tools/words/transcript/testdata/peer_rows.jsonl` writes the rows that go test checks without
# any peer.
import collections
import json
import os
import random
import subprocess
import sys
import unicodedata

import jiwer
from whisper_normalizer.basic import BasicTextNormalizer
from whisper_normalizer.english import EnglishTextNormalizer

import wer_table

NORMALIZERS = {
    "english": EnglishTextNormalizer(),
    "basic": BasicTextNormalizer(),
    "diacritics": BasicTextNormalizer(remove_diacritics=True),
    "split": BasicTextNormalizer(split_letters=True),
    "split-diacritics": BasicTextNormalizer(remove_diacritics=True, split_letters=True),
}


def scrambled(count):
    """Rows of pieces of the table in random order, for the orders that nobody thought of."""
    rnd = random.Random(7)
    pieces = [*wer_table.DIGITS, *wer_table.CONTRACTED, *wer_table.TITLES, *wer_table.ENDED, *wer_table.SCALES, *wer_table.ONES, *wer_table.TENS,
              *"and point double triple minus plus per percent cent dollars pounds euros cents oh o zero a half uh um [ ] ( ) < > ' . , - _ % $ £ ¢ €".split(),
              "\t", "\n", "\u2028", "\x1c", "\u200d", "\u0301", "Σ", "İ", "ﬁ", "ᄀ", "ᅡ", "각", "ก", "ำ", "नि", "🇩", "👩\u200d🚀"]
    for i in range(count):
        sides = []
        for _ in range(2):
            sides.append("".join(rnd.choice(pieces) + rnd.choice((" ", " ", " ", "", "  ")) for _ in range(rnd.randrange(14))))
        yield "mixed", list(NORMALIZERS)[i % 5] if i % 2 else "english", *sides


def code_points():
    """Every code point that Python's tables assign, between letters, between digits and standing alone."""
    assigned = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and unicodedata.category(chr(c)) not in ("Cn", "Co")]
    for i in range(0, len(assigned), 48):
        row = " x ".join(f"a{c}b 1{c}2 {c} Σ{c}" for c in assigned[i:i + 48])
        for mode in NORMALIZERS:
            yield "code points", mode, row, ""


def expected(mode, ref, hyp, with_rates):
    """What the peers say, in the form of our answers."""
    ref, hyp = NORMALIZERS[mode](ref), NORMALIZERS[mode](hyp)
    answer = {"Ref": ref, "Hyp": hyp}
    if with_rates:
        for name, out, rate in (("Words", jiwer.process_words(ref, hyp), "wer"), ("Chars", jiwer.process_characters(ref, hyp), "cer")):
            answer[name] = {
                "Rate": getattr(out, rate),
                "Counts": {"Hits": out.hits, "Substitutions": out.substitutions, "Insertions": out.insertions, "Deletions": out.deletions},
                "Aligned": [[a.type, a.ref_start_idx, a.ref_end_idx, a.hyp_start_idx, a.hyp_end_idx] for a in out.alignments[0]],
            }
    return answer


def ask(rows):
    questions = "\n".join(json.dumps({"Mode": mode, "Ref": ref, "Hyp": hyp}) for _, mode, ref, hyp in rows)
    out = subprocess.run([os.environ["PEER_OURS"], "rows"], input=questions.encode(), capture_output=True)
    if out.returncode != 0:
        sys.exit(f"our side failed: {out.stderr.decode()}")
    return [json.loads(line) for line in out.stdout.splitlines()]


def clipped(text):
    return repr(text if len(text) <= 300 else text[:300] + "…")


def difference(peer, ours):
    """Both answers from a little before the place where they part."""
    if not isinstance(peer, str):
        return f"  peer {peer}\n  ours {ours}"
    at = len(os.path.commonprefix([peer, ours]))
    return f"  peer {peer[max(0, at - 20):at + 40]!r}\n  ours {ours[max(0, at - 20):at + 40]!r}"


def write_golden(path, table):
    """Every seventh row of the table with the peers' answers, a JSON line each, for go test."""
    with open(path, "w", encoding="utf-8") as f:
        for language, mode, ref, hyp in table[::7]:
            f.write(json.dumps({"Language": language, "Mode": mode, "Ref": ref, "Hyp": hyp, "Want": expected(mode, ref, hyp, True)}, ensure_ascii=False) + "\n")


def main():
    table = list(wer_table.rows())
    if len(sys.argv) == 3 and sys.argv[1] == "--golden":
        write_golden(sys.argv[2], table)
        return 0
    if len(sys.argv) != 1:
        sys.exit("usage: wer [--golden FILE]")
    rows = [*table, *scrambled(3000), *code_points()]
    answers = ask(rows)
    if len(answers) != len(rows):
        sys.exit(f"our side answered {len(answers)} of {len(rows)} rows")
    seen, wrong, refused = collections.Counter(), collections.Counter(), 0
    for row, got in zip(rows, answers):
        language, mode, ref, hyp = row
        try:
            want = expected(mode, ref, hyp, language != "code points")
        except (AssertionError, ValueError) as e:
            refused += 1
            print(f"the port itself fails on {ref!r}, {hyp!r}: {e!r}")
            continue
        seen[language] += 1
        for key, value in want.items():
            if got[key] != value:
                wrong[language] += 1
                if wrong.total() <= 10:
                    print(f"{language}, {mode}, {key}:\n  of   {clipped(ref)}\n       {clipped(hyp)}\n" + difference(value, got[key]))
                break
    for language, n in seen.items():
        print(f"{language:12} {n:6} rows {wrong[language]:6} differ")
    print(f"Unicode {unicodedata.unidata_version} in the port; {refused} rows that the port itself fails on")
    print(f"rows {seen.total()} (table {len(table)}) differences {wrong.total()}")
    return 1 if wrong or refused else 0


if __name__ == "__main__":
    sys.exit(main())
