"""The targets that `--config=hermetic` names, with what hermetic_cc_toolchain says of each."""

# Folders of zig's lib that a compilation may read.
_COMMON_INCLUDES = [
    "libcxx/include",
    "libcxxabi/include",
    "include",
]

def _linux(cpu, go_cpu):
    # zig keeps some of x86-64's headers under x86.
    family = "x86" if cpu == "x86_64" else cpu
    return struct(
        name = "linux_{}_gnu.2.28".format(go_cpu),
        zig = "{}-linux-gnu.2.28".format(cpu),
        constraints = ["@platforms//os:linux", "@platforms//cpu:" + cpu],
        includes = [
            "libc/include/generic-glibc",
            "libc/include/{}-linux-gnu".format(family),
            "libc/include/{}-linux-any".format(family),
            "libc/include/any-linux-any",
        ] + _COMMON_INCLUDES,
        libc = "glibc",
        target_cpu = "k8",
        copts = ["-D_GNU_SOURCE"],
        linkopts = [],
        patterns = [],
    )

def _macos(cpu, go_cpu, copts):
    return struct(
        name = "darwin_" + go_cpu,
        zig = "{}-macos-none".format(cpu),
        constraints = ["@platforms//os:macos", "@platforms//cpu:" + cpu],
        includes = [
            "libunwind/include",
            "libc/darwin",
            "libc/include/any-macos-any",
        ] + _COMMON_INCLUDES,
        libc = "darwin",
        target_cpu = "darwin",
        copts = copts,
        linkopts = ["-Wl,-headerpad_max_install_names"],
        patterns = [("dynamic_library", "lib", ".dylib")],
    )

TARGETS = [
    _linux("x86_64", "amd64"),
    _linux("aarch64", "arm64"),
    _macos("x86_64", "amd64", []),
    _macos("aarch64", "arm64", ["-mcpu=apple_m1"]),
]
