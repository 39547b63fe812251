"""compiled: an aspect that reads off a program's own actions what it is compiled and linked from."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//gate/private/providers:compiled_info.bzl", "CompiledInfo")
load("//gate/private/providers:core_ml_bridge_info.bzl", "CoreMLBridgeInfo")
load("//gate/private/providers:embedded_metal_info.bzl", "EmbeddedMetalInfo")

visibility("//gate/...")

_COMPILES = ["CppCompile", "GateObjectiveC", "ObjcCompile"]
_LINKS = ["CppArchive", "CppLink", "ObjcLink"]
_OBJECTS = ["a", "dylib", "lib", "lo", "o", "obj", "pic.a", "pic.o", "so"]

# Inputs of a compile action that are none of its sources: programs, and the maps that say which header is whose.
_NO_SOURCES = ["cppmap", "d", "modulemap", "params"]

_DEPS = ["actual", "binary", "deps", "implementation_deps", "link_extra_lib", "malloc", "srcs"]

def _is_source(file):
    return file.extension not in _NO_SOURCES and not file.is_directory

def _is_object(file):
    return file.extension in _OBJECTS

def _read(actions, toolchain):
    """The sources, defines, results and linked files of a target's own actions."""
    defines, sources, made, linked = [], [], [], []
    for action in actions:
        if action.mnemonic in _COMPILES:
            inputs = [f for f in action.inputs.to_list() if f.path not in toolchain and _is_source(f)]
            sources += inputs
            made += action.outputs.to_list()
            if "whisper.cpp" in [f.basename for f in inputs]:
                defines += [arg[2:] for arg in action.argv if arg.startswith("-D")]
        elif action.mnemonic in _LINKS:
            linked += [f for f in action.inputs.to_list() if f.path not in toolchain and _is_object(f)]
            made += action.outputs.to_list()
    return defines, sources, made, linked

def _compiled_impl(target, ctx):
    toolchain = {f.path: None for f in find_cc_toolchain(ctx).all_files.to_list()}
    defines, sources, made, linked = _read(target.actions, toolchain)
    bridges = []
    below = []
    if CoreMLBridgeInfo in target:
        bridges.append(target[CoreMLBridgeInfo].lane)
        below.append(target[CoreMLBridgeInfo].compiled)
    if EmbeddedMetalInfo in target:
        sources += target[EmbeddedMetalInfo].sources
        made += target[DefaultInfo].files.to_list()
    for name in _DEPS:
        value = getattr(ctx.rule.attr, name, None)
        for dep in value if type(value) == type([]) else [value]:
            if dep and CompiledInfo in dep:
                below.append(dep[CompiledInfo])
    return [CompiledInfo(
        defines = depset(defines, transitive = [i.defines for i in below]),
        sources = depset(sources, transitive = [i.sources for i in below]),
        made = depset(made, transitive = [i.made for i in below]),
        linked = depset(linked, transitive = [i.linked for i in below]),
        bridges = depset(bridges, transitive = [i.bridges for i in below]),
    )]

compiled = aspect(
    implementation = _compiled_impl,
    doc = "Collects CompiledInfo along the attributes by which C++ targets depend on each other.",
    attr_aspects = _DEPS,
    toolchains = use_cc_toolchain(),
)
