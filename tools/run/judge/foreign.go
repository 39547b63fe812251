package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// tool is a text of a program around a gate that says why there was no run of whisper-cli.
type tool struct {
	// name is the program that prints it, example a line as it was seen.
	name, example string
	pattern       *regexp.Regexp
	code          string
	// expected is what was wanted in its place.
	expected string
}

func text(name, code, expected, pattern, example string) tool {
	return tool{name, example, regexp.MustCompile(pattern), code, expected}
}

const (
	aRun     = "a run of whisper-cli"
	aLibrary = "every library that the program needs"
)

// tools are looked for only in a log that holds no line of whisper-cli. The order is that of precedence within one line.
var tools = []tool{
	text("the C library", reason.CPUFeaturesMissing, "a processor with the program's instructions", `CPU ISA level is lower than required|CPU does not support x86-64-v\d`,
		"./whisper-cli: CPU ISA level is lower than required"),
	text("ld.so", reason.LoaderFailed, aLibrary, `error while loading shared libraries: |version `+"[`']"+`[A-Za-z_0-9.]+' not found|\.so(?:\.\d+)*: .*\b(?:GLIBC|GLIBCXX|CXXABI|GOMP)_\d[\d.]*\b|symbol lookup error: |Error loading shared library |Error relocating \S+: |cannot execute: required file not found`,
		"whisper-cli: /lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.43' not found (required by whisper-cli)"),
	text("dyld", reason.LoaderFailed, aLibrary, `\bdyld(?:\[\d+\])?: .*(?:[Ll]ibrary not loaded|[Ss]ymbol not found|missing symbol)|^Library not loaded: `,
		"dyld[4311]: Library not loaded: @rpath/libwhisper.1.dylib"),
	text("the kernel", reason.LoaderFailed, "a program for this processor", `[Bb]ad CPU type in executable|cannot execute binary file|[Ee]xec format error|kernel too old|Kann die Datei nicht ausführen|impossible d'exécuter le fichier binaire`,
		"bash: ./whisper-cli: cannot execute binary file: Exec format error"),
	text("coremlc", reason.CoremlcMissing, "coremlc, from a full Xcode", `unable to find utility "coremlc(?:ompiler)?"|coremlc(?:ompiler)?: (?:command )?not found|command not found: coremlc`,
		`xcrun: error: unable to find utility "coremlc", not a developer tool or in PATH`),
	text("coremlc", reason.CoremlcFailed, "a model that coremlc compiles", `coremlc(?:ompiler)?: [Ee]rror|^coremlc(?:ompiler)?: .*(?:fail|unable|error)|Error reading protobuf spec|Unable to parse ML Program|in operation .*: (?:Required param|Missing required)`,
		"coremlc: error: Error reading protobuf spec. validator error: Unable to parse ML Program"),
	text("patch", reason.ToolchainNoPatch, "the program patch, or rules that need none", `\bpatch: (?:command )?not found\b|command not found: patch\b|exec: "patch": executable file not found|^env: .patch.: `,
		"bash: patch: command not found"),
	text("patch", reason.PatchNotApplied, "a source that is not patched yet", `Reversed \(or previously applied\) patch detected|Unreversed patch detected`,
		"Reversed (or previously applied) patch detected!  Assume -R? [n]"),
	text("patch", reason.PatchNotApplied, "the strip level (-p) that the patch was made for", `can't find file to patch at input line \d+|^patch: (?:\*\*\*\* )?[Cc]an(?:'|no)t (?:find|open) (?:patch )?file|^patch: can't open |[Cc]annot find file to patch|git diff header lacks filename information|error: .*: No such file or directory$|No file to patch`,
		"can't find file to patch at input line 3"),
	text("patch", reason.PatchNotApplied, "a patch that applies to the pinned source", `Error applying patch|[Hh]unk #\d+ (?:FAILED|failed)|\d+ out of \d+ hunks? (?:FAILED|failed|ignored)|hunks? failed|patch does not apply|^error: patch failed: |Incorrect Chunk|Only garbage was found in the patch input|malformed patch at line`,
		"1 out of 1 hunk FAILED -- saving rejects to file src/whisper.cpp.rej"),
	text("Bazel", reason.SourceDigestMismatch, "an archive or file with the pinned digest", `Checksum was \S+ but wanted \S+`,
		"Error in download_and_extract: java.io.IOException: Error downloading: Checksum was 11 but wanted 22"),
	text("sha256sum", reason.SourceDigestMismatch, "a file with the listed digest", `^(?:sha\d*sum|shasum|md5sum): (?:WARNING|WARNUNG|ATTENTION|AVVERTIMENTO|ATENCIÓN): \d+ |^\S+: (?:FAILED(?: open or read)?|FEHLSCHLAG|ÉCHEC|Échec|NON RIUSCITO|FALLIDO)$|(?i:\bsha-?256 mismatch\b|\bchecksum mismatch\b|\bchecksum does not match\b|\bchecksums? do(?:es)? not match\b)`,
		"sha256sum: WARNING: 1 computed checksum did NOT match"),
	text("CMake", reason.SourceDigestMismatch, "a download with the expected hash", `(?i)\bHASH mismatch\b|does not match expected value|expected hash: `,
		"CMake Error at CMakeLists.txt:9 (file): file DOWNLOAD HASH mismatch"),
	text("pip", reason.SourceDigestMismatch, "packages with the pinned hashes", `THESE PACKAGES DO NOT MATCH THE HASHES`,
		"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."),
	text("xcode-locator", reason.ToolchainDrift, "the Xcode that the configuration names", `xcode-locator \S+' failed|xcode-locator .* failed with code|Xcode version must be specified to use an Apple CROSSTOOL`,
		"Running '/x/xcode-locator 15.0.1.15A507' failed with code 1."),
	text("xcodebuild", reason.XcodeFailed, "a build by Xcode", `xcodebuild: error: |^xcode-select: error: |^xcrun: error: |\*\* (?:BUILD|ARCHIVE|TEST) FAILED \*\*|requires Xcode, but active developer directory|not agreed to the Xcode license`,
		"xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory '/Library/Developer/CommandLineTools' is a command line tools instance"),
	text("pip", reason.ConverterUnpinned, "a hash-pinned encoder, not a conversion at build time", `ResolutionImpossible|conflicting dependencies`,
		"ERROR: ResolutionImpossible: for help visit https://pip.pypa.io"),
	text("compute plan", reason.PlanReaderAborted, "a compiled model for the compute-plan reader", `It is not a valid \.mlmodelc file`,
		"libc++abi: terminating due to uncaught exception of type std::__1::ios_base::failure: Failed to open file: Any.mlpackage/coremldata.bin. It is not a valid .mlmodelc file."),
	text("compute plan", reason.ComputePlanFailed, "a compute plan", `Failed to build the model execution plan|Error (?:in|while) (?:building|loading) (?:the )?(?:compute |execution )?plan|MLComputePlan.*(?:[Ee]rror|[Ff]ail)|[Ff]ailed to load (?:the )?compute plan`,
		"Error Domain=com.apple.CoreML Code=0 \"Failed to build the model execution plan using a model architecture file '/x/model.mil' with error code: -4.\""),
	text("coremltools", reason.ConverterFailed, "a converted model", `has no attribute 'get_compiled_model_path'|No module named '(?:coremltools|ane_transformers|torch|whisper)|Error compiling model|BlobWriter not loaded|Failed to load _MLModelProxy|PyTorch convert function for op .* not implemented|coremltools.*(?:Error|Exception): |Unable to (?:load|convert) .*(?:CoreML|Core ML|mlmodel)|(?:RuntimeError|ValueError|NotImplementedError|TypeError): .*(?:coreml|Core ?ML|mlmodel|mlpackage|torch|MIL)`,
		"RuntimeError: Error compiling model: \"compiler error: Encountered an error while compiling a neural network model\""),
	text("Bazel", reason.NotExecuted, aRun, `\(cached\) (?:PASSED|FAILED)|Executed 0 out of \d+ tests?\b|^INFO: (\d+) process(?:es)?: \d+ internal\.$|\b\d+ (?:remote|disk) cache hit|\bremote cache hit\b|\bdisk cache hit\b`,
		"//gate:markers_test                        (cached) PASSED in 0.1s"),
	text("Bazel", reason.RemoteFailed, aRun, `Exec failed due to IOException|Failed to query remote execution capabilities|io\.grpc\.StatusRuntimeException|UNAVAILABLE: (?:io exception|Connection|Unable)`,
		"ERROR: /w/gate/BUILD.bazel:7:9: GateRun gate/coreml_run.evidence.json failed: (Exit 34): Exec failed due to IOException: UNAVAILABLE: io exception"),
	text("Bazel", reason.BuildFailed, aRun, `^ERROR: .*(?:failed: |no such (?:package|target)|failed to build|Analysis of target)|FAILED TO BUILD|^ERROR: Build did NOT complete|Build failed\b|Build did NOT complete`,
		"ERROR: /w/gate/BUILD.bazel:7:9: Compiling src/whisper.cpp failed: (Exit 1): clang failed: error executing CppCompile command"),
	text("the compiler", reason.BuildFailed, aRun, `^make(?:\[\d+\])?: \*\*\* |^ninja: build stopped|^\S+\.(?:c|cc|cpp|h|m|mm|metal):\d+:\d+: (?:fatal )?error: |^CMake Error|^ld: (?:symbol\(s\) not found|library .*not found|framework .*not found)|^collect2: error: |^clang: error: `,
		"src/whisper.cpp:12:1: error: expected ';'"),
	text("the sandbox", reason.SandboxDenied, "the system's caches and services within reach", `com\.apple\.(?:e5rt|metalfe|metal)\b.*(?:[Oo]peration not permitted|denied)|sandbox_extension_issue_file failed|\bdeny\(1\) [a-z-]+|/var/folders/.*[Oo]peration not permitted|[Oo]peration not permitted.*/var/folders/|NSCocoaErrorDomain Code=513\b.*com\.apple\.(?:e5rt|metal)`,
		"Sandbox: whisper-cli(4311) deny(1) mach-lookup com.apple.coremlcompiler"),
	text("powermetrics", reason.PowerSaysNothing, "a compute plan or a trace", `(?i)\bANE(?: power)?:? 0(?:[.,]0+)? ?m?W\b|\bANE usage: +0(?:[.,]0+)? ?% @ 0(?:[.,]0+)? ?m?W|\bane_(?:power|energy)\b[^0-9]*\b0(?:[.,]0+)?\b`, "ANE Power: 0 mW"),
	text("the shell", reason.ProgramNotStarted, "whisper-cli started", `(?:^|: )(?:\S+: )?command not found|command not found: |: not found$|: [Pp]ermission denied$|: No such file or directory$|: is a directory$|Is a directory$|^(?:zsh|fish|dash): (?:no such file or directory|permission denied|is a directory): |is not recognized as an internal or external command|: (?:Kommando|Befehl) nicht gefunden|: commande introuvable|: Keine Berechtigung$|: Permission non accordée$|: orden no encontrada|: comando non trovato`,
		"bash: ./whisper-cli: Permission denied"),
}

