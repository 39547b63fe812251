#!/usr/bin/env python3
"""each Core ML and Foundation call of the bridge and the probe: as others' bindings of Apple's headers declare it"""
# requirements: objc
#
#   tools/dev/peers/run objc-calls [--write]      --write: docs/objc.md anew
#
# Every Objective-C source that a Mac compiles (upstream's bridge, and whatever of ours lies outside the stand-in) is parsed by Clang with
# automatic reference counting for the oldest macOS that is supported, over headers made of PyObjC's description of Apple's SDK. Any
# warning is a fault: an unknown class, selector or property, a wrong type, a call that an older macOS lacks outside of @available.
# Each class, selector, property, constant and variable is then looked up in the crates objc2-core-ml and objc2-foundation, which
# another generator made of the same headers: both must agree on what it takes and returns, and on nil where a source passes it. What
# the stand-in declares must be what Apple declares. docs/objc.md has the table. Last, sources and a binding are changed in ways that
# must be found, each for its own reason. WHISPER_CPP_SOURCE names a checkout of whisper.cpp; without it Bazel is asked for the pin's.
import copy
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import clang.cindex as ci

import objc_bindings
import objc_rust

ROOT = pathlib.Path.cwd()
PAGE = ROOT / "docs" / "objc.md"
STAND_IN = "third_party/core_ml_stand_in/"
KINDS = ci.CursorKind
PRELUDE = {"CFBridgingRetain", "CFBridgingRelease", "CFRelease"}  # declared there
# Apple's own C, declared as far as the sources go: no binding here has it, so nothing of it is checked.
STUBS = {
    "mach/mach.h": """#pragma once
#include <stdint.h>
typedef int kern_return_t, *task_info_t;
typedef unsigned task_t, mach_msg_type_number_t, task_flavor_t;
typedef struct { uint64_t phys_footprint; } task_vm_info_data_t;
enum { KERN_SUCCESS = 0, TASK_VM_INFO = 22, TASK_VM_INFO_COUNT = 1 };
extern "C" task_t mach_task_self(void);
extern "C" kern_return_t task_info(task_t, task_flavor_t, task_info_t, mach_msg_type_number_t *);
""",
    "os/log.h": "#pragma once\ntypedef struct os_log_s *os_log_t;\nextern os_log_t OS_LOG_DEFAULT;\n#define os_log_error(log, ...) ((void)(log))\n",
    "sys/sysctl.h": '#pragma once\n#include <stddef.h>\nextern "C" int sysctlbyname(const char *, void *, size_t *, void *, size_t);\n',
}
# What Clang says of upstream's sources for a reason that is known. Each must be seen.
KNOWN = {
    ("whisper-compat.m", "category is implementing a method which will also be implemented by its primary class"):
        "It means to stand in for methods that macOS 14 brought, and asks for `MAC_OS_X_VERSION_14_00`, which Apple's headers do not define "
        "(they have `MAC_OS_VERSION_14_0`). So it always takes their place. Nothing here calls them: whisper.cpp predicts synchronously.",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sources():
    """The files that a Mac compiles: {shown name: path}."""
    files = {f: ROOT / f for f in run("git", "ls-files", "*.m", "*.mm").split() if not f.startswith(STAND_IN)}
    folder = os.environ.get("WHISPER_CPP_SOURCE")
    if not folder:
        label = "@whisper_cpp//:src/coreml/whisper-encoder.mm"
        folder = pathlib.Path(run("bazel", "query", "--noshow_progress", "--output=location", label).split(":")[0]).parents[2]
    upstream = sorted((pathlib.Path(folder) / "src" / "coreml").glob("*.m*"))
    if len(upstream) != 3:
        raise SystemExit(f"{folder}/src/coreml: expected the bridge's three sources, found {[p.name for p in upstream]}")
    return {p.name: p for p in upstream} | files


def arguments(cpp, *headers):
    """Clang's arguments: the machine's own C and C++ library, as g++ asks for it, and everything of Apple's from headers."""
    said = subprocess.run(["c++", "-E", "-x", "c++" if cpp else "c", "-v", "/dev/null"], check=True, capture_output=True, text=True).stderr
    system = said.split("#include <...> search starts here:")[1].split("End of search list.")[0].split()
    minimum = re.search(r'MINIMUM_MACOS = "(.*)"', (ROOT / "gate/private/released.bzl").read_text())[1]
    # The C library's headers are this processor's. Nothing that is checked depends on which one it is.
    processor = {"x86_64": "x86_64", "aarch64": "arm64"}[os.uname().machine]
    return [*(["-x", "objective-c++", "-std=c++17"] if cpp else ["-x", "objective-c"]), "-target", f"{processor}-apple-macosx{minimum}", "-fobjc-arc", "-fblocks",
            "-nostdinc", "-iquote", str(ROOT), "-U__nonnull", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wunguarded-availability", "-Wno-deprecated-declarations", "-Wno-unused-parameter",
            *(f"-I{h}" for h in headers), *(a for p in system for a in ("-isystem", p))]


def write_headers(frameworks, folder):
    made = objc_bindings.Headers(frameworks)
    for framework in frameworks:
        (folder / framework).mkdir()
        (folder / framework / f"{framework}.h").write_text(made.text(framework))
    (folder / "prelude.h").write_text((pathlib.Path(__file__).parent / "objc_prelude.h").read_text())
    for name, text in STUBS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


class Checker:
    """What the bindings say, and which parts of it were asked for."""

    def __init__(self, frameworks, crates, headers):
        self.frameworks, self.headers = frameworks, headers
        self.entities = {n: e for d in frameworks.values() for part in ("classes", "formal_protocols") for n, e in d[part].items()}
        self.rust = objc_rust.Crates(crates, {n for d in frameworks.values() for n in d["enum_type"]})
        self.aliases = {n: t for d in frameworks.values() for n, t in d["typedefs"].items() if re.fullmatch(r"\w+ \*", t)}
        self.faults, self.known, self.used = [], set(), {}

    def fault(self, where, text):
        self.faults.append(f"{where}: {text}")

    def plain(self, t):
        return objc_rust.plain(t, self.aliases)

    def cursors(self, shown, path, text, *above):
        """Parses a source, reports what Clang does, and gives what is in it. text: what it is, whatever the file has. above: folders of headers
        that come before the bindings'."""
        unsaved = [(str(path), text)]
        unit = ci.Index.create().parse(str(path), args=arguments(path.suffix != ".m", *above, self.headers), unsaved_files=unsaved)
        for d in unit.diagnostics:
            if (shown, d.spelling) in KNOWN:
                self.known.add((shown, d.spelling))
            elif d.severity >= ci.Diagnostic.Warning:
                self.fault(f"{shown}:{d.location.line}", d.spelling)
        return list(unit.cursor.walk_preorder())

    def source(self, shown, path, text=None):
        """Checks every call of a source."""
        text = path.read_text() if text is None else text
        text = text.encode()  # Clang counts bytes
        for c in self.cursors(shown, path, text.decode()):
            if not c.location.file or c.location.file.name != str(path):
                continue
            where, r = f"{shown}:{c.location.line}", c.referenced
            if c.kind == KINDS.OBJC_MESSAGE_EXPR:
                if r is None:
                    self.fault(where, f"[… {c.spelling}]: expected a method that a binding declares, found none")
                elif r.semantic_parent.spelling in self.entities:
                    self.message(where, shown, r, c, text)
            elif property_of(c, self.entities):
                self.call(where, shown, r.semantic_parent.spelling, False, r.spelling, [], self.plain(r.type.spelling))
            elif c.kind == KINDS.BINARY_OPERATOR and property_of(left := next(c.get_children()), self.entities):
                if not re.match(rb"\s*=[^=]", text[left.extent.end.offset:]):
                    continue
                r = left.referenced
                setter = f"set{r.spelling[0].upper()}{r.spelling[1:]}:"
                self.call(where, shown, r.semantic_parent.spelling, False, setter, [self.plain(r.type.spelling)], "void")
            elif c.kind == KINDS.DECL_REF_EXPR and r is not None:
                self.constant(where, shown, r)

    def message(self, where, shown, method, expression, text):
        owner, is_class = method.semantic_parent.spelling, method.kind == KINDS.OBJC_CLASS_METHOD_DECL
        if method.kind == KINDS.OBJC_PROPERTY_DECL:
            types, result = [], self.plain(method.type.spelling)
        else:
            types, result = [self.plain(p.type.spelling) for p in method.get_arguments()], self.plain(method.result_type.spelling)
        nil = self.call(where, shown, owner, is_class, method.spelling, types, result)
        passed = list(expression.get_children())
        passed = passed[len(passed) - len(nil or []):]  # behind the receiver
        for i, (a, may) in enumerate(zip(passed, nil or [])):
            if not may and NIL.match(text, a.extent.start.offset):
                self.fault(where, f"{shown_as(owner, is_class, method.spelling)}: argument {i + 1} is nil, expected an object: {types[i]}")

    def call(self, where, shown, owner, is_class, selector, types, result):
        if owner == "NSObject":
            return None  # the runtime's: the prelude declares it, and no binding does
        self.used.setdefault((owner, is_class, selector), (types, result, set()))[2].add(shown)
        return self.agree(where, "PyObjC", owner, is_class, selector, types, result)

    def described(self, owner, is_class, selector):
        """PyObjC's own entry."""
        return next((m for m in self.entities[owner]["methods"] if (m["selector"], m["class_method"]) == (selector, is_class)), {})

    def agree(self, where, who, owner, is_class, selector, types, result):
        """Whether objc2 says the same as another. Returns for each argument whether it may be nil."""
        name, above, theirs = shown_as(owner, is_class, selector), owner, None
        while theirs is None and above in self.entities:
            theirs = self.rust.methods.get((above, selector, is_class))
            above = self.entities[above].get("super")
        if theirs is None:
            # Rust has no methods of any number of arguments.
            if not self.described(owner, is_class, selector).get("variadic"):
                self.fault(where, f"{name}: {who} has it, objc2 has none")
            return None
        own = lambda t: owner + "*" if t == "instancetype" else t
        if types != theirs[0] or own(result) != own(theirs[1]):
            self.fault(where, f"{name}: {who} has ({', '.join(types)}) -> {result}, objc2 has ({', '.join(theirs[0])}) -> {theirs[1]}")
        return theirs[2]

    def constant(self, where, shown, r, who="PyObjC"):
        name = r.spelling
        if r.kind == KINDS.ENUM_CONSTANT_DECL and any(name in d["enum"] for d in self.frameworks.values()):
            said, theirs = r.enum_value, self.rust.constants.get(name)
        elif r.kind == KINDS.FUNCTION_DECL and any(name in d["functions"] for d in self.frameworks.values()) and name in self.rust.functions:
            self.function(where, shown, r)
            return
        elif r.kind == KINDS.FUNCTION_DECL and any(name in d["functions"] for d in self.frameworks.values()) and name not in PRELUDE:
            said, theirs = "a function", "none"
        elif r.kind == KINDS.VAR_DECL and any(name in d["externs"] for d in self.frameworks.values()):
            said, theirs = self.plain(r.type.spelling), self.rust.object(self.rust.variables.get(name, "none"), "", False)
        else:
            return
        self.used.setdefault(("", False, name), ([], str(said), set()))[2].add(shown)
        if said != theirs:
            self.fault(where, f"{name}: {who} has {said}, objc2 has {theirs}")

    def function(self, where, shown, r):
        """PyObjC leaves the class of what a function gives out: there objc2 alone says it."""
        types, result = [self.plain(p.type.spelling) for p in r.get_arguments()], self.plain(r.result_type.spelling)
        theirs = self.rust.functions[r.spelling]
        self.used.setdefault(("", False, r.spelling), (types, theirs[1], set()))[2].add(shown)
        if types != theirs[0] or result != theirs[1] and not (result == "id" and theirs[1].endswith("*")):
            self.fault(where, f"{r.spelling}: PyObjC has ({', '.join(types)}) -> {result}, objc2 has ({', '.join(theirs[0])}) -> {theirs[1]}")

    def stand_in(self, include):
        """Compares each declaration of the stand-in's headers with objc2's. Returns how many there are."""
        declared, used = set(), copy.deepcopy(self.used)
        for c in self.cursors("stand-in", self.headers / "stand_in.mm", "#import <CoreML/CoreML.h>\n", include):
            owner = c.semantic_parent.spelling if c.semantic_parent else ""
            where = f"{pathlib.Path(c.location.file.name).name}:{c.location.line}" if c.location.file else ""
            if not c.location.file or STAND_IN not in c.location.file.name:
                continue
            if c.kind == KINDS.ENUM_CONSTANT_DECL:
                declared.add(c.spelling)
                self.constant(where, "", c, "the stand-in")
            elif c.kind in METHODS and owner in self.entities and (c.kind, owner, c.spelling) not in declared:
                declared.add((c.kind, owner, c.spelling))
                property_ = c.kind == KINDS.OBJC_PROPERTY_DECL
                types = [] if property_ else [self.plain(p.type.spelling) for p in c.get_arguments()]
                result = self.plain(c.type.spelling if property_ else c.result_type.spelling)
                self.agree(where, "the stand-in", owner, c.kind == KINDS.OBJC_CLASS_METHOD_DECL, c.spelling, types, result)
        self.used = used
        return len(declared)


NIL = re.compile(rb"(?:nil|NULL|nullptr)\b")
METHODS = (KINDS.OBJC_PROPERTY_DECL, KINDS.OBJC_INSTANCE_METHOD_DECL, KINDS.OBJC_CLASS_METHOD_DECL)


def property_of(c, entities):
    r = c.referenced
    return c.kind == KINDS.MEMBER_REF_EXPR and r is not None and r.kind == KINDS.OBJC_PROPERTY_DECL and r.semantic_parent.spelling in entities


def shown_as(owner, is_class, selector):
    return f"{'+' if is_class else '-'}[{owner} {selector}]" if owner else selector


def page(checker):
    """docs/objc.md."""
    lines = ["""# Core ML and Foundation, call by call

What upstream's bridge and this project's own Objective-C ask of Apple's frameworks, as two bindings declare it that others made from
Apple's headers: PyObjC's description of the SDK of macOS 26.5, and the crates `objc2-core-ml` and `objc2-foundation`.
`tools/dev/peers/run objc-calls` compiles the sources over the first, with automatic reference counting and for the oldest macOS
that is supported, and looks each call up in the second; it writes this page with `--write`. **No Mac ran any of it.** What a method does,
no binding says.

Not listed: what the runtime itself gives every class (`alloc`, `init`, `copy`, `isEqual:`), and what literals call. PyObjC alone has
`stringWithFormat:`, since Rust has no such methods.

| call | takes | gives | since macOS | by |
|---|---|---|---|---|"""]
    for (owner, is_class, name), (types, result, by) in sorted(checker.used.items(), key=lambda e: (e[0][0] == "", e[0])):
        plain = next((d[part][name] for d in checker.frameworks.values() for part in ("functions", "externs") if name in d[part]), {})
        since = (checker.described(owner, is_class, name) if owner else plain).get("introduced", "")
        takes = ", ".join(f"`{t}`" for t in types)
        files = ", ".join(sorted(f"`{pathlib.Path(b).name}`" for b in by))
        lines.append(f"| `{shown_as(owner, is_class, name)}` | {takes or '–'} | `{result}` | {since or 'always'} | {files} |")
    lines.append("\n## Known\n")
    lines += [f"- `{source}`: {text}. {why}" for (source, text), why in sorted(KNOWN.items())]
    return "\n".join(lines) + "\n"


# Changes that must be found: what is changed into what in the first source that has it, and a word of the fault.
CHANGES = [
    ("a selector that is none", "NSURL fileURLWithPath:", "NSURL fileURLWithName:", "no known class method for selector"),
    ("a selector with a part too few", "configuration:configuration error:error];\n    if", "configuration:configuration];\n    if", "no known class method"),
    ("an object's method sent to a class", "[NSFileManager defaultManager]", "[NSFileManager currentDirectoryPath]", "no known class method"),
    ("another class than it takes", "modelWithContentsOfURL:url ", "modelWithContentsOfURL:path ", "NSString"),
    ("another class than it takes, in the bridge", "fileURLWithPath: path_model_str", "fileURLWithPath: @1", "NSNumber"),
    ("another kind of number", "dataType: MLMultiArrayDataTypeFloat32", "dataType: MLComputeUnitsAll", "MLMultiArrayDataType"),
    ("what it gives, taken for something else", "NSURL * url_model =", "NSData * url_model =", "cannot initialize a variable of type 'NSData"),
    ("a property that is none", "config.computeUnits =", "config.computeUnit =", "computeUnit"),
    ("a constant that is none", "config.computeUnits = MLComputeUnitsAll;\n\n", "config.computeUnits = MLComputeUnitsANE;\n\n", "undeclared identifier"),
    ("newer than the check before it", "@available(macOS 15.0, *)", "@available(macOS 14.4, *)", "only available on macOS 15.0"),
    ("newer than the oldest macOS", "if (@available(macOS 14.4, *))", "if (kTypes != nullptr)", "only available on macOS 14.4"),
    ("nil where an object must be", "initWithFeatureProviderArray:inputArray", "initWithFeatureProviderArray:nil", "is nil, expected an object"),
    ("a class that is none", "[[MLPredictionOptions alloc] init]", "[[MLPredictionSettings alloc] init]", "MLPredictionSettings"),
]
# The same of objc2, which is asked second.
DISAGREEMENTS = [
    ("a method that one binding alone has", ("MLModel", True, "modelWithContentsOfURL:configuration:error:"), lambda m: m.clear(), "objc2 has none"),
    ("another argument", ("NSURL", True, "fileURLWithPath:"), lambda m: m[0].__setitem__(0, "NSURL*"), "objc2 has (NSURL*)"),
    ("an argument more", ("MLModelConfiguration", False, "setComputeUnits:"), lambda m: m[0].append("BOOL"), "objc2 has (MLComputeUnits, BOOL)"),
    ("another result", ("MLMultiArray", False, "count"), lambda m: m.__setitem__(1, "double"), "-> double"),
    ("another value", ("", False, "MLComputeUnitsAll"), None, "objc2 has 3"),
]


def selftest(checker, files):
    """Makes every change and demands its fault."""
    wrong = []

    def demand(name, changed, word):
        if not any(word in f for f in changed.faults):
            wrong.append(f"{name}: expected a fault that says {word!r}, found {changed.faults or 'none'}")

    def fresh():
        c = copy.copy(checker)
        c.faults, c.known, c.used, c.rust = [], set(), {}, copy.deepcopy(checker.rust)
        return c

    for name, old, new, word in CHANGES:
        shown = next((s for s, path in files.items() if old in path.read_text()), None)
        if not shown:
            wrong.append(f"{name}: no source has {old!r} to change")
            continue
        changed = fresh()
        changed.source(shown, files[shown], files[shown].read_text().replace(old, new))
        demand(name, changed, word)
    for name, (owner, is_class, what), change, word in DISAGREEMENTS:
        changed = fresh()
        if change:
            theirs = list(changed.rust.methods.pop((owner, what, is_class)))
            change(theirs)
            if theirs:
                changed.rust.methods[owner, what, is_class] = theirs
        else:
            changed.rust.constants[what] += 1
        by = sorted(checker.used[owner, is_class, what][2])[0]
        changed.source(by, files[by])
        demand(name, changed, word)
    return wrong


def main():
    frameworks, crates = objc_bindings.fetch()
    files = sources()
    with tempfile.TemporaryDirectory() as scratch:
        headers = pathlib.Path(scratch)
        write_headers(frameworks, headers)
        checker = Checker(frameworks, crates, headers)
        for shown, path in files.items():
            checker.source(shown, path)
        checker.faults += [f"{source}: {text!r} is known of it, and was not seen" for source, text in KNOWN if (source, text) not in checker.known]
        declarations = checker.stand_in(ROOT / STAND_IN / "include")
        wrong = list(dict.fromkeys(checker.faults)) + selftest(checker, files)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(checker))
    elif not PAGE.exists() or PAGE.read_text() != page(checker):
        wrong.append("docs/objc.md is not what the bindings say: run `tools/dev/peers/run objc-calls --write`")
    for fault in wrong:
        print(fault)
    print(f"objc-calls: {len(checker.used)} calls and constants in {len(files)} sources, {declarations} declarations of the stand-in, "
          f"{len(CHANGES) + len(DISAGREEMENTS)} changes; {len(wrong)} faults")
    return 1 if wrong or not checker.used or not declarations else 0


if __name__ == "__main__":
    sys.exit(main())
