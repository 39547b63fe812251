"""core_ml_host_repo: which Core ML the machine has that runs Bazel.

On a Mac: the OS build, the hardware model, the chip and the Xcode build, asked of the
system each time the repository is fetched. Elsewhere a file that says there is none;
only the physical lane reads it, and it does not exist there. Never run on a Mac by
this project's own CI.
"""

visibility("//gate/...")

def _ask(rctx, command):
    result = rctx.execute(command)
    if result.return_code != 0:
        fail(("core_ml_host: `{}` ended with {}: {}. The physical lane's identity needs its answer: " +
              "install Xcode (not only the Command Line Tools) and accept its licence.").format(
            " ".join(command),
            result.return_code,
            result.stderr.strip(),
        ))
    return result.stdout.strip()

def _xcode(rctx):
    words = _ask(rctx, ["xcodebuild", "-version"]).replace("\n", " ").split(" ")
    if len(words) != 5 or words[0] != "Xcode":
        fail("core_ml_host: expected `Xcode <version> Build version <build>` from xcodebuild -version, found {}".format(words))
    return {"version": words[1], "build": words[4]}

def _core_ml_host_repo_impl(rctx):
    if rctx.os.name.startswith("mac"):
        identity = {
            "lane": "physical",
            "core_ml": "CoreML.framework",
            "os_version": _ask(rctx, ["sw_vers", "-productVersion"]),
            "os_build": _ask(rctx, ["sw_vers", "-buildVersion"]),
            "hardware": _ask(rctx, ["sysctl", "-n", "hw.model"]),
            "chip": _ask(rctx, ["sysctl", "-n", "machdep.cpu.brand_string"]),
            "xcode": _xcode(rctx),
        }
    else:
        identity = {"lane": "none", "host": rctx.os.name}
    rctx.file("identity.json", json.encode_indent(identity, indent = "  ") + "\n", executable = False)
    rctx.file("BUILD.bazel", "exports_files([\"identity.json\"])\n", executable = False)

core_ml_host_repo = repository_rule(
    implementation = _core_ml_host_repo_impl,
    doc = "Writes `identity.json`: which Core ML this machine has.",
    configure = True,
    environ = ["DEVELOPER_DIR"],
    local = True,
)
