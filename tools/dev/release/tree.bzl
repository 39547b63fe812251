"""`@release_tree`: this repository's source files by their paths, for the archive of a release.

A package's files are no other package's to name, so an action gets them through a repository. Each file is a link of its own
name, in one package: `BUILD.bazel` becomes `BUILD.bazel.file`, and an action that packs gives it its name back. Which of them are
packed the packer says (package release); here only what no user could need is left out, and what version control leaves out.
"""

visibility("private")

# The folders and files at the root that hold the product.
_FOLDERS = ["docs", "examples", "gate", "patches", "testdata/speech", "testdata/transcripts", "third_party", "tools"]
_FILES = [
    ".bazelignore",
    ".bazelrc",
    ".bazelversion",
    "ARCHITECTURE.md",
    "BUILD.bazel",
    "CHANGELOG.md",
    "LICENSE",
    "MODULE.bazel",
    "NOTICE",
    "README.md",
    "SECURITY.md",
    "go.mod",
    "go.sum",
    "module.go",
]
_LEFT_OUT = ["testdata", "tools/dev"]

# More folders, one below the other and all together, than there are.
_FOLDERS_MAX = 10000

def _release_tree_repo_impl(rctx):
    root = rctx.workspace_root
    files = []
    folders = list(_FOLDERS)

    # Not watch_tree: that would follow the links that Bazel leaves in an example's folder.
    for step in range(_FOLDERS_MAX):
        if step == len(folders):
            break
        folder = folders[step]
        for child in root.get_child(folder).readdir(watch = "yes"):
            name = folder + "/" + child.basename
            if child.basename.startswith("bazel-") or child.basename.startswith(".git") or child.basename == "user.bazelrc":
                continue
            if not child.is_dir:
                files.append(name)
            elif name not in _LEFT_OUT and child.basename not in _LEFT_OUT:
                folders.append(name)
    for file in _FILES + files:
        rctx.symlink(root.get_child(file), "tree/" + file + (".file" if file.endswith("BUILD.bazel") else ""))
    rctx.file("BUILD.bazel", """filegroup(
    name = "files",
    srcs = glob(["tree/**"]),
    visibility = ["//visibility:public"],
)
""")

_release_tree_repo = repository_rule(
    implementation = _release_tree_repo_impl,
    doc = "Makes `:files`.",
    local = True,
)

release_tree = module_extension(
    implementation = lambda _mctx: _release_tree_repo(name = "release_tree"),
    doc = "For work on this repository alone.",
)
