#!/usr/bin/env python3
"""the report pages of a receipt and a release in Chromium, wide and phone-sized: complete without a network, nothing runs over the edge"""
# requirements: receipts
# ours: ./tools/coregate
#
# Chromium comes from the system (Debian: apt-get install chromium); $CHROMIUM names another. With a folder as
# argument, screenshots are left there; a receipt and files of its runs may follow.
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

COREGATE = os.environ["PEER_OURS"]
PROBE = """<script>
const wide = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName);
const small = [...document.querySelectorAll('svg text')].filter(e => e.getBoundingClientRect().height > 0 && e.getBoundingClientRect().height < 9).length;
document.title = JSON.stringify([innerWidth, document.documentElement.scrollWidth, wide.length, small, performance.getEntriesByType('resource').length]);
</script>"""
checks = 0


def check(condition, what):
    global checks
    if not condition:
        sys.exit("the page is wrong: " + what)
    checks += 1


def chromium(folder, *args):
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        sys.exit("no chromium: install it (Debian: apt-get install chromium) or name it in $CHROMIUM")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
               f"--user-data-dir={folder}/profile", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def colours(png):
    """How many bytes differ in a screenshot's pixels: a blank page has next to none."""
    data, at = b"", 8
    raw = png.read_bytes()
    while at < len(raw):
        size, kind = struct.unpack(">I4s", raw[at:at + 8])
        if kind == b"IDAT":
            data += raw[at + 8:at + 8 + size]
        at += size + 12
    return len(set(zlib.decompress(data)))


def release(receipt):
    """A release that names the receipt as three gates', by the description of docs/receipt.md."""
    raw = pathlib.Path(receipt).read_bytes()
    r = json.loads(raw)
    p, pin = r["predicate"], r["predicate"]["pin"]
    entries = [{"name": f"//models/of/a/long/name:gate_{i}", "sha256": hashlib.sha256(raw + bytes([i])).hexdigest(), "verdict": p["verdict"],
                "lane": p["lane"], "pin": pin["name"], "pin_commit": pin["commit"], "pin_status": pin["status"], "subjects": r["subject"],
                # One run counts once, so each gate has runs of its own.
                "evidence": [{**e, "sha256": hashlib.sha256(f"{e['sha256']} {i}".encode()).hexdigest()} for e in p["evidence"]], "missing": ["words"]}
               for i in range(3)]
    statement = {"_type": r["_type"], "subject": [{"name": f"{e['name']} ({e['lane']})", "digest": {"sha256": e["sha256"]}} for e in entries],
                 "predicateType": "https://github.com/coreml-gate/rules_coreml_gate/coreml-release/v1",
                 "predicate": {"schema": 1, "name": "//:release", "verdict": p["verdict"], "receipts": entries}}
    return json.dumps(statement, sort_keys=True, separators=(",", ":"))


def look(scratch, out, kind, statement, flags):
    page = scratch / f"{kind}.html"
    subprocess.run([COREGATE, "report", statement, *flags, "--out", page], check=True)
    text = page.read_text()
    check(not re.search(r"<script|\bsrc=|\bhref=|url\(|@import|<link", text), "it fetches or runs something")
    for name, width, height in (("wide", 1280, 2400), ("phone", 390, 5200)):
        # The measuring copy alone may run a script.
        probe = scratch / "probe.html"
        probe.write_text(re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", PROBE + "</body>"))
        dom = chromium(scratch, f"--window-size={width},{height}", "--dump-dom", probe.as_uri())
        inner, scroll, wide, small, fetched = map(int, re.search(r"<title>\[(.*?)\]</title>", dom).group(1).split(","))
        check(scroll <= inner and wide == 0, f"{kind}, {name}: {wide} elements run over the edge ({scroll} of {inner} pixels)")
        check(small == 0, f"{kind}, {name}: {small} labels are too small to read")
        check(fetched == 0, f"{kind}, {name}: it fetched {fetched} things")
        shot = out / f"{kind}-{name}.png"
        chromium(scratch, f"--window-size={width},{height}", f"--screenshot={shot}", page.as_uri())
        check(colours(shot) > 32, f"{kind}, {name}: the screenshot is blank")
    paper = out / f"{kind}.pdf"
    chromium(scratch, f"--print-to-pdf={paper}", "--no-pdf-header-footer", page.as_uri())
    check(paper.read_bytes()[:5] == b"%PDF-", f"{kind}: it does not print")


def main(scratch, out, receipt, files):
    look(scratch, out, "report", receipt, [f for file in files for f in ("--file", file)])
    bound = scratch / "release.json"
    bound.write_text(release(receipt))
    look(scratch, out, "release", bound, [])
    print(f"{checks} agreements")


with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else scratch
    receipt = sys.argv[2] if len(sys.argv) > 2 else "tools/receipt/statement/testdata/receipt.json"
    main(scratch, out, receipt, sys.argv[3:])
