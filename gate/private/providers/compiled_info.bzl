"""What a program is compiled and linked from: CompiledInfo."""

visibility("//gate/...")

CompiledInfo = provider(
    doc = "What the compile and link actions below a target read, without what the C++ toolchain brings.",
    fields = {
        "defines": "depset of string: -D arguments, without the -D, of the actions that compile whisper.cpp.",
        "sources": "depset of File: sources and headers that compile actions read, generated ones among them.",
        "made": "depset of File: objects, archives and programs that those actions and their links write.",
        "linked": "depset of File: objects and libraries that link and archive actions read.",
        "bridges": "depset of string: the lane of each bridge below the target.",
    },
)
