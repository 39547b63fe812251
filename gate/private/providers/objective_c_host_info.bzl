"""The machine's Objective-C compiler: ObjectiveCHostInfo."""

visibility("//gate/private/...")

ObjectiveCHostInfo = provider(
    doc = "clang, GNUstep's Foundation and GCC's Objective-C runtime, of the machine that runs Bazel.",
    fields = {
        "missing": "string: what is missing and what to do about it; empty if nothing is.",
        "clang": "string: path of clang; empty when something is missing, as are the others.",
        "clangxx": "string: path of clang++.",
        "includes": "list of string: folders of headers.",
        "libraries": "list of string: paths of libraries to link.",
    },
)
