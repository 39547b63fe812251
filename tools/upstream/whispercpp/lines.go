package whispercpp

import "regexp"

// LineKind names what a line of a log says.
type LineKind string

// The lines that a judge may read. Texts are those of the supported pin; the load lines have kept
// their spelling since v1.3.0.
const (
	LineLoading      LineKind = "coreml_loading"
	LineFirstRun     LineKind = "coreml_first_run"
	LineLoadFailed   LineKind = "coreml_load_failed"
	LineLoaded       LineKind = "coreml_loaded"
	LineEncodeBuffer LineKind = "encode_buffer"
	LineBuffer       LineKind = "buffer"
	LineSystemInfo   LineKind = "system_info"
	LineContextError LineKind = "context_error"
	LineModelFile    LineKind = "model_file"
	LineModelStub    LineKind = "model_stub"
	LineModelBad     LineKind = "model_bad"
	LineModelMissing LineKind = "model_missing"
	LineModelFact    LineKind = "model_fact"
	LineProcessing   LineKind = "processing"
	LineAudioBad     LineKind = "audio_bad"
	LineOutputBad    LineKind = "output_bad"
	LineProcessError LineKind = "process_error"
	LineUsage        LineKind = "usage"
	LineBadNumber    LineKind = "bad_number"
	LineDTW          LineKind = "dtw"
	LineANEFailed    LineKind = "ane_failed"
	LinePlanAborted  LineKind = "plan_aborted"
	LineSandbox      LineKind = "sandbox_denied"
	LineAbort        LineKind = "abort"
	LineDouble       LineKind = "double"
	LineTiming       LineKind = "timing"
	LineStubProgram  LineKind = "deprecated_program"
	LineOOM          LineKind = "oom"
	LineLibrary      LineKind = "library"
)

// Writer says who prints a line.
type Writer string

// The writers.
const (
	// Library lines go through the library's log callback, which -np makes empty.
	Library Writer = "library"
	// Verbose lines are whisper-cli's own, printed unless -np is given.
	Verbose Writer = "verbose"
	// Program lines are whisper-cli's own, printed in any case.
	Program Writer = "program"
	// Bridge lines come from what stands behind whisper-encoder.h: Core ML, or the emulated lane's double.
	Bridge Writer = "bridge"
	// System lines are printed by the language's runtime, the operating system or another program.
	System Writer = "system"
)

// lineRow is one row of the table of lines.
type lineRow struct {
	kind    LineKind
	by      Writer
	pattern *regexp.Regexp
	// once says that one run of one model prints the line once at most.
	once bool
	// quotes says that the line can quote what a user passed in, so that it is not kept for a private fixture.
	quotes bool
}

