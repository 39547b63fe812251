#!/usr/bin/env python3
"""what coregate binary reads of programs: equal to what LIEF reads"""
# requirements: macho
# ours: ./tools/coregate
#
# Mach-O programs: whisper-cli and coregate, cross-built for macOS arm64 by Bazel (--config=hermetic); coregate for both
# kinds of Mac by Go; and programs from PyPI that Apple's and LLVM's linkers made and that others signed. ELF programs:
# the hermetic whisper-cli and those of this machine. Each is held against LIEF, changed ones as well.
import glob
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

import lief

lief.logging.disable()
OURS = os.environ["PEER_OURS"]
BRIDGE = {"whisper_coreml_encode", "whisper_coreml_free", "whisper_coreml_init"}
SYSTEM_PROGRAMS = 150

# Wheels for macOS: name, version, platform, SHA-256, program in it (a universal one has to be refused).
WHEELS = [
    ("clang-format", "23.1.5", "macosx_11_0_arm64", "3fb740335d939dd02252cd5075050fc8858466b16cf9c1efa2f52da3baa816a7", "clang-format"),
    ("ruff", "0.17.6", "macosx_11_0_arm64", "9fbddc08577592e283c265d865e0182de6e33db185494db7b06290d989d888e5", "ruff"),
    ("ruff", "0.17.6", "macosx_10_12_x86_64", "9d44ef2140402043fd6f689ef541858b80883a8b0a02e38539ef0614ebe57d0c", "ruff"),
    ("ninja", "1.13.2", "macosx_10_9_universal2", "fd82e26c0706ad4ab88e5fdd26f3fab0a987a90f810160f6c322e752c6af298b", "ninja"),
]
BAZEL = ["bazel", "build", "--noshow_progress", "--ui_event_filters=-info", "--symlink_prefix=/", "--config=hermetic"]
MAC = "--platforms=@build_bazel_apple_support//platforms:macos_arm64"


def run(*command, **settings):
    return subprocess.run(command, check=True, capture_output=True, text=True, **settings).stdout


# What zig keeps grows with every change of its arguments, and nothing of it may be removed alone.
ZIG_CACHE = os.environ.get("HERMETIC_CC_TOOLCHAIN_CACHE_PREFIX") or "/tmp/zig-cache"
subprocess.run(["tools/dev/caches/bound", "--whole", ZIG_CACHE, "4096"], check=True)


def bazel(options, *targets):
    """The files that Bazel builds for targets."""
    subprocess.run([*BAZEL, *options, *targets], check=True)
    root = run("bazel", "info", "execution_root").strip()
    listing = run("bazel", "cquery", "--config=hermetic", *options, "--output=files", " + ".join(targets))
    return [os.path.join(root, line) for line in listing.split()]


def wheels(folder):
    for name, version, platform, sha256, program in WHEELS:
        into = f"{folder}/{name}-{platform}"
        os.makedirs(into)
        listing = f"{into}/requirements.txt"
        with open(listing, "w") as f:
            f.write(f"{name}=={version} --hash=sha256:{sha256}\n")
        run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
            "--require-hashes", "--platform", platform, "-r", listing, "-d", into)
        with zipfile.ZipFile(glob.glob(f"{into}/*.whl")[0]) as z:
            inside = next(n for n in z.namelist() if n.endswith("/" + program))
            with open(f"{into}/{program}", "wb") as f:
                f.write(z.read(inside))
        yield f"{into}/{program}"


def ours(path):
    """What coregate binary says, or None if it refuses the file."""
    done = subprocess.run([OURS, "binary", "--json", path], capture_output=True, text=True)
    answer = json.loads(done.stdout)
    if any(r["code"] == "BINARY_FORMAT" for r in answer["reasons"]):
        return None
    return answer["facts"]


def dotted(version):
    return ".".join(str(v) for v in (version if version[2] else version[:2]))


def directory(blob):
    """The code directory with SHA-256 of a code signature, by Apple's cs_blobs.h."""
    _, _, count = struct.unpack(">3I", blob[:12])
    best = None
    for i in range(count):
        _, at = struct.unpack(">2I", blob[12 + 8 * i:20 + 8 * i])
        magic, size = struct.unpack(">2I", blob[at:at + 8])
        if magic == 0xFADE0C02 and blob[at + 37] == 2:
            best = blob[at:at + size]
    return best


