"""`@rule_docs`: what the public .bzl files say of themselves, as Bazel's starlark_doc_extract reads it.

starlark_doc_extract wants a target for every file that is loaded, in other modules too, and their versions differ in which they
have. So it reads copies, in which each symbol of another module comes from one file of placeholders.
"""

visibility("private")

_FOLDERS = ["gate/private", "gate/private/providers", "gate/private/repo"]
_PUBLIC = ["defs", "extensions", "providers"]

_PLACEHOLDERS = """
BuildSettingInfo = provider(doc = "", fields = [])
CcInfo = provider(doc = "", fields = [])
XcodeVersionInfo = provider(doc = "", fields = [])
apple_support = struct(
    action_required_attrs = lambda: {},
    platform_constraint_attrs = lambda: {},
)
cc_common = struct()
find_cc_toolchain = None
find_cpp_toolchain = None
use_cc_toolchain = lambda mandatory = True: []
use_cpp_toolchain = lambda mandatory = True: []
"""

def _local(line):
    if not line.startswith("load(\"@"):
        return line
    return "load(\"//:placeholders.bzl\"" + line[line.index(","):]

def _rule_docs_repo_impl(rctx):
    root = rctx.workspace_root
    files = ["gate/" + name + ".bzl" for name in _PUBLIC]
    for folder in _FOLDERS:
        path = root
        for part in folder.split("/"):
            path = path.get_child(part)
        files += [folder + "/" + child.basename for child in path.readdir() if child.basename.endswith(".bzl")]
    for file in files:
        path = root
        for part in file.split("/"):
            path = path.get_child(part)
        rctx.file(file, "\n".join([_local(line) for line in rctx.read(path).split("\n")]))
    for folder in ["gate"] + _FOLDERS:
        rctx.file(folder + "/BUILD.bazel", "exports_files(glob([\"*.bzl\"]))\n")
    rctx.file("placeholders.bzl", _PLACEHOLDERS)
    rctx.file("BUILD.bazel", """
filegroup(
    name = "loaded",
    srcs = ["placeholders.bzl"] + {files},
)

[
    starlark_doc_extract(
        name = name,
        src = "//gate:{{}}.bzl".format(name),
        deps = [":loaded"],
        visibility = ["//visibility:public"],
    )
    for name in {public}
]
""".format(
        files = ["//{}:{}".format(*file.rsplit("/", 1)) for file in files],
        public = _PUBLIC,
    ))

_rule_docs_repo = repository_rule(
    implementation = _rule_docs_repo_impl,
    doc = "Makes `:defs`, `:extensions` and `:providers`.",
    local = True,
)

rule_docs = module_extension(
    implementation = lambda _mctx: _rule_docs_repo(name = "rule_docs"),
    doc = "For work on this repository alone.",
)
