#!/usr/bin/env python3
"""Writes the words spec of the speech fixtures, for `coregate transcripts --spec SPEC.json DIR`.

    tools/dev/peers/words_spec.py SPEECH SPEC.json --model-name tiny.en --model M.bin --encoder E.mlmodelc --pin pin.json \\
        --coreml-cli CLI --ggml-cli CLI [--evaluator GATE_EVALUATOR] [--fault NAME] [--private] [--only NAME …]

SPEECH is a folder that speech_fixtures.py made. jfk.wav, or else jfk.mp3, is the probe. Recordings in other languages
are left out for English models. --private makes every recording private, to see what then is kept.
"""

import argparse
import json
import pathlib
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("speech", type=pathlib.Path)
    parser.add_argument("spec", type=pathlib.Path)
    for name in ("model-name", "model", "encoder", "pin", "coreml-cli", "ggml-cli"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--evaluator", default="")
    parser.add_argument("--fault", default="none")
    parser.add_argument("--lane", default="emulated")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--private", action="store_true")
    parser.add_argument("--only", nargs="+", default=[])
    args = parser.parse_args()

    known = json.loads((args.speech / "fixtures.json").read_text())["fixtures"]
    unknown = set(args.only) - {f["name"] for f in known}
    if unknown:
        sys.exit(f"--only names recordings that are not there: {', '.join(sorted(unknown))}")
    chosen = [f for f in known if (not args.only or f["name"] in args.only) and (f["language"] == "en" or not args.model_name.endswith(".en"))]
    chosen = [f for f in chosen if f["name"] != "unreadable" or "unreadable" in args.only]
    probe = next((f["name"] for f in chosen if f["name"].startswith("jfk")), None)
    spec = {
        "schema": 1, "lane": args.lane, "lane_identity": {"made_by": "words_spec.py"}, "pin": args.pin, "model": args.model, "encoder": args.encoder,
        "coreml_cli": args.coreml_cli, "ggml_cli": args.ggml_cli, "threads": args.threads, "deadline_seconds": 900,
        "source": str(PROJECT / "testdata/transcripts" / f"{args.model_name}.json"),
        "fixtures": [{"name": f["name"], "audio": str(args.speech / f["file"]), "language": f["language"], "public": not args.private,
                      "silence": f["silence"], "human": f["human"], "probe": f["name"] == probe} for f in chosen],
    }
    if args.evaluator:
        spec |= {"evaluator": args.evaluator, "fault": args.fault}
    args.spec.write_text(json.dumps(spec, ensure_ascii=False, indent=1) + "\n")
    print(f"{len(chosen)} recordings, probe {probe}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
