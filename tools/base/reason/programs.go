package reason

// Programs: codes.
const (
	BinaryFormat           = "BINARY_FORMAT"
	BinaryStub             = "BINARY_STUB"
	BinaryNotWhisperCLI    = "BINARY_NOT_WHISPER_CLI"
	BinaryDigest           = "BINARY_DIGEST"
	BinaryNoCoreML         = "BINARY_NO_COREML"
	BinaryCoreMLUnexpected = "BINARY_COREML_UNEXPECTED"
	BinaryLane             = "BINARY_LANE"
	BinaryPlatform         = "BINARY_PLATFORM"
	BinaryLibraryPath      = "BINARY_LIBRARY_PATH"
	BinaryLibraryMissing   = "BINARY_LIBRARY_MISSING"
	BinaryUnsigned         = "BINARY_UNSIGNED"
	BinarySignatureBroken  = "BINARY_SIGNATURE_BROKEN"
	BinaryTrailing         = "BINARY_TRAILING"
	BinaryNoSymbols        = "BINARY_NO_SYMBOLS"
	BinaryUntold           = "BINARY_INSTRUCTIONS_UNTOLD"
)

var programs = Table{
	{Code: BinaryFormat, Class: Refuse, Means: "The file is not a whole ELF or Mach-O program of one architecture.",
		Do: "Name the built whisper-cli itself, not a wrapper script, a library or a universal file."},
	{Code: BinaryStub, Class: Refuse, Means: "The program is the stub that upstream installs under the old name `main`: it prints a deprecation and exits 1.",
		Do: "Name the file that the target whisper-cli builds. A stub that was renamed to whisper-cli is still the stub."},
	{Code: BinaryNotWhisperCLI, Class: Refuse, Means: "The program lacks the text with which whisper-cli reports a failed start, so its refusal could not be recognised.",
		Do: "Name a whisper-cli of a supported revision."},
	{Code: BinaryDigest, Class: Fail, Means: "The program is not the one that was expected, byte for byte: a stale build, or one signed again.",
		Do: "Hash after signing, and name the file that was hashed."},
	{Code: BinaryNoCoreML, Class: Fail, Means: "The program was built without WHISPER_USE_COREML: it holds none of upstream's Core ML texts and can only run ggml's encoder.",
		Do: "Build the coreml flavour, in a separate build folder."},
	{Code: BinaryCoreMLUnexpected, Class: Fail, Means: "A program that should be ggml only contains Core ML code, so it cannot be the contrast.",
		Do: "Build the ggml flavour."},
	{Code: BinaryLane, Class: Fail, Means: "The Core ML in the program is not the demanded lane's: the physical one links Apple's CoreML framework, the emulated one carries the double.",
		Do: "Build for the platform and lane that you mean to prove."},
	{Code: BinaryPlatform, Class: Fail, Means: "The program is for another operating system or processor.",
		Do: "Build for the platform on which it shall run."},
	{Code: BinaryLibraryPath, Class: Fail, Means: "The program would load libraries from outside the operating system, so its digest does not say what runs.",
		Do: "Link statically, and remove rpaths."},
	{Code: BinaryLibraryMissing, Class: Fail, Means: "This machine lacks a library that the program needs, or the version of its interface: the loader would refuse the program before its first line.",
		Do: "Build on the oldest system that shall run the program (--config=hermetic asks for glibc 2.28 only), or run it on a newer one."},
	{Code: BinaryUnsigned, Class: Fail, Means: "A program for macOS on arm64 without a valid signature is killed when it starts.",
		Do: "Sign it, ad hoc at least; then hash it."},
	{Code: BinarySignatureBroken, Class: Fail, Means: "The program changed after it was signed: macOS kills it when it reaches what changed.",
		Do: "Build it again, or sign it again; then hash it."},
	{Code: BinaryTrailing, Class: Note, Means: "Bytes stand behind the program's code signature, which does not cover them. The system runs the program; codesign --strict refuses it. The digest of the file covers them.",
		Do: "Find out which tool wrote them, such as a linker that pads the file; strip and sign again."},
	{Code: BinaryNoSymbols, Class: Note, Means: "The symbol table does not show the bridge's functions, since the program was stripped; its texts were judged alone.",
		Do: "Nothing, or keep symbols to see more."},
	{Code: BinaryUntold, Class: Inconclusive, Means: "Nothing tells whether this machine's processor has the instructions that the program was built for: ggml's functions that say so are not all in its symbol table, or the system does not say what its processor has.",
		Do: "Keep the symbol table (no strip, no -s), link ggml statically, or run the program on a recording: CPU_FEATURES_MISSING is its answer if it lacks some."},
}
