"""What objc2's crates say of a method, a constant or a variable, in the words of Objective-C.

A type is compared in a plain form that both sides are brought to: without const, nullability and lifetime words, and with Apple's names
for kinds of strings (NSErrorDomain) as the string that they are.
"""
import re

# Rust's words for C's types.
C_TYPES = {
    "bool": "BOOL", "Bool": "BOOL", "c_int": "int", "c_uint": "unsigned int", "c_long": "long", "c_ulong": "unsigned long", "c_float": "float",
    "c_double": "double", "c_char": "char", "c_void": "void", "c_longlong": "long long", "c_ulonglong": "unsigned long long", "i64": "int64_t",
    "u64": "uint64_t", "AnyObject": "id", "AnyClass": "Class", "Sel": "SEL", "()": "void",
}
DROPPED = r"\b(?:const|_Nonnull|_Nullable|_Null_unspecified|_Nullable_result|__kindof|__autoreleasing|__strong|__unsafe_unretained|nullable|nonnull|enum|struct)\b"
SCALAR_WORDS = {*C_TYPES.values(), "NSInteger", "NSUInteger", "instancetype"} - {"id"}


def plain(type_name, aliases):
    """An Objective-C type in the plain form. aliases: typedef -> type, for those of objects."""
    t = re.sub(DROPPED, " ", type_name)
    t = re.sub(r"[A-Za-z_]\w*", lambda m: aliases.get(m[0], m[0]), t)
    t = re.sub(r"\s+", " ", t)
    t = re.sub(r"\s*([*<>,()^\[\]])\s*", r"\1", t).strip()
    return t.replace("[]", "*")


def split(text):
    """The parts of a list at its outer commas."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "<([{" and 1 or (c in ")]}" or c == ">" and text[i - 1] != "-") and -1 or 0
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


class Crates:
    """The methods, constants and variables of some crates, by Apple's names."""

    def __init__(self, crates, enums):
        self.aliases, self.methods, self.constants, self.variables, self.functions, self.owners = {}, {}, {}, {}, {}, set()
        self.enums = enums
        files = [text for files in crates.values() for text in files.values()]
        for text in files:
            self.aliases |= {m[1]: m[2] for m in re.finditer(r"pub type (\w+) = (\w+);", text)}
        for text in files:
            self.read(text)

    def read(self, text):
        text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        for m in re.finditer(r'#\[doc\(alias = "(\w+)"\)\]\s*(?:pub )?const \w+(?:: Self)? = (?:Self\()?(.+?)\)?;', text):
            value = re.sub(r"(?<=[0-9a-fA-F])_?(?:usize|isize|[iu]\d\d)\b", "", m[2])
            if re.fullmatch(r"[\s0-9a-fA-FxX()|<+-]+", value):
                self.constants[m[1]] = eval(value, {"__builtins__": {}})  # noqa: S307 - digits, shifts and ors alone
        self.variables |= {m[1]: m[2] for m in re.finditer(r"pub static (\w+): &'static (\w+);", text)}
        for m in re.finditer(r'pub (?:unsafe )?extern "C-unwind" fn (\w+)\(([^)]*)\)(?: -> ([^{]*?))? \{', text):
            types = [self.type(a.split(":", 1)[1], "") for a in split(m[2])]
            self.functions[m[1]] = types, self.type(m[3] or "()", "", True)
        owner = ""
        pattern = (r"^impl(?:<[^{]*?>)? (?P<impl>\w+)(?:<[^{]*?>)? \{$|pub unsafe trait (?P<trait>\w+)|"
                   r"#\[unsafe\(method\((?P<selector>[\w:]+)\)\)\](?P<attributes>(?:\s*#\[[^\n]*\])*)\s*(?:pub(?:\(\w+\))? )?(?:unsafe )?fn (?:r#)?\w+(?P<fn>[^;{]*?)(?:\s+where\b[^;]*)?;")
        for m in re.finditer(pattern, text, flags=re.M | re.S):
            if m["impl"] or m["trait"]:
                owner = m["impl"] or m["trait"]
                self.owners.add(owner)
            elif owner:
                self.method(owner, m["selector"], m["fn"])

    def method(self, owner, selector, fn):
        # A generic parameter that is a method's own is a kind of string or a block's.
        fn = re.sub(r"^<[^(]*>(?=\()", "", fn.strip())
        depth = 0
        for end, c in enumerate(fn):
            depth += (c == "(") - (c == ")")
            if depth == 0:
                break
        arguments = split(fn[1:end])
        result = fn[end + 1:].strip().removeprefix("->").strip() or "()"
        instance = bool(arguments) and re.match(r"&(?:mut )?self$|self: |this: Allocated|this: &", arguments[0]) is not None
        arguments = [a.split(":", 1)[1].strip() for a in arguments[instance:] if ":" in a]
        nil = [a.startswith(("Option<", "*mut", "*const")) for a in arguments]
        types = [self.type(a, owner) for a in arguments]
        if selector.endswith(":_"):  # the error that Rust returns instead
            selector, types, nil = selector[:-1], [*types, "NSError**"], [*nil, True]
            result = re.sub(r"^Result<(.*), Retained<NSError>>$", r"\1", result)
            result = "BOOL" if result == "()" else result
        self.methods[owner, selector, not instance] = types, self.type(result, owner, True), nil

    def type(self, t, owner, result=False):
        """A Rust type in the plain form of Objective-C's."""
        t = re.sub(r",\s*>", ">", re.sub(r"<\s+", "<", re.sub(r"\s+", " ", t).strip().rstrip(",")))
        for wrapper in ("Option", "Retained", "Allocated"):
            if m := re.fullmatch(rf"{wrapper}<(.*)>", t):
                return self.type(m[1], owner, result) if wrapper == "Option" else self.object(m[1], owner, result)
        if m := re.fullmatch(r"(?:&|NonNull<|\*mut |\*const )(?:block2::)?DynBlock<dyn Fn\((.*?)\)(?: -> (.*?))?(?: \+ '_)?>+", t):
            return f"{self.type(m[2] or '()', owner)}(^)({','.join(self.type(a, owner) for a in split(m[1])) or 'void'})"
        if m := re.fullmatch(r"&(?:mut )?(.*)", t):
            return self.object(m[1], owner, result)
        if m := re.fullmatch(r"NonNull<(.*)>|\*(?:mut|const) (.*)", t):
            inner = m[1] or m[2]
            if n := re.fullmatch(r"NonNull<(.*)>|\*(?:mut|const) (.*)", inner):
                return self.object(n[1] or n[2], owner, result) + "*" if not C_TYPES.get(n[1] or n[2]) else self.type(n[1] or n[2], owner) + "**"
            if inner in C_TYPES and inner != "AnyObject" or inner in self.enums or inner == "Bool" or inner.startswith("NS") and inner not in self.owners:
                return C_TYPES.get(inner, inner) + "*"
            return self.object(inner, owner, result)
        return C_TYPES.get(t, t)

    def object(self, t, owner, result):
        """A class as an object of it."""
        t = t.strip()
        if t == "Self":
            return "instancetype" if result else owner + "*"
        if m := re.fullmatch(r"ProtocolObject<dyn (\w+)>", t):
            return f"id<{m[1]}>"
        t = self.aliases.get(t, t)
        if t in C_TYPES:
            return C_TYPES[t]
        if t.endswith("Type") and t[:2] not in ("NS", "ML"):
            return t  # a type parameter
        if m := re.fullmatch(r"(\w+)<(.*)>", t):
            return f"{m[1]}<{','.join(self.object(p, owner, False) for p in split(m[2]))}>*"
        return t + "*"
