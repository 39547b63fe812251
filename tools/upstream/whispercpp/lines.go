package whispercpp

import (
	"regexp"
	"strings"
)

// LineKind names what a line of a log says.
type LineKind string

// The lines that a judge may read. Texts are those of the supported pin; the load lines have kept
// their spelling since v1.3.0.
const (
	LineLoading          LineKind = "coreml_loading"
	LineFirstRun         LineKind = "coreml_first_run"
	LineLoadFailed       LineKind = "coreml_load_failed"
	LineLoaded           LineKind = "coreml_loaded"
	LineEncodeBuffer     LineKind = "encode_buffer"
	LineBuffer           LineKind = "buffer"
	LineSystemInfo       LineKind = "system_info"
	LineContextError     LineKind = "context_error"
	LineModelFile        LineKind = "model_file"
	LineModelStub        LineKind = "model_stub"
	LineModelBad         LineKind = "model_bad"
	LineModelMissing     LineKind = "model_missing"
	LineModelFact        LineKind = "model_fact"
	LineProcessing       LineKind = "processing"
	LineLanguageIgnored  LineKind = "language_ignored"
	LineInputShort       LineKind = "input_short"
	LineNoSpeech         LineKind = "no_speech"
	LineVADModel         LineKind = "vad_model"
	LineVADFailed        LineKind = "vad_failed"
	LineAudioBad         LineKind = "audio_bad"
	LineOutputBad        LineKind = "output_bad"
	LineProcessError     LineKind = "process_error"
	LineUsage            LineKind = "usage"
	LineBadNumber        LineKind = "bad_number"
	LineDTW              LineKind = "dtw"
	LinePredictionFailed LineKind = "prediction_failed"
	LineANEFailed        LineKind = "ane_failed"
	LineCoreMLError      LineKind = "coreml_error"
	LinePlanAborted      LineKind = "plan_aborted"
	LineSandbox          LineKind = "sandbox_denied"
	LineCrash            LineKind = "crash"
	LineDouble           LineKind = "double"
	LineDoubleRefused    LineKind = "double_refused"
	LineDoubleCount      LineKind = "double_count"
	LineTiming           LineKind = "timing"
	LineTotal            LineKind = "total"
	LineStubProgram      LineKind = "deprecated_program"
	LineOOM              LineKind = "oom"
	LineAllocation       LineKind = "allocation_failed"
	LineLoader           LineKind = "loader"
	LineLibrary          LineKind = "library"
)

// General says that the kind's row takes whatever no row before it takes: of such a line nobody knows that it is whole.
func (k LineKind) General() bool {
	return k == LineLibrary || k == LineTiming || k == LineModelFact || k == LineBuffer
}

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
	kind LineKind
	by   Writer
	// hints are texts of which a matching line has at least one: they spare other lines the expression.
	hints []string
	// exact matches the whole line as the program writes it.
	exact *regexp.Regexp
	// loose finds a line that names a fault however it is dressed; nil for lines that prove something, which count
	// only as they are written.
	loose *regexp.Regexp
	// once says that one run of one model prints the line once at most.
	once bool
	// quotes says that the line can quote what a user passed in, so that it is not kept for a private fixture.
	quotes bool
}

// row makes a row of an exact expression and the texts to look for first.
func row(kind LineKind, by Writer, exact string, hints ...string) lineRow {
	return lineRow{kind: kind, by: by, exact: regexp.MustCompile(exact), hints: hints}
}

func (r lineRow) onceOnly() lineRow { r.once = true; return r }

func (r lineRow) quoting() lineRow { r.quotes = true; return r }

// fault lets the row be found loosely too.
func (r lineRow) fault(loose string) lineRow {
	r.loose = regexp.MustCompile(loose)
	return r
}

// anywhere lets the row be found loosely by its exact expression, which is not anchored.
func (r lineRow) anywhere() lineRow {
	r.loose = r.exact
	return r
}