// lineTable is tried in order; the last row takes any other line of the library.
var lineTable = []lineRow{
	{kind: LineLoading, by: Library, once: true, pattern: regexp.MustCompile(`^` + initState + textLoading + `(.*)'$`)},
	{kind: LineFirstRun, by: Library, once: true, pattern: regexp.MustCompile(`^` + initState + `first run on a device may take a while \.\.\.$`)},
	{kind: LineLoadFailed, by: Library, once: true, pattern: regexp.MustCompile(`^` + initState + textLoadFailed + `(.*)'$`)},
	{kind: LineLoaded, by: Library, pattern: regexp.MustCompile(`^` + initState + textLoaded + `$`)},
	{kind: LineEncodeBuffer, by: Library, once: true, pattern: regexp.MustCompile(`^` + initState + `compute buffer \(encode\) *= *[0-9.]+ MB$`)},
	{kind: LineBuffer, by: Library, pattern: regexp.MustCompile(`^` + initState + `compute buffer \([a-z]+\) *= *[0-9.]+ MB$`)},
	{kind: LineSystemInfo, by: Verbose, once: true, pattern: regexp.MustCompile(`^system_info:`)},
	{kind: LineContextError, by: Program, once: true, pattern: regexp.MustCompile(`^` + ContextErrorText + `$`)},
	{kind: LineModelFile, by: Library, once: true, pattern: regexp.MustCompile(`^whisper_init_from_file_with_params_no_state: loading model from '(.*)'$`)},
	{kind: LineModelMissing, by: Library, pattern: regexp.MustCompile(`^whisper_init_from_file_with_params_no_state: failed to open '(.*)'$`)},
	{kind: LineModelStub, by: Library, pattern: regexp.MustCompile(`^whisper_model_load: WARN no tensors loaded from model file - assuming empty model for testing$`)},
	{kind: LineModelBad, by: Library, pattern: regexp.MustCompile(`^whisper_model_load: invalid model data|^whisper_init_with_params_no_state: failed to load model$`)},
	{kind: LineModelFact, by: Library, pattern: regexp.MustCompile(`^whisper_model_load: [a-z_]+ *= *[0-9]+`)},
	{kind: LineProcessing, by: Verbose, pattern: regexp.MustCompile(`^main: processing '(.*)' \([0-9]+ samples, `)},
	{kind: LineAudioBad, by: Program, pattern: regexp.MustCompile(`^error: failed to read audio file |^read_audio_data: failed to `)},
	{kind: LineOutputBad, by: Program, pattern: regexp.MustCompile(`^[A-Za-z_]+: failed to open '.*' for writing$`)},
	{kind: LineProcessError, by: Program, pattern: regexp.MustCompile(`: failed to process audio$`)},
	{kind: LineDTW, by: Program, quotes: true, pattern: regexp.MustCompile(`^error: unknown DTW preset `)},
	{kind: LineUsage, by: Program, quotes: true, pattern: regexp.MustCompile(`^error: (?:unknown argument|argument .* requires value|input file not found|no input files specified|unknown language|response file|cannot use both|failed to parse grammar)`)},
	{kind: LineBadNumber, by: System, quotes: true, pattern: regexp.MustCompile(`std::(?:__1::)?(?:invalid_argument|out_of_range)\b`)},
	{kind: LineANEFailed, by: Bridge, pattern: regexp.MustCompile(`^ANE inference operation failed|ANECCompile\(\) FAILED|^E5RT encountered |@ EvaluateANERequest`)},
	{kind: LinePlanAborted, by: System, pattern: regexp.MustCompile(`It is not a valid \.mlmodelc file`)},
	{kind: LineSandbox, by: System, quotes: true, pattern: regexp.MustCompile(`com\.apple\.(?:e5rt|metalfe|metal)\b.*(?:Operation not permitted|denied)|sandbox_extension_issue_file failed|deny\(1\) file-`)},
	{kind: LineAbort, by: System, quotes: true, pattern: regexp.MustCompile(`^libc\+\+abi: terminating|^terminate called |^GGML_ASSERT|: GGML_ASSERT\(`)},
	{kind: LineDouble, by: Bridge, pattern: regexp.MustCompile(`^coreml_double: `)},
	{kind: LineTiming, by: Library, pattern: regexp.MustCompile(`^whisper_print_timings: `)},
	{kind: LineStubProgram, by: System, pattern: regexp.MustCompile(`^WARNING: The binary '.*' is deprecated\.`)},
	{kind: LineOOM, by: System, pattern: regexp.MustCompile(`^memory\.events: oom_kill [1-9]|JETSAM_REASON_MEMORY|^memorystatus: killing|^Out of memory: Killed process `)},
	{kind: LineLibrary, by: Library, quotes: true, pattern: regexp.MustCompile(`^(?:whisper|ggml|gguf)_[a-z0-9_]+: `)},
}

// printed lists the lines of one run in the order in which the program prints them, if it prints them.
var printed = []LineKind{LineModelFile, LineLoading, LineFirstRun, LineLoadFailed, LineLoaded, LineEncodeBuffer, LineContextError, LineSystemInfo, LineProcessing}

// Printed returns the lines of one run in the order in which the program prints them, if it prints them.
func Printed() []LineKind { return append([]LineKind(nil), printed...) }

// Once returns the lines that one run of one model prints once at most, but for the load marker, whose repetition has
// a meaning of its own.
func Once() []LineKind {
	var out []LineKind
	for _, row := range lineTable {
		if row.once {
			out = append(out, row.kind)
		}
	}
	return out
}

// Switch is the value that a system_info line gives to COREML.
type Switch string

// The values of COREML.
const (
	SwitchOn  Switch = "1"
	SwitchOff Switch = "0"
	// SwitchAbsent: no system_info line, or one without COREML or with another number.
	SwitchAbsent Switch = "absent"
	// SwitchContradicts: more than one value.
	SwitchContradicts Switch = "contradictory"
)

// Line is a line that was read.
type Line struct {
	Kind LineKind
	By   Writer
	// Quotes says that the line can quote what a user passed in.
	Quotes bool
	// Path is the path or name that the line quotes, "" for kinds that quote none.
	Path string
	// CoreML is COREML's value on a system_info line, "" on others.
	CoreML Switch
}

var coremlFlag = regexp.MustCompile(`\bCOREML = ([0-9]+)\b`)

// ReadLine says what a line is, if it is one that a judge may read. A load line counts only when it is
// the whole line; a marker inside another line, such as a transcript's, is none.
func ReadLine(text string) (Line, bool) {
	for _, row := range lineTable {
		m := row.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		out := Line{Kind: row.kind, By: row.by, Quotes: row.quotes}
		if len(m) > 1 {
			out.Path = m[1]
		}
		if row.kind == LineSystemInfo {
			out.CoreML = coremlSwitch(text)
		}
		return out, true
	}
	return Line{}, false
}

// coremlSwitch reads the one value of COREML on a system_info line.
func coremlSwitch(line string) Switch {
	found := coremlFlag.FindAllStringSubmatch(line, -1)
	switch {
	case len(found) > 1:
		return SwitchContradicts
	case len(found) == 1 && (found[0][1] == "0" || found[0][1] == "1"):
		return Switch(found[0][1])
	}
	return SwitchAbsent
}
