#!/usr/bin/env python3
"""the report page in Chromium, wide and phone-sized: complete without a network, nothing runs over the edge"""
# requirements: receipts
# ours: ./tools/coregate
#
# Chromium comes from the system (Debian: apt-get install chromium); $CHROMIUM names another. With a folder as
# argument, screenshots are left there; a receipt and files of its runs may follow.
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


def main(scratch, out, receipt, files):
    page = scratch / "report.html"
    flags = [f for file in files for f in ("--file", file)]
    subprocess.run([COREGATE, "report", receipt, *flags, "--out", page], check=True)
    text = page.read_text()
    check(not re.search(r"<script|\bsrc=|\bhref=|url\(|@import|<link", text), "it fetches or runs something")
    for name, width, height in (("wide", 1280, 2400), ("phone", 390, 5200)):
        # The measuring copy alone may run a script.
        probe = scratch / "probe.html"
        probe.write_text(re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", PROBE + "</body>"))
        dom = chromium(scratch, f"--window-size={width},{height}", "--dump-dom", probe.as_uri())
        inner, scroll, wide, small, fetched = map(int, re.search(r"<title>\[(.*?)\]</title>", dom).group(1).split(","))
        check(scroll <= inner and wide == 0, f"{name}: {wide} elements run over the edge ({scroll} of {inner} pixels)")
        check(small == 0, f"{name}: {small} labels are too small to read")
        check(fetched == 0, f"{name}: it fetched {fetched} things")
        shot = out / f"report-{name}.png"
        chromium(scratch, f"--window-size={width},{height}", f"--screenshot={shot}", page.as_uri())
        check(colours(shot) > 32, f"{name}: the screenshot is blank")
    paper = out / "report.pdf"
    chromium(scratch, f"--print-to-pdf={paper}", "--no-pdf-header-footer", page.as_uri())
    check(paper.read_bytes()[:5] == b"%PDF-", "it does not print")
    print(f"{checks} agreements")


with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else scratch
    receipt = sys.argv[2] if len(sys.argv) > 2 else "tools/receipt/testdata/receipt.json"
    main(scratch, out, receipt, sys.argv[3:])
