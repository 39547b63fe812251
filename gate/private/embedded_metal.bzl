"""embedded_metal: ggml's Metal shaders as assembly that holds their bytes."""

load("//gate/private/providers:embedded_metal_info.bzl", "EmbeddedMetalInfo")

# Loaded by the BUILD file of @whisper_cpp, which no visibility list can name: its canonical name differs
# between the modules that use it.
visibility("public")

def _embedded_metal_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".s")
    args = ctx.actions.args()
    for name in ("library", "common", "impl"):
        args.add(getattr(ctx.file, name), format = "--" + name + "=%s")
    args.add(out, format = "--out=%s")
    ctx.actions.run(
        mnemonic = "GateEmbedMetal",
        progress_message = "Embedding %{input}",
        executable = ctx.executable._tool,
        arguments = [args],
        inputs = [ctx.file.library, ctx.file.common, ctx.file.impl],
        outputs = [out],
        env = {},
    )
    return [
        DefaultInfo(files = depset([out])),
        EmbeddedMetalInfo(sources = [ctx.file.library, ctx.file.common, ctx.file.impl]),
    ]

embedded_metal = rule(
    implementation = _embedded_metal_impl,
    doc = """Merges the Metal library's text with the headers it includes and writes it as assembly.

Bytes, not `.incbin`: no path enters the object, so two output bases give the same one.""",
    attrs = {
        "library": attr.label(mandatory = True, allow_single_file = [".metal"], doc = "The shaders."),
        "common": attr.label(mandatory = True, allow_single_file = [".h"], doc = "ggml-common.h, for `__embed_ggml-common.h__`."),
        "impl": attr.label(mandatory = True, allow_single_file = [".h"], doc = "ggml-metal-impl.h, which the library includes."),
        "_tool": attr.label(
            default = "//tools/actions/embed_metal",
            executable = True,
            cfg = "exec",
        ),
    },
)
