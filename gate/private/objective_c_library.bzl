"""objective_c_library: Objective-C on Linux, for upstream's bridge and coremlprobe over the stand-in."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//gate/private:messages.bzl", "no_objective_c")
load("//gate/private/providers:objective_c_host_info.bzl", "ObjectiveCHostInfo")

visibility([
    "//gate/...",
    "//third_party/...",
    "//tools/...",
])

# As a Mac compiles them, but for the runtime: clang has no newer form that GCC's runtime reads (third_party/core_ml_stand_in/runtime).
_FLAGS = [
    "-O2",
    "-DNDEBUG",
    "-g0",
    "-fPIC",
    "-fblocks",
    "-fexceptions",
    "-fobjc-exceptions",
    "-fconstant-string-class=NSConstantString",
    "-DGNUSTEP",
    "-DGNUSTEP_BASE_LIBRARY=1",
    "-DGNU_RUNTIME=1",
    "-D_NATIVE_OBJC_EXCEPTIONS",
    "-no-canonical-prefixes",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
]
_COUNTED = [
    "-fobjc-runtime=gnustep-1.9",
    "-fobjc-legacy-dispatch",
    "-fobjc-arc",
]
_UNCOUNTED = ["-fobjc-runtime=gcc"]

def _compile(ctx, host, src, headers):
    cxx = src.extension == "mm"
    out = ctx.actions.declare_file("_objc/{}/{}.o".format(ctx.label.name, src.basename))
    args = ctx.actions.args()
    args.add_all(_FLAGS)
    args.add_all(_UNCOUNTED if ctx.attr.uncounted else _COUNTED)
    if cxx:
        args.add("-std=c++17")
    if ctx.file.prefix_header:
        args.add("-include", ctx.file.prefix_header)
    args.add_all(ctx.attr.copts)
    args.add("-iquote", ".")
    args.add_all(depset(transitive = [headers.includes, headers.system_includes, headers.quote_includes]), before_each = "-I")
    args.add_all(host.includes, before_each = "-isystem")
    args.add("-c", src)
    args.add("-o", out)
    ctx.actions.run(
        mnemonic = "GateObjectiveC",
        progress_message = "Compiling " + src.short_path,
        executable = host.clangxx if cxx else host.clang,
        arguments = [args],
        inputs = depset(
            [src] + ctx.files.hdrs + ([ctx.file.prefix_header] if ctx.file.prefix_header else []),
            transitive = [headers.headers],
        ),
        outputs = [out],
        env = {"PATH": "/usr/bin:/bin"},
    )
    return out

def _objective_c_library_impl(ctx):
    host = ctx.attr._host[ObjectiveCHostInfo]
    if host.missing:
        fail(no_objective_c(ctx.label, host.missing))
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    deps = cc_common.merge_cc_infos(cc_infos = [d[CcInfo] for d in ctx.attr.deps])
    own = cc_common.create_compilation_context(headers = depset(ctx.files.hdrs))
    both = cc_common.merge_compilation_contexts(compilation_contexts = [own, deps.compilation_context])
    objects = depset([_compile(ctx, host, src, both) for src in ctx.files.srcs])
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(objects = objects, pic_objects = objects),
        linking_contexts = [deps.linking_context],
        user_link_flags = ["-Wl,--wrap=__objc_exec_class"] + host.libraries + ["-pthread"],
        # Classes announce themselves when the program starts; nothing refers to them by symbol.
        alwayslink = True,
        disallow_dynamic_library = True,
    )
    return [
        DefaultInfo(files = objects),
        CcInfo(compilation_context = both, linking_context = linking),
    ]

objective_c_library = rule(
    implementation = _objective_c_library_impl,
    doc = """Compiles Objective-C and Objective-C++ with the machine's clang, over GNUstep's Foundation and GCC's runtime.

The C++ toolchain links the result. Where the machine lacks any of these, analysis fails and says what to install.""",
    attrs = {
        "srcs": attr.label_list(allow_files = [".m", ".mm"], mandatory = True, doc = "Sources."),
        "hdrs": attr.label_list(allow_files = [".h"], doc = "Headers, also for those that depend on this."),
        "deps": attr.label_list(providers = [CcInfo], doc = "C++ libraries whose headers and objects are needed."),
        "copts": attr.string_list(doc = "More arguments of the compiler."),
        "prefix_header": attr.label(allow_single_file = [".h"], doc = "Included before every source."),
        "uncounted": attr.bool(doc = "Without automatic reference counting, for code that the counting itself stands on."),
        "_host": attr.label(default = "@objective_c_host//:host", providers = [ObjectiveCHostInfo]),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)
