"""What others' bindings of Core ML and Foundation say: PyObjC's, made from the headers of Apple's SDK, and objc2's crates.

Both are fetched by the ordinary clients (pip, cargo) and checked by the SHA-256 of requirements/objc_bindings.json; nothing of them is
run. From PyObjC's come headers for a compiler, with Apple's own type names and availability. objc2 was made by another generator, and
says of each method the selector, whether it is a class's or an object's, the types, and where nil may be.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

PINS = pathlib.Path(__file__).parent / "requirements" / "objc_bindings.json"
CACHE = pathlib.Path(sys.prefix) / "objc_bindings"


class BindingError(Exception):
    """A binding that cannot be fetched, or is not the pinned one."""


def crate(name, version, sha256):
    """The generated and hand-written Rust of a crate: {path: text}."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))

    def found():
        for path in home.glob(f"registry/cache/*/{name}-{version}.crate"):
            if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
                return path

    if not found():
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "src").mkdir()
            (scratch / "src" / "lib.rs").touch()
            (scratch / "Cargo.toml").write_text(
                f'[package]\nname = "reads"\nversion = "0.0.0"\n[dependencies]\n{name} = {{ version = "={version}", default-features = false }}\n')
            done = subprocess.run(["cargo", "fetch", "--quiet"], cwd=scratch, capture_output=True, text=True)
        if not found():
            raise BindingError(f"crate {name} {version}: expected one of SHA-256 {sha256}, found none after `cargo fetch`: {done.stderr.strip()}")
    with tarfile.open(found()) as tar:
        return {m.name: tar.extractfile(m).read().decode() for m in tar.getmembers() if m.name.endswith(".rs") and "/src/" in m.name}


def metadata(distribution, version, sha256, path):
    """One JSON file of a source distribution. pip checks and unpacks it; that it cannot be built off a Mac does not matter."""
    kept = CACHE / f"{distribution}-{version}-{path.replace('/', '_')}"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as scratch:
            wanted = pathlib.Path(scratch) / "wanted.txt"
            wanted.write_text(f"{distribution}=={version} --hash=sha256:{sha256}\n")
            done = subprocess.run(
                [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--require-hashes", "--no-deps", "--no-binary", ":all:",
                 "--no-build-isolation", "--no-clean", "-d", scratch, "-r", str(wanted)],
                capture_output=True, text=True, env=os.environ | {"TMPDIR": scratch})
            files = list(pathlib.Path(scratch).glob(f"pip-*/*/{path}"))
            if len(files) != 1:
                raise BindingError(f"{distribution} {version}: expected one {path} in it, found {len(files)}: {done.stderr.strip()[-2000:]}")
            CACHE.mkdir(exist_ok=True)
            kept.write_bytes(files[0].read_bytes())
    text = kept.read_text()
    return json.loads(text[text.index("{"):])["definitions"]


def fetch():
    """PyObjC's definitions by framework, and the Rust of objc2's crates by framework."""
    pins = json.loads(PINS.read_text())
    headers = {f: metadata(**p) for f, p in pins["headers"].items()}
    return headers, {f: crate(**p) for f, p in pins["crates"].items()}


# Headers, as a compiler reads them, of PyObjC's definitions.

SCALARS = {"v": "void", "q": "long", "Q": "unsigned long", "i": "int", "I": "unsigned int", "d": "double", "f": "float", "Z": "BOOL", "@": "id"}
PLAIN = set("""void char short int long float double unsigned signed const struct enum id instancetype Class SEL BOOL Protocol IMP
    NSInteger NSUInteger CGFloat size_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t _Bool unichar NSObject
    __kindof __unsafe_unretained __autoreleasing __strong inout out in bycopy _Nonnull _Nullable _Null_unspecified
    NSFastEnumerationState CFTypeRef""".split())
# What the compiler itself, or the prelude, declares.
DECLARED = {"NSObject", "Protocol", "NSInteger", "NSUInteger"}
LINKAGE = "APPLE_EXTERN"  # of the prelude
LIFETIME = {"retain", "release", "autorelease", "retainCount", "dealloc"}


def availability(entry, inherited=""):
    """The attribute of an entity, or that of what it belongs to."""
    since = entry.get("introduced", "")
    return f' __attribute__((availability(macos,introduced={since})))' if re.fullmatch(r"\d+(\.\d+)*", since) else inherited


def declared(type_name, name):
    """A declaration of a name. A block's stands inside its type."""
    return type_name.replace("(^)", f"(^{name})", 1) if "(^" in re.sub(r"<[^<>]*>", "", type_name) else f"{type_name} {name}"