// otherLog names why a log without a line of whisper-cli holds none, and says whether that settles the matter. It does
// not where the exit alone says what happened.
func otherLog(f *verdict.Judgement, m markers, r *Run) bool {
	if m.ofWhisper() {
		return false
	}
	if len(m.garbled) > 0 {
		garbled(f, m, anyKind(m))
		return true
	}
	if foreign(f, m, r) {
		return true
	}
	ended := r.Exit != nil && effective(*r.Exit).Kind != evidence.ExitCode
	known := m.tells(whispercpp.LineUsage) || m.tells(whispercpp.LineBadNumber) || m.tells(whispercpp.LineCrash) || m.tells(whispercpp.LineOOM) || m.tells(whispercpp.LineAllocation)
	switch {
	case swapped(r):
		f.Add(reason.LogSwapped, "stdout", "the library's lines on stderr", "on stdout")
	case ended, known, r.Exit != nil && r.Exit.Code == 1 && deprecated(m, r):
		return false
	case len(r.Stderr) == 0 && r.Exit != nil && r.Exit.Code != 0 && r.Evidence != nil:
		return false
	case len(r.Stderr) == 0 && r.Evidence != nil:
		// The runner started whisper-cli itself, and a run that is not silenced writes lines.
		f.Add(reason.LogSilenced, "stderr", "the library's log lines", "none")
	case len(r.Stderr) == 0:
		f.Add(reason.LogEmpty, "stderr", "the lines that whisper-cli writes to standard error", "none")
	case buried(r) >= 0:
		i := buried(r)
		f.Add(reason.LogGarbled, fmt.Sprintf("stderr line %d", r.number(i)), "the whole line as the program writes it, or a prefix that every line has", quoteWhole(r.Stderr[i]))
	case spoken.MatchString(r.Stderr[0]):
		f.Add(reason.LogSwapped, fmt.Sprintf("stderr line %d", r.number(0)), "the library's lines", "the words, which whisper-cli writes to standard output: "+quote(r.Stderr[0]))
	case notStarted(r):
		f.Add(reason.ProgramNotStarted, fmt.Sprintf("stderr line %d", r.number(0)), "whisper-cli started", fmt.Sprintf("exit %d, which says that nothing was started: %s", r.Exit.Code, quote(r.Stderr[0])))
	default:
		f.Add(reason.LogForeign, fmt.Sprintf("stderr line %d", r.number(0)), "a line of whisper-cli", quote(r.Stderr[0]))
	}
	return true
}