def macho(path, b):
    facts = {"format": "mach-o", "id": bytes(b.uuid.uuid).hex() if b.has_uuid else ""}
    arch = {lief.MachO.Header.CPU_TYPE.ARM64: "arm64", lief.MachO.Header.CPU_TYPE.X86_64: "x86_64"}[b.header.cpu_type]
    facts["platform"], facts["min_os"], facts["sdk"] = "unknown " + arch, "", ""
    version = b.build_version if b.has_build_version else b.version_min if b.has_version_min else None
    if version is not None:
        minimum = version.minos if b.has_build_version else version.version
        facts["platform"], facts["min_os"], facts["sdk"] = "macos " + arch, dotted(minimum), dotted(version.sdk)
    kinds = lief.MachO.LoadCommand.TYPE
    facts["libraries"] = [lib.name for lib in b.libraries if lib.command != kinds.ID_DYLIB]
    facts["rpaths"] = [r.path for r in b.rpaths]
    facts["loader"] = b.dylinker.name if b.has_dylinker else ""
    defined = {s.name.removeprefix("_") for s in b.symbols if s.raw_type & 0x0E == 0x0E}
    facts["coreml_symbols"] = sorted(defined & BRIDGE)
    facts["cdhash"], facts["signature"], facts["signature_broken"] = "", "none", False
    if b.has_code_signature:
        with open(path, "rb") as f:
            data = f.read()
        at, size = b.code_signature.data_offset, b.code_signature.data_size
        cd = directory(data[at:at + size])
        flags, hashes, _, _, slots, limit = struct.unpack(">2I2I2I", cd[12:36])
        page = 1 << cd[39]
        facts["cdhash"] = hashlib.sha256(cd).hexdigest()[:40]
        facts["signature"] = "linker" if flags & 0x20000 else "ad hoc" if flags & 2 else "certificate"
        whole = all(hashlib.sha256(data[i * page:min((i + 1) * page, limit)]).digest() == cd[hashes + 32 * i:hashes + 32 * i + 32]
                    for i in range(slots))
        facts["signature_broken"] = not (whole and limit == at)
    return facts


def elf(b):
    tags = lief.ELF.DynamicEntry.TAG
    arch = {lief.ELF.ARCH.X86_64: "x86_64", lief.ELF.ARCH.AARCH64: "arm64"}[b.header.machine_type]
    notes = [n for n in b.notes if n.type == lief.ELF.Note.TYPE.GNU_BUILD_ID]
    rpaths = [p for e in b.dynamic_entries if e.tag in (tags.RPATH, tags.RUNPATH)
              for p in (e.rpath if e.tag == tags.RPATH else e.runpath).split(":")]
    defined = {s.name for s in b.symtab_symbols if s.shndx != 0}
    return {
        "format": "elf", "platform": "linux " + arch, "id": bytes(notes[0].description).hex() if notes else "",
        "libraries": list(b.libraries), "rpaths": rpaths, "loader": b.interpreter if b.has_interpreter else "",
        "coreml_symbols": sorted(defined & BRIDGE),
    }


def theirs(path):
    if lief.is_macho(path):
        fat = lief.MachO.parse(path)
        return None if fat is None or fat.size != 1 else macho(path, fat.at(0))
    return elf(lief.ELF.parse(path))


def main():
    compared = {"mach-o": 0, "elf": 0, "refused": 0}
    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = bazel([MAC], "//third_party/whisper_cpp:cli_coreml", "//third_party/whisper_cpp:cli_ggml", "//tools/coregate")
        programs += bazel([], "//third_party/whisper_cpp:cli_coreml")
        for arch in ("arm64", "amd64"):
            out = f"{folder}/coregate-{arch}"
            run("go", "build", "-o", out, "./tools/coregate", env={**os.environ, "GOOS": "darwin", "GOARCH": arch, "CGO_ENABLED": "0"})
            programs.append(out)
        programs += wheels(folder)
        # A signed program in which one byte changed, and one byte of its signature's.
        for source in [p for p in programs if lief.is_macho(p) and lief.MachO.parse(p).size == 1]:
            with open(source, "rb") as f:
                data = bytearray(f.read())
            data[len(data) // 2] ^= 1
            changed = f"{folder}/changed-{len(programs)}"
            with open(changed, "wb") as f:
                f.write(data)
            programs.append(changed)
        for path in sorted(glob.glob("/usr/bin/*")):
            if len(programs) > SYSTEM_PROGRAMS:
                break
            if os.path.isfile(path) and lief.is_elf(path):
                programs.append(path)
        for path in programs:
            mine, other = ours(path), theirs(path)
            if mine is None or other is None:
                if mine is not other:
                    differences += 1
                    print(f"{path}: ours {mine}, LIEF {other}")
                compared["refused"] += 1
                continue
            mine = {**mine, "signature_broken": mine["signature_broken"] != ""}
            for key, value in other.items():
                if mine[key] != value:
                    differences += 1
                    print(f"{path}: {key}: ours {mine[key]!r}, LIEF {value!r}")
            compared[other["format"]] += 1
    print(f"{compared['mach-o']} Mach-O, {compared['elf']} ELF, {compared['refused']} refused by both; {differences} differences")
    # The cross-built and the foreign ones, and each of them changed, have to have been among them.
    return 1 if differences or compared["mach-o"] < 14 or compared["elf"] < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
