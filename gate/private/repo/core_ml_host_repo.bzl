"""core_ml_host_repo: which Mac this is, for the keys of actions that run Apple's Core ML here."""

visibility("//gate/...")

def _ask(rctx, *command):
    """What a command of macOS prints, or an empty string if it fails."""
    result = rctx.execute(list(command), timeout = 60)
    return result.stdout.strip() if result.return_code == 0 else ""

def _core_ml_host_repo_impl(rctx):
    identity = {"lane": "physical", "core_ml": "none", "os": "", "os_build": "", "chip": "", "xcode": ""}
    if rctx.os.name.lower().startswith("mac os"):
        identity |= {
            "core_ml": "Apple Core ML",
            "os": _ask(rctx, "/usr/bin/sw_vers", "-productVersion"),
            "os_build": _ask(rctx, "/usr/bin/sw_vers", "-buildVersion"),
            "chip": _ask(rctx, "/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"),
            "xcode": _ask(rctx, "/usr/bin/xcodebuild", "-version").replace("\n", ", "),
        }
    rctx.file("identity.json", json.encode_indent(identity, indent = "  ") + "\n", executable = False)
    rctx.file("BUILD.bazel", "exports_files([\"identity.json\"], visibility = [\"//visibility:public\"])\n", executable = False)

core_ml_host_repo = repository_rule(
    implementation = _core_ml_host_repo_impl,
    doc = """Writes identity.json: macOS build, chip and Xcode build of this machine.

On another system it says that there is no Core ML here. `configure = True`: `bazel sync --configure` looks again.""",
    configure = True,
    environ = ["DEVELOPER_DIR"],
    local = True,
)
