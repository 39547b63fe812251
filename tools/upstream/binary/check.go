package binary

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Reasons are the codes of this package.
var Reasons = reason.Table{
	{Code: "BINARY_FORMAT", Class: reason.Refuse, Means: "The file is no program of one architecture in ELF or Mach-O.",
		Do: "Name the built whisper-cli itself, not a wrapper script, a library or a universal file."},
	{Code: "BINARY_STUB", Class: reason.Refuse, Means: "The program is the stub that upstream installs under the old name `main`: it prints a deprecation and exits 1.",
		Do: "Name whisper-cli."},
	{Code: "BINARY_NOT_WHISPER_CLI", Class: reason.Refuse, Means: "The program lacks the text with which whisper-cli reports a failed start, so its refusal could not be recognised.",
		Do: "Name a whisper-cli of a supported revision."},
	{Code: "BINARY_DIGEST", Class: reason.Fail, Means: "The program is not the one that was expected, byte for byte: a stale build, or one signed again.",
		Do: "Hash after signing, and name the file that was hashed."},
	{Code: "BINARY_NO_COREML", Class: reason.Fail, Means: "The program was built without WHISPER_USE_COREML: it holds none of upstream's Core ML texts and can only run ggml's encoder.",
		Do: "Build the coreml flavour, in a build folder of its own."},
	{Code: "BINARY_COREML_UNEXPECTED", Class: reason.Fail, Means: "A program that should be ggml's only has Core ML code in it, so it is no contrast.",
		Do: "Build the ggml flavour."},
	{Code: "BINARY_LANE", Class: reason.Fail, Means: "The Core ML in the program is not the demanded lane's: the physical one links Apple's CoreML framework, the emulated one carries the double.",
		Do: "Build for the platform and lane that you mean to prove."},
	{Code: "BINARY_PLATFORM", Class: reason.Fail, Means: "The program is for another operating system or processor.",
		Do: "Build for the platform on which it shall run."},
	{Code: "BINARY_LIBRARY_PATH", Class: reason.Fail, Means: "The program would load libraries from outside the operating system, so its digest does not say what runs.",
		Do: "Link statically, and remove rpaths."},
	{Code: "BINARY_UNSIGNED", Class: reason.Fail, Means: "A program for macOS on arm64 without a valid signature is killed when it starts.",
		Do: "Sign it, ad hoc at least; then hash it."},
	{Code: "BINARY_SIGNATURE_BROKEN", Class: reason.Fail, Means: "The program changed after it was signed: macOS kills it when it reaches what changed.",
		Do: "Build it again, or sign it again; then hash it."},
	{Code: "BINARY_NO_SYMBOLS", Class: reason.Note, Means: "The symbol table does not show the bridge's functions, since the program was stripped; its texts were judged alone.",
		Do: "Nothing, or keep symbols to see more."},
}

// Want is what a program is expected to be. Empty members are not checked.
type Want struct {
	// Flavour is "ggml" or one of the Core ML flavours; which of those it is no file can tell.
	Flavour string
	// Lane is "physical" or "emulated".
	Lane string
	// OS and Arch are spelled as in [Identity].
	OS, Arch string
	// SHA256 is the digest of the file that was built.
	SHA256 string
}

// Check holds an identity against what was expected. Path is where the reasons point to.
func Check(path string, id *Identity, want Want) []reason.Reason {
	out := []reason.Reason{}
	add := func(code, expected, found string) {
		out = append(out, reason.Reason{Code: code, Expected: expected, Found: found, Where: path})
	}
	if id.Stub {
		add("BINARY_STUB", "whisper-cli", "the stub of its old name")
		return out
	}
	if !id.CLI {
		add("BINARY_NOT_WHISPER_CLI", "the text `"+cliText+"`", "none")
	}
	if want.SHA256 != "" && want.SHA256 != id.SHA256 {
		add("BINARY_DIGEST", "SHA-256 "+want.SHA256, id.SHA256)
	}
	if want.OS != "" && want.OS != id.OS || want.Arch != "" && want.Arch != id.Arch {
		add("BINARY_PLATFORM", strings.Trim(want.OS+" "+want.Arch, " "), id.OS+" "+id.Arch)
	}
	for _, f := range id.Foreign() {
		add("BINARY_LIBRARY_PATH", "the system's folders only", f)
	}
	if id.Format == "mach-o" && id.Arch == "arm64" && id.Signature == "none" {
		add("BINARY_UNSIGNED", "a code signature", "none")
	}
	if id.Broken != "" {
		add("BINARY_SIGNATURE_BROKEN", "bytes that the signature matches", id.Broken)
	}
	checkCoreML(id, want, add)
	return out
}

func checkCoreML(id *Identity, want Want, add func(code, expected, found string)) {
	has := len(id.Texts) > 0
	switch {
	case want.Flavour == "ggml" && (has || id.Double || id.LinksCoreML()):
		add("BINARY_COREML_UNEXPECTED", "no Core ML", "Core ML texts or libraries")
	case want.Flavour != "" && want.Flavour != "ggml" && len(id.Texts) < len(coreMLTexts):
		add("BINARY_NO_COREML", "upstream's three Core ML texts", quoted(id.Texts))
	}
	switch {
	case want.Lane == "physical" && (id.Double || !id.LinksCoreML()):
		add("BINARY_LANE", "Apple's CoreML framework", lane(id))
	case want.Lane == "emulated" && (!id.Double || id.LinksCoreML()):
		add("BINARY_LANE", "the emulated lane's double", lane(id))
	}
	if has && len(id.Symbols) < len(bridgeSymbols) {
		add("BINARY_NO_SYMBOLS", strings.Join(bridgeSymbols, ", "), quoted(id.Symbols))
	}
}

func lane(id *Identity) string {
	switch {
	case id.Double && id.LinksCoreML():
		return "both bridges"
	case id.Double:
		return "the double"
	case id.LinksCoreML():
		return "Apple's CoreML framework"
	}
	return "neither bridge"
}

func quoted(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	return "only " + strings.Join(texts, "; ")
}