class Headers:
    """One header of each framework. Methods with a type that no framework here defines are left out: a call of one is then an error."""

    def __init__(self, frameworks):
        self.frameworks = frameworks
        self.known = set(PLAIN)
        self.elsewhere = set()
        for d in frameworks.values():
            self.known |= set(d["classes"]) | set(d["formal_protocols"]) | set(d["enum_type"])
        for _ in range(8):  # typedefs of typedefs
            for d in frameworks.values():
                self.known |= {n for n, t in d["typedefs"].items() if self.plain(t)}
        for d in frameworks.values():
            for e in [*d["classes"].values(), *d["formal_protocols"].values()]:
                for m in e["methods"]:
                    self.method(m, ())

    def plain(self, type_name, more=()):
        """Whether a type is made of known names alone. A protocol of another framework is as good as known: it is declared, and empty."""
        type_name = re.sub(r"\bid<(\w+)>", lambda m: self.elsewhere.add(m[1]) or "id", type_name)
        return "?" not in type_name and ("(" not in type_name or "(^" in type_name) and all(w in self.known or w in more for w in re.findall(r"[A-Za-z_]\w*", type_name))

    @staticmethod
    def type_name(entry):
        return entry.get("type_name") or SCALARS.get(entry["typestr"], "?")

    def method(self, m, generics):
        types = [self.type_name(a) for a in m["args"]]
        result = "instancetype" if m["retval"].get("instancetype") else self.type_name(m["retval"])
        if not all(self.plain(t, generics) for t in [result, *types]) or m["selector"] in LIFETIME:
            return None
        parts = m["selector"].split(":")
        text = parts[0] if not types else " ".join(f"{p}:({t})a{i}" for i, (p, t) in enumerate(zip(parts, types)))
        if m.get("variadic"):
            text += ", ..."
        return f"{'+' if m['class_method'] else '-'} ({result}){text}{availability(m)};"

    def members(self, entry, generics):
        lines, accessors = [], set()
        since = {m["selector"]: m for m in entry["methods"] if not m["class_method"]}
        for p in entry["properties"]:
            attributes = p["attributes"]
            getter = next((a.split("=")[1] for a in attributes if isinstance(a, str) and a.startswith("getter=")), p["name"])
            if not self.plain(self.type_name(p), generics) or "(^(^" in self.type_name(p) or any(not isinstance(a, str) for a in attributes):
                continue
            kept = [a for a in attributes if a in ("readonly", "copy", "nonatomic", "class", "weak", "assign") or a.startswith(("getter=", "setter="))]
            lines.append(f"@property ({', '.join(['nonatomic', *(a for a in kept if a != 'nonatomic')])}) {declared(self.type_name(p), p['name'])}"
                         f"{availability(since.get(getter, {}))};")
            accessors |= {getter, f"set{p['name'][0].upper()}{p['name'][1:]}:"}
        for m in entry["methods"]:
            if m["selector"] not in accessors and (line := self.method(m, generics)):
                lines.append(line)
        return lines

    @staticmethod
    def parameters(name, generics):
        """The type parameters of a class. PyObjC leaves their variance out; Apple's collections that do not change are covariant."""
        variance = "" if "Mutable" in name else "__covariant "
        return f"<{', '.join(variance + g for g in generics)}>" if generics else ""

    def text(self, framework):
        d = self.frameworks[framework]
        out = ["#pragma once", "#pragma clang system_header", "#import <prelude.h>"]
        if framework != "Foundation":
            out.append("#import <Foundation/Foundation.h>")
        for n, e in sorted(d["enum_type"].items()):
            kind = SCALARS[e["type"]]
            # A value that does not fit is written as the bits of one that does.
            body = ", ".join(f"{v} = ({kind}){x['value']}" for v, x in sorted(d["enum"].items()) if x.get("enum") == n and isinstance(x["value"], int))
            # In C++, Apple's macro makes an option's type a plain integer, so that options add up.
            out.append(f"typedef {kind} {n}; enum : {kind} {{ {body} }};" if kind.startswith("unsigned") else f"typedef enum {n} : {kind} {{ {body} }} {n};")
        names = [n for n in sorted(d["classes"]) if n not in DECLARED]
        for n in names:
            generics = d["classes"][n].get("template_parameters") or ()
            out.append(f"@class {n}{self.parameters(n, generics)};")
        out += [f"@protocol {n};" for n in sorted(set(d["formal_protocols"]) | self.elsewhere) if n != "NSObject"]
        waiting = [(n, t) for n, t in sorted(d["typedefs"].items()) if n in self.known and n not in d["enum_type"] and n not in PLAIN]
        seen = {n for n, _ in waiting}
        while waiting:  # a typedef after what it is made of
            ready = [(n, t) for n, t in waiting if not (set(re.findall(r"\w+", t)) - {n}) & seen]
            out += [f"typedef {declared(t, n)};" for n, t in ready or waiting]
            seen -= {n for n, _ in ready or waiting}
            waiting = [w for w in waiting if w not in (ready or waiting)]
        for n, e in sorted(d["formal_protocols"].items()):
            if n == "NSObject":
                continue
            out += [f"@protocol {n} <{', '.join(e['implements'] or ['NSObject'])}>", *self.members(e, ()), "@end"]
        done = set(DECLARED)
        while rest := [n for n in names if n not in done]:  # a class after its superclass
            for n in rest:
                e = d["classes"][n]
                if e.get("super") in d["classes"] and e["super"] not in done:
                    continue
                done.add(n)
                generics = e.get("template_parameters") or ()
                protocols = [p for p in e["protocols"] if p in self.known and p != "NSObject"]
                since = [tuple(map(int, m["introduced"].split("."))) for m in e["methods"] if re.fullmatch(r"\d+(\.\d+)*", m.get("introduced", ""))]
                own = [m for m in e["methods"] if "introduced" not in m]
                # PyObjC has a class's availability on each of its methods.
                whole = availability({"introduced": ".".join(map(str, min(since)))}) if since and not own else ""
                head = f"{whole.strip()}\n@interface {n}{self.parameters(n, generics)}"
                out += [head + (f" : {e['super']}" if e.get("super") else "") + (f" <{', '.join(protocols)}>" if protocols else ""),
                        *self.members(e, generics), "@end"]
        for n, e in sorted(d["functions"].items()):
            types = [self.type_name(a) for a in e["args"]]
            if not e.get("inline") and not e.get("variadic") and all(self.plain(t) for t in [self.type_name(e["retval"]), *types]):
                out.append(f'{LINKAGE} {self.type_name(e["retval"])} {n}({", ".join(types) or "void"}){availability(e)};')
        for n, e in sorted(d["externs"].items()):
            if e.get("type_name") and self.plain(e["type_name"]):
                out.append(f"extern {e['type_name']} {n}{availability(e)};")
        return "\n".join(out) + "\n"
