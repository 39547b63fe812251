package binary

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Want is what a program is expected to be. Empty members are not checked.
type Want struct {
	// Flavour is "ggml" or one of the Core ML flavours; which of those, no file can show.
	Flavour string
	// Lane is "physical" or "emulated".
	Lane string
	// OS and Arch are spelled as in [Identity].
	OS, Arch string
	// SDK and MinOS are versions that a Mach-O's build version must name.
	SDK, MinOS string
	// SHA256 is the digest of the file that was built.
	SHA256 string
	// Lacks says which of some instruction sets the processor lacks that is to run the program, and whether it can be asked at
	// all: tools/base/processor's Lacks for this machine's. A nil one is not asked.
	Lacks func(features []string) (lacking []string, known bool)
	// Lacking lists what a program needs of the machine's libraries and the machine does not have: package here's for this
	// machine. A nil one is not asked.
	Lacking func(id *Identity, path string) []Lack
}

// Lack is a library, or a version of its interface, that a program needs, and what the machine has in its place.
type Lack struct{ Needs, Found string }

// Check compares an identity with what was expected. Path is where the reasons point to.
func Check(path string, id *Identity, want Want) []reason.Reason {
	out := []reason.Reason{}
	add := func(code, expected, found string) {
		out = append(out, reason.Reason{Code: code, Expected: expected, Found: found, Where: path})
	}
	if id.Stub {
		add(reason.BinaryStub, "whisper-cli", "upstream's stub for its old name, in a file called "+filepath.Base(path))
		return out
	}
	if !id.CLI {
		add(reason.BinaryNotWhisperCLI, "the text `"+whispercpp.ContextErrorText+"`", "none")
	}
	if want.SHA256 != "" && want.SHA256 != id.SHA256 {
		add(reason.BinaryDigest, "SHA-256 "+want.SHA256, id.SHA256)
	}
	if want.OS != "" && want.OS != id.OS || want.Arch != "" && want.Arch != id.Arch {
		add(reason.BinaryPlatform, strings.Trim(want.OS+" "+want.Arch, " "), id.OS+" "+id.Arch)
	}
	// Another architecture's instructions are no matter of this processor.
	if want.Lacks != nil && (want.Arch == "" || want.Arch == id.Arch) {
		checkInstructions(id, want.Lacks, add)
	}
	if want.Lacking != nil && (want.OS == "" || want.OS == id.OS) && (want.Arch == "" || want.Arch == id.Arch) {
		for _, lack := range want.Lacking(id, path) {
			add(reason.BinaryLibraryMissing, lack.Needs, lack.Found)
		}
	}
	for _, v := range []struct{ what, want, found string }{{"SDK", want.SDK, id.SDK}, {"oldest system", want.MinOS, id.MinOS}} {
		switch {
		case v.want == "" || v.want == v.found:
		case v.found == "":
			add(reason.BinaryPlatform, v.what+" "+v.want, "no "+v.what+": only a Mach-O names one")
		default:
			add(reason.BinaryPlatform, v.what+" "+v.want, v.what+" "+v.found)
		}
	}
	for _, f := range id.Foreign() {
		add(reason.BinaryLibraryPath, "the system's folders only", f)
	}
	if id.Format == "mach-o" && id.Arch == "arm64" && id.Signature == "none" {
		add(reason.BinaryUnsigned, "a code signature", "none")
	}
	if id.Broken != "" {
		add(reason.BinarySignatureBroken, "bytes that the signature matches", id.Broken)
	}
	if id.Behind > 0 {
		add(reason.BinaryTrailing, "a file that ends with its signature", fmt.Sprintf("%d bytes behind it", id.Behind))
	}
	checkCoreML(id, want, add)
	return out
}

// checkInstructions: a program whose file does not tell all that ggml was compiled for may die as well as one that needs too much, and so
// is no pass.
func checkInstructions(id *Identity, lacks func([]string) ([]string, bool), add func(code, expected, found string)) {
	needs := "a processor with " + strings.Join(id.Instructions, ", ")
	lacking, known := lacks(id.Instructions)
	switch {
	case len(id.Instructions) > 0 && !known:
		add(reason.BinaryUntold, needs, "a system that does not say what its processor has")
	case len(lacking) > 0:
		add(reason.CPUFeaturesMissing, needs, "one without "+strings.Join(lacking, ", "))
	case !id.AllInstructions:
		found := "none: the program is stripped, or ggml is in a library"
		if len(id.InstructionsFrom) > 0 {
			found = "only " + strings.Join(id.InstructionsFrom, ", ")
		}
		add(reason.BinaryUntold, "all of ggml's functions "+whispercpp.InstructionPrefix+"… in the symbol table", found)
	}
}

func checkCoreML(id *Identity, want Want, add func(code, expected, found string)) {
	has := len(id.Texts) > 0
	switch {
	case want.Flavour == whispercpp.FlavourGGML && (has || id.Emulated() || id.LinksCoreML()):
		add(reason.BinaryCoreMLUnexpected, "no Core ML", "Core ML texts or libraries")
	case whispercpp.HasCoreML(want.Flavour) && len(id.Texts) < len(whispercpp.CoreMLTexts):
		add(reason.BinaryNoCoreML, "upstream's three Core ML texts", quoted(id.Texts))
	}
	switch {
	case want.Lane == "physical" && (id.Emulated() || !id.LinksCoreML()):
		add(reason.BinaryLane, "Apple's CoreML framework", lane(id))
	case want.Lane == "emulated" && (!id.Emulated() || id.LinksCoreML()):
		add(reason.BinaryLane, "the emulated lane's double or stand-in", lane(id))
	}
	if has && len(id.Symbols) < len(whispercpp.BridgeSymbols) {
		add(reason.BinaryNoSymbols, strings.Join(whispercpp.BridgeSymbols, ", "), quoted(id.Symbols))
	}
}

func lane(id *Identity) string {
	switch {
	case id.Double && id.StandIn, id.Emulated() && id.LinksCoreML():
		return "several bridges"
	case id.StandIn:
		return "upstream's bridge over a stand-in"
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