// spoken is a line of a transcript as whisper-cli writes it.
var spoken = regexp.MustCompile(`^\[\d\d+:\d\d:\d\d\.\d{3} --> \d\d+:\d\d:\d\d\.\d{3}\]`)

// notStarted says that a shell reports, in whatever language, that it started nothing: by its exit code for that, and a line of the form
// "NAME: WHAT". Whisper-cli itself has no such code.
func notStarted(r *Run) bool {
	return r.Exit != nil && r.Exit.Kind == evidence.ExitCode && (r.Exit.Code == 126 || r.Exit.Code == 127) && strings.Contains(r.Stderr[0], ": ")
}

// buried is the index of the first line in which one of the program's begins behind other text, or -1.
func buried(r *Run) int {
	return slices.IndexFunc(r.Stderr, func(line string) bool { return whispercpp.Begin(line) > 0 })
}

// anyKind is the kind of the first garbled line.
func anyKind(m markers) whispercpp.LineKind {
	var first whispercpp.LineKind
	for kind, a := range m.garbled {
		if b, ok := m.garbled[first]; !ok || a.index < b.index {
			first = kind
		}
	}
	return first
}

// foreign adds what a known text of another tool says: one reason for each code.
func foreign(f *verdict.Judgement, m markers, r *Run) bool {
	seen := map[string]bool{}
	var found []reason.Reason
	for i, line := range r.Stderr {
		t, face, ok := known(line)
		if ok && !seen[t.code] {
			seen[t.code] = true
			found = append(found, reason.Reason{Code: t.code, Where: fmt.Sprintf("stderr line %d", r.number(i)), Expected: t.expected, Found: t.name + " says: " + quote(face)})
		}
	}
	for _, one := range found {
		// A patch that could not be tried without the program did not fail to apply, and a program that was not started
		// is the shell's word for what the loader or another tool said.
		if one.Code == reason.PatchNotApplied && seen[reason.ToolchainNoPatch] || one.Code == reason.ProgramNotStarted && len(found) > 1 ||
			one.Code == reason.BuildFailed && len(found) > 1 {
			continue
		}
		f.AddReason(one)
	}
	return len(found) > 0
}

