"""core_ml_host_repo: which Core ML the machine has that runs Bazel.

On a Mac: OS build, hardware model, chip and Xcode build, asked of the system each time
the repository is fetched; an answer that is missing is an error, since an identity with
holes would let one machine's receipt serve another. Elsewhere a file that says there is
no Core ML here: only the physical lane reads it, and that does not exist there. Never
run on a Mac by this project's own CI.
"""

visibility("//gate/...")

def _ask(rctx, *command):
    """What a command of macOS prints."""
    result = rctx.execute(list(command), timeout = 60)
    if result.return_code != 0 or not result.stdout.strip():
        fail(("core_ml_host: expected an answer from `{}`, which ended with {} and said `{}`. The physical lane's identity " +
              "needs it: install a full Xcode (not only the Command Line Tools), select it and accept its licence.").format(
            " ".join(command),
            result.return_code,
            result.stderr.strip(),
        ))
    return result.stdout.strip()

def _xcode(rctx):
    """Xcode's version and build."""
    words = _ask(rctx, "/usr/bin/xcodebuild", "-version").replace("\n", " ").split(" ")
    if len(words) != 5 or words[0] != "Xcode" or words[2:4] != ["Build", "version"]:
        fail("core_ml_host: expected `Xcode <version> Build version <build>` from xcodebuild -version, found `{}`. Select a full Xcode.".format(" ".join(words)))
    return words[1], words[4]

def _mac_identity(rctx):
    xcode_version, xcode_build = _xcode(rctx)
    return {
        "lane": "physical",
        "core_ml": "CoreML.framework",
        "os_version": _ask(rctx, "/usr/bin/sw_vers", "-productVersion"),
        "os_build": _ask(rctx, "/usr/bin/sw_vers", "-buildVersion"),
        "hardware": _ask(rctx, "/usr/sbin/sysctl", "-n", "hw.model"),
        "chip": _ask(rctx, "/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"),
        "xcode_version": xcode_version,
        "xcode_build": xcode_build,
    }

def _core_ml_host_repo_impl(rctx):
    is_mac = rctx.os.name.lower().startswith("mac os")
    identity = _mac_identity(rctx) if is_mac else {"lane": "none", "core_ml": "none"}
    rctx.file("identity.json", json.encode_indent(identity, indent = "  ") + "\n", executable = False)
    rctx.file("BUILD.bazel", "exports_files([\"identity.json\"], visibility = [\"//visibility:public\"])\n", executable = False)

core_ml_host_repo = repository_rule(
    implementation = _core_ml_host_repo_impl,
    doc = """Writes `identity.json`: which Core ML this machine has.

`configure = True`: `bazel fetch --configure` asks again, as after an update of macOS or Xcode.""",
    configure = True,
    environ = ["DEVELOPER_DIR"],
    local = True,
)
