"""objective_c_host_repo: the Objective-C compiler, Foundation and runtime of the machine that runs Bazel.

Linux alone: clang, GNUstep's Foundation and GCC's Objective-C runtime, from the system's packages. Upstream's own bridge is
compiled with them over the stand-in for Core ML. What is missing is not an error here, since nothing else needs them: whoever asks for
that bridge is told at analysis.
"""

visibility("//gate/...")

_PACKAGES = "Install clang, libgnustep-base-dev and gobjc++ (Debian's names), then run `bazel fetch --configure`; or leave " + \
            "--//third_party/whisper_cpp:bridge at `double`, which needs no Objective-C compiler."

def _file(rctx, clang, name):
    """Where the compiler finds a library, or None."""
    result = rctx.execute([clang, "-print-file-name=" + name], timeout = 60)
    path = result.stdout.strip()
    return path if result.return_code == 0 and path.startswith("/") and rctx.path(path).exists else None

def _first(rctx, candidates):
    for candidate in candidates:
        if rctx.path(candidate).exists:
            return candidate
    return None

def _detect(rctx):
    """The pieces, and what of them is missing."""
    if not rctx.os.name.lower().startswith("linux"):
        return {}, "expected Linux, found {}".format(rctx.os.name)
    clang = rctx.which("clang")
    clangxx = rctx.which("clang++")
    if not clang or not clangxx:
        return {}, "expected clang and clang++ on PATH, found none. " + _PACKAGES
    foundation = _file(rctx, clang, "libgnustep-base.so")
    runtime = _file(rctx, clang, "libobjc.so")
    if not foundation or not runtime:
        return {}, "expected libgnustep-base.so and GCC's libobjc.so where {} looks for libraries, found {} and {}. {}".format(clang, foundation, runtime, _PACKAGES)
    foundation = str(rctx.path(foundation).dirname.get_child("libgnustep-base.so"))
    multiarch = foundation.split("/")[-2]
    headers = _first(rctx, [folder + "/GNUstep/Foundation/Foundation.h" for folder in ["/usr/include", "/usr/include/" + multiarch, "/usr/local/include"]])
    runtime_headers = _first(rctx, [str(rctx.path(runtime).dirname) + "/include/objc/objc.h"])
    if not headers or not runtime_headers:
        return {}, "expected GNUstep's Foundation.h and GCC's objc/objc.h, found {} and {}. {}".format(headers, runtime_headers, _PACKAGES)
    return {
        "clang": str(clang),
        "clangxx": str(clangxx),
        "includes": [headers.removesuffix("/Foundation/Foundation.h"), runtime_headers.removesuffix("/objc/objc.h")],
        "libraries": [foundation, runtime],
    }, ""

def _objective_c_host_repo_impl(rctx):
    found, missing = _detect(rctx)
    rctx.file("host.bzl", "\"\"\"Whether this machine can compile Objective-C over the stand-in.\"\"\"\n\nFOUND = {}\n".format(not missing), executable = False)
    lines = ["    {} = {},".format(k, repr(v)) for k, v in found.items()]
    rctx.file("BUILD.bazel", "\n".join([
        "load(\"@rules_coreml_gate//gate/private:objective_c_host.bzl\", \"objective_c_host\")",
        "objective_c_host(",
        "    name = \"host\",",
    ] + lines + [
        "    missing = {},".format(repr(missing)),
        "    visibility = [\"//visibility:public\"],",
        ")",
        "",
    ]), executable = False)

objective_c_host_repo = repository_rule(
    implementation = _objective_c_host_repo_impl,
    doc = "`:host`, an objective_c_host, and `host.bzl` with `FOUND`. `configure = True`: `bazel fetch --configure` looks again.",
    configure = True,
    environ = ["PATH"],
    local = True,
)
