"""What a lane gives to the rules: CoreMLToolchainInfo."""

visibility("//gate/...")

CoreMLToolchainInfo = provider(
    doc = """The lane that a Core ML toolchain gives, and its tools.

The rules take everything that differs between Apple's Core ML and the emulated
one from here, and know no operating system of their own.""",
    fields = {
        "lane": "string: `physical` or `emulated`. Written by the toolchain, never by a flag.",
        "identity": "File: JSON that says which Core ML this is (Xcode and OS build; or our double's version and " +
                    "instruction-set baseline). An input of every action that runs whisper-cli, so that it is in the key.",
        "bridge": "CcInfo: the three functions of upstream's `src/coreml/whisper-encoder.h`.",
        "compile": "function(actions, core_ml, package, output): registers the action that compiles the `.mlpackage` " +
                   "tree artifact `package` to the `.mlmodelc` tree artifact `output`. `core_ml` is this provider.",
        "compile_data": "struct: what `compile` needs of its toolchain's own attributes. Opaque to the rules.",
        "predict": "FilesToRunProvider: the program that predicts with this lane's Core ML, tensor in and tensor out, and keeps every " +
                   "attempt to load (//tools/encoder/coremlprobe; tools/encoder/probe has its formats), or None where our evaluator computes the program.",
        "plan": "FilesToRunProvider: the program that reads where this lane's Core ML would run each operation, and its device list " +
                "(//tools/encoder/coremlprobe; tools/run/placement has its formats), or None where nothing places operations.",
        "evaluator": "FilesToRunProvider: the program that evaluates encoders for the double, or None on the physical lane.",
        "run_requirements": "dict of string to string: execution requirements of actions that run whisper-cli.",
    },
)