const (
	fromFile = "whisper_init_from_file_with_params_no_state: "
	// megabytes is a size as the program writes it; other forms are read too, since the line alone is the marker.
	megabytes = ` *= *[0-9]+(?:[.,][0-9]+)? [KMG]i?B$`
)

// lineTable is tried in order; the last row takes any other line of the library.
var lineTable = []lineRow{
	row(LineLoading, Library, `^`+initState+textLoading+`(.*)'$`, textLoading).onceOnly(),
	row(LineFirstRun, Library, `^`+initState+`first run on a device may take a while \.\.\.$`, "first run on a device").onceOnly(),
	row(LineLoadFailed, Library, `^`+initState+textLoadFailed+`(.*)'$`, "failed to load Core ML model").onceOnly().fault(`failed to load Core ML model`),
	row(LineLoaded, Library, `^`+initState+textLoaded+`$`, textLoaded),
	row(LineEncodeBuffer, Library, `^`+initState+`compute buffer \(encode\)`+megabytes, "buffer (encode)").onceOnly().fault(`compute buffer \(encode\)`),
	row(LineBuffer, Library, `^`+initState+`compute buffer \([a-z]+\)`+megabytes, "compute buffer ("),
	row(LineSystemInfo, Verbose, `^system_info:`, "system_info:").onceOnly(),
	row(LineContextError, Program, `^`+ContextErrorText+`$`, "failed to initialize whisper context").onceOnly().fault(`failed to initialize whisper context`),
	row(LineModelFile, Library, `^`+fromFile+`loading model from '(.*)'$`, fromFile).onceOnly(),
	row(LineModelMissing, Library, `^`+fromFile+`failed to open '(.*)'$`, fromFile+"failed to open").fault(fromFile + `failed to open`),
	row(LineModelStub, Library, `^whisper_model_load: WARN no tensors loaded from model file - assuming empty model for testing$`, "no tensors loaded").fault(`WARN no tensors loaded from model file`),
	row(LineModelBad, Library, `^whisper_model_load: invalid model data|^whisper_init_with_params_no_state: failed to load model$`, "invalid model data", "failed to load model").fault(`whisper_model_load: invalid model data|whisper_init_with_params_no_state: failed to load model`),
	row(LineModelFact, Library, `^whisper_model_load: [a-z_]+ *= *[0-9]+`, "whisper_model_load: "),
	row(LineProcessing, Verbose, `^main: processing '(.*)' \([0-9]+ samples, `, "main: processing '"),
	row(LineLanguageIgnored, Program, `^main: WARNING: model is not multilingual, ignoring language and translation options$`, "not multilingual").onceOnly().fault(`WARNING: model is not multilingual, ignoring language`),
	row(LineInputShort, Library, `^whisper_full_with_state: input is too short - `, "input is too short").fault(`input is too short - `),
	row(LineNoSpeech, Library, `^whisper_vad_[a-z_]+: Final speech segments after filtering: 0$`, "speech segments after filtering: 0").fault(`Final speech segments after filtering: 0\b`),
	row(LineVADModel, Library, `^whisper_vad_init_from_file_with_params: failed to open VAD model '(.*)'$`, "VAD", "whisper_vad_init").quoting().fault(vadModel),
	row(LineVADFailed, Library, vadFailed, "VAD").quoting().anywhere(),
	row(LineAudioBad, Program, `^error: failed to read audio file |^read_audio_data: failed to `, "failed to ").fault(`error: failed to read audio file |read_audio_data: failed to `),
	row(LineOutputBad, Program, `^[A-Za-z_]+: failed to open '.*' for writing$`, "' for writing").fault(`[A-Za-z_]+: failed to open '.*' for writing`),
	row(LineProcessError, Program, `: failed to process audio$`, "failed to process audio").anywhere(),
	row(LineDTW, Program, `^error: unknown DTW preset `, "unknown DTW preset").quoting().fault(`error: unknown DTW preset `),
	row(LineUsage, Program, usage, "error: ").quoting().fault(strings.TrimPrefix(usage, "^")),
	row(LineBadNumber, System, `std::(?:__1::)?(?:invalid_argument|out_of_range)\b`, "std::").quoting().anywhere(),
	row(LineDoubleRefused, Bridge, `^`+emulation+`cannot load '(.*)': (.+)$`, ": cannot load '").onceOnly(),
	row(LinePredictionFailed, Bridge, predictionFailed, predictionHints...).anywhere(),
	row(LineANEFailed, Bridge, `ANE inference operation failed|ANECCompile\(\) FAILED|EvaluateANERequest|MILCompilerForANE error|ANEF error|Error=_ANECompiler`, "ANE").anywhere(),
	row(LineCoreMLError, Bridge, coremlError, "E5RT", "spresso", "com.apple.", "[coreml]", ".mlmodelc/", "weight.bin").anywhere(),
	row(LinePlanAborted, System, `It is not a valid \.mlmodelc file`, ".mlmodelc file").anywhere(),
	row(LineSandbox, System, sandboxDenied, "com.apple.", "deny(", "sandbox", "/var/folders/").quoting().anywhere(),
	row(LineAllocation, System, `std::bad_alloc|newBufferWith[A-Za-z]*: .*nil|newHeapWithDescriptor.*(?:nil|failed)|ggml_[a-z_0-9]+: (?:error: )?failed to allocate|Cannot allocate memory`, "bad_alloc", "newBuffer", "newHeap", "allocate").quoting().anywhere(),
	row(LineLoader, System, loader, loaderHints...).anywhere(),
	row(LineCrash, System, crash, crashHints...).anywhere(),
	row(LineDoubleCount, Bridge, `^`+emulation+`([0-9]+) predictions, ([0-9]+) failed$`, " predictions, ").onceOnly(),
	row(LineDouble, Bridge, `^`+emulation+`(?:version ([0-9]+), protocol [0-9]+, fault (\S+)$)?`, "coreml_"),
	row(LineTotal, Library, `^whisper_print_timings: +total time = +(?:[0-9.]+ ms|<ms>)$`, "total time").onceOnly(),
	row(LineTiming, Library, `^whisper_print_timings: `, "whisper_print_timings: "),
	row(LineStubProgram, System, `^WARNING: The binary '.*' is deprecated\.`, "is deprecated.").anywhere(),
	row(LineOOM, System, `^memory\.events: oom_kill [1-9]|JETSAM_REASON_MEMORY|^memorystatus: killing|Out of memory: Killed process |^oom-kill:`, "oom", "JETSAM", "memorystatus", "Out of memory").anywhere(),
	row(LineLibrary, Library, `^(?:whisper|ggml|gguf)_[a-z0-9_]+: `, "whisper_", "ggml_", "gguf_").quoting(),
}