// known is the first row whose text a line has.
func known(line string) (tool, string, bool) {
	for _, face := range logtext.Faces(line) {
		for _, t := range tools {
			if t.pattern.MatchString(face) {
				return t, face, true
			}
		}
	}
	return tool{}, "", false
}

// holders are other programs that hold the library, by lines of theirs: upstream's examples, and a binding that shows progress.
var holders = []struct {
	name string
	line *regexp.Regexp
}{
	{"whisper-server", regexp.MustCompile(`^(?:whisper server listening at |operator\(\): processing '|Received request: |Running whisper\.cpp inference on |error: no '(?:model|file)' field in the request)`)},
	{"whisper-stream", regexp.MustCompile(`^(?:main: processing \d+ samples \(step = |main: using VAD, will transcribe on speech activity|### Transcription \d+ )`)},
	{"whisper-bench", regexp.MustCompile(`^If you wish, you can submit these results here:`)},
	{"whisper-command or whisper-talk-llama", regexp.MustCompile(`^(?:main: processing, \d+ threads, |process_(?:command_list|general_transcription|guided_transcription): )`)},
	{"another program", regexp.MustCompile(`^(?:\[Start speaking\]|Progress: +\d+ ?%)`)},
}

// holder names the other program that a log given by hand is of, and a line that shows it.
func holder(r *Run) (found, where string, ok bool) {
	if r.Evidence != nil {
		return "", "", false // the runner started whisper-cli itself
	}
	for _, stream := range []struct {
		name  string
		lines []string
	}{{"stderr", r.Stderr}, {"stdout", r.Stdout}} {
		for i, line := range stream.lines {
			for _, h := range holders {
				if h.line.MatchString(line) {
					where = fmt.Sprintf("stdout line %d", i+1)
					if stream.name == "stderr" {
						where = fmt.Sprintf("stderr line %d", r.number(i))
					}
					return h.name + " holds the library: " + quote(line), where, true
				}
			}
		}
	}
	return "", "", false
}

// noAudio adds that a log that ends well has no line of the program about its audio.
func noAudio(f *verdict.Judgement, r *Run, expected, found string) {
	if r.Evidence == nil {
		found += ", or the log is cut or of another program that holds the library"
	}
	f.Add(reason.NoAudioProcessed, "stderr", expected, found)
}

// swapped says that the library's lines are on stdout.
func swapped(r *Run) bool {
	n := 0
	for _, line := range r.Stdout {
		if l, ok := whispercpp.ReadLine(line); ok && l.By == whispercpp.Library {
			n++
		}
	}
	return n > 0
}
