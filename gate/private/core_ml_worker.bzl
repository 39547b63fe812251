"""core_ml_worker: a kind of remote Mac, as platform and toolchain."""

load("//gate/private:checks.bzl", "check_version")
load("//gate/private:core_ml_identity.bzl", "core_ml_identity")
load("//gate/private:physical_core_ml.bzl", "physical_core_ml")

visibility("//gate/...")

def core_ml_worker(
        name,
        os_version,
        os_build,
        hardware,
        chip,
        xcode_version,
        xcode_build,
        macos_sdk_version = None,
        exec_properties = {},
        bridge = None,
        compiler = None,
        predictor = None,
        visibility = ["//visibility:public"]):
    """Describes Macs that are alike: same build of macOS, same hardware, same Xcode.

    Targets:

    - `<name>`: the platform. Build for it with `--platforms`, run on it with `register_execution_platforms`.
    - `<name>_identity`: the constraint value that sets it apart from every other Mac.
    - `<name>_core_ml`, `<name>_toolchain`: its physical Core ML toolchain, for `register_toolchains`.
    - `<name>_identity_file`: the identity, an input of every physical action.
    - `<name>_xcode`, `<name>_xcode_config`, with `macos_sdk_version`: that Xcode, for a host that has none. Give
      `--xcode_version_config=//workers:<name>_xcode_config` to compile for these workers from Linux.

    What follows from the identity is in the exec properties, which route an action to such a worker and enter
    its key: `XcodeBuild` in those of all actions, `OSBuild`, `Hardware` and `Chip` in those of actions that run
    whisper-cli. Workers have to advertise them. The runner then compares the file with the machine, and refuses to
    run on another.

    Args:
      name: of the platform.
      os_version: `sw_vers -productVersion`, e.g. `15.6`.
      os_build: `sw_vers -buildVersion`, e.g. `24G84`.
      hardware: `sysctl -n hw.model`, e.g. `Mac16,10`.
      chip: `sysctl -n machdep.cpu.brand_string`, e.g. `Apple M4`.
      xcode_version: first line of `xcodebuild -version`, e.g. `16.4`.
      xcode_build: second line of `xcodebuild -version`, e.g. `16F6`.
      macos_sdk_version: of the macOS SDK in that Xcode: `xcrun --sdk macosx --show-sdk-version`, e.g. `15.5`. A Mac that runs Bazel
        finds its own.
      exec_properties: what your service wants beside these, such as a pool. A name with `run.` before it is for
        actions that run whisper-cli.
      bridge: the C++ library with the three functions of whisper-encoder.h; default upstream's own.
      compiler: program that compiles encoders; default Xcode's coremlc.
      predictor: program that predicts with Core ML and reads its compute plans; default `//tools/encoder/coremlprobe`.
      visibility: of all targets.
    """
    check_version(native.package_relative_label(name), "macos_sdk_version", macos_sdk_version)
    xcode_config = None
    if macos_sdk_version:
        xcode_config = ":" + name + "_xcode_config"
        native.xcode_version(
            name = name + "_xcode",
            aliases = [xcode_build],
            default_macos_sdk_version = macos_sdk_version,
            version = xcode_version,
            visibility = visibility,
        )
        native.xcode_config(
            name = name + "_xcode_config",
            default = ":" + name + "_xcode",
            versions = [":" + name + "_xcode"],
            visibility = visibility,
        )
    native.constraint_value(
        name = name + "_identity",
        constraint_setting = Label("//gate/platforms:identity"),
        visibility = visibility,
    )
    constraints = [
        Label("@platforms//os:macos"),
        Label("@platforms//cpu:arm64"),
        ":" + name + "_identity",
    ]
    native.platform(
        name = name,
        constraint_values = constraints,
        exec_properties = {
            "OSFamily": "macos",
            "XcodeBuild": xcode_build,
            "run.Chip": chip,
            "run.Hardware": hardware,
            "run.OSBuild": os_build,
        } | exec_properties,
        visibility = visibility,
    )
    core_ml_identity(
        name = name + "_identity_file",
        chip = chip,
        hardware = hardware,
        os_build = os_build,
        os_version = os_version,
        xcode_build = xcode_build,
        xcode_version = xcode_version,
        visibility = visibility,
    )
    physical_core_ml(
        name = name + "_core_ml",
        bridge = bridge or Label("//third_party/whisper_cpp/bridge"),
        compiler = compiler or Label("//tools/actions/gate_coremlc"),
        identity = ":" + name + "_identity_file",
        predictor = predictor or Label("//tools/encoder/coremlprobe"),
        tags = ["manual"],
        target_compatible_with = constraints,
        visibility = visibility,
        xcode_config = xcode_config,
    )
    native.toolchain(
        name = name + "_toolchain",
        exec_compatible_with = constraints,
        target_compatible_with = constraints,
        target_settings = [Label("//gate:lane_native")],
        toolchain = ":" + name + "_core_ml",
        toolchain_type = Label("//gate/toolchains:core_ml_toolchain_type"),
        visibility = visibility,
    )