// printed lists the lines of one run in the order in which the program prints them, if it prints them.
var printed = []LineKind{LineModelFile, LineLoading, LineFirstRun, LineLoadFailed, LineLoaded, LineEncodeBuffer, LineContextError, LineSystemInfo, LineProcessing, LineTotal}

// Printed returns the lines of one run in the order in which the program prints them, if it prints them.
func Printed() []LineKind { return append([]LineKind(nil), printed...) }

// Once returns the lines that one run of one model prints once at most, but for the load marker, whose repetition has
// a meaning of its own.
func Once() []LineKind {
	var out []LineKind
	for _, r := range lineTable {
		if r.once {
			out = append(out, r.kind)
		}
	}
	return out
}

// Kinds returns every kind of line.
func Kinds() []LineKind {
	out := make([]LineKind, len(lineTable))
	for i, r := range lineTable {
		out[i] = r.kind
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
	// Text is the line itself.
	Text string
	// Exact says that the line is whole and as the program writes it. Other lines only tell of a fault.
	Exact bool
	// Quotes says that the line can quote what a user passed in.
	Quotes bool
	// Values are what the line's expression takes out of it: a path, a name, a count.
	Values []string
	// CoreML is COREML's value on a system_info line, "" on others.
	CoreML Switch
}

// Path is the path or name that the line quotes, "" for lines that quote none.
func (l Line) Path() string { return l.Value(0) }

// Value is the value at an index, "" where the line has none.
func (l Line) Value(i int) string {
	if i < len(l.Values) {
		return l.Values[i]
	}
	return ""
}

// ReadLine says what a line is, if it is one that a judge may read. A line that proves something counts only as the
// program writes it, whole; a marker inside another line, such as a transcript's, is none.
func ReadLine(text string) (Line, bool) {
	for i := range lineTable {
		r := &lineTable[i]
		if !r.hinted(text) {
			continue
		}
		m := r.exact.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		out := Line{Kind: r.kind, By: r.by, Quotes: r.quotes, Text: text, Exact: true, Values: m[1:]}
		if r.kind == LineSystemInfo {
			out.CoreML = coremlSwitch(text)
		}
		return out, true
	}
	return Line{}, false
}

// ReadFaults lists the faults that a line names somewhere, however it is dressed: a prefix, a tail, colours that were
// taken off.
func ReadFaults(text string) []Line {
	var out []Line
	for i := range lineTable {
		r := &lineTable[i]
		if r.loose == nil || !r.hinted(text) || !r.loose.MatchString(text) {
			continue
		}
		l := Line{Kind: r.kind, By: r.by, Quotes: r.quotes, Text: text}
		if m := r.exact.FindStringSubmatch(text); m != nil {
			l.Values = m[1:]
		}
		out = append(out, l)
	}
	return out
}

func (r *lineRow) hinted(text string) bool {
	for _, hint := range r.hints {
		if strings.Contains(text, hint) {
			return true
		}
	}
	return false
}

var (
	coremlWord  = regexp.MustCompile(`\bCOREML\b`)
	coremlValue = regexp.MustCompile(`^COREML = ([0-9]+)$`)
)

// coremlSwitch reads the one value of COREML on a system_info line: a segment between bars, after the name of a backend
// where one stands before it. COREML in any other place contradicts.
func coremlSwitch(line string) Switch {
	value, found := SwitchAbsent, 0
	for _, segment := range strings.Split(strings.TrimPrefix(line, "system_info:"), "|") {
		if i := strings.LastIndex(segment, " : "); i >= 0 {
			segment = segment[i+3:]
		}
		m := coremlValue.FindStringSubmatch(strings.TrimSpace(segment))
		if m == nil {
			continue
		}
		found++
		if m[1] == "0" || m[1] == "1" {
			value = Switch(m[1])
		}
	}
	if found > 1 || len(coremlWord.FindAllString(line, 2)) > found {
		return SwitchContradicts
	}
	return value
}

var threads = regexp.MustCompile(`^system_info: n_threads = ([0-9]+) / `)

// Threads is the number of threads that a system_info line says.
func Threads(line string) (string, bool) {
	m := threads.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return m[1], true
}

var processing = regexp.MustCompile(`^main: processing '(.*)' \(([0-9]+) samples, ([0-9.]+) sec\), ([0-9]+) threads, ([0-9]+) processors, ([0-9]+) beams \+ best of ([0-9]+), lang = ([^,]+), task = ([a-z]+), (?:tdrz = 1, )?timestamps = ([01]) \.\.\.$`)

// Processing is what the line says that the program prints before it hears an audio file.
type Processing struct {
	Audio, Samples, Seconds, Threads, Processors, Beams, BestOf, Language, Task, Timestamps string
}

// ReadProcessing reads that line.
func ReadProcessing(line string) (Processing, bool) {
	m := processing.FindStringSubmatch(line)
	if m == nil {
		return Processing{}, false
	}
	return Processing{m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10]}, true
}
