package evidence

import (
	"regexp"
	"strconv"
)

// LineKind names what a line of whisper-cli's stderr says.
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

// Line is a recognised line. Path is the quoted path of a load line; Value is COREML's value on a
// system_info line (-1 when it has none, -2 when it has both).
type Line struct {
	Kind  LineKind
	Path  string
	Value int
}

// patterns are tried in order; all but the last are of lines that stand whole on the left margin.
var patterns = []struct {
	kind    LineKind
	pattern *regexp.Regexp
}{
	{LineLoading, regexp.MustCompile(`^whisper_init_state: loading Core ML model from '(.*)'$`)},
	{LineFirstRun, regexp.MustCompile(`^whisper_init_state: first run on a device may take a while \.\.\.$`)},
	{LineLoadFailed, regexp.MustCompile(`^whisper_init_state: failed to load Core ML model from '(.*)'$`)},
	{LineLoaded, regexp.MustCompile(`^whisper_init_state: Core ML model loaded$`)},
	{LineEncodeBuffer, regexp.MustCompile(`^whisper_init_state: compute buffer \(encode\) *= *[0-9.]+ MB$`)},
	{LineBuffer, regexp.MustCompile(`^whisper_init_state: compute buffer \([a-z]+\) *= *[0-9.]+ MB$`)},
	{LineSystemInfo, regexp.MustCompile(`^system_info:`)},
	{LineContextError, regexp.MustCompile(`^error: failed to initialize whisper context$`)},
	{LineModelFile, regexp.MustCompile(`^whisper_init_from_file_with_params_no_state: loading model from '(.*)'$`)},
	{LineModelMissing, regexp.MustCompile(`^whisper_init_from_file_with_params_no_state: failed to open '(.*)'$`)},
	{LineModelStub, regexp.MustCompile(`^whisper_model_load: WARN no tensors loaded from model file - assuming empty model for testing$`)},
	{LineModelBad, regexp.MustCompile(`^whisper_model_load: invalid model data|^whisper_init_with_params_no_state: failed to load model$`)},
	{LineModelFact, regexp.MustCompile(`^whisper_model_load: [a-z_]+ *= *[0-9]+`)},
	{LineProcessing, regexp.MustCompile(`^main: processing '(.*)' \([0-9]+ samples, `)},
	{LineAudioBad, regexp.MustCompile(`^error: failed to read audio file |^read_audio_data: failed to `)},
	{LineOutputBad, regexp.MustCompile(`^[A-Za-z_]+: failed to open '.*' for writing$`)},
	{LineProcessError, regexp.MustCompile(`: failed to process audio$`)},
	{LineDTW, regexp.MustCompile(`^error: unknown DTW preset `)},
	{LineUsage, regexp.MustCompile(`^error: (?:unknown argument|argument .* requires value|input file not found|no input files specified|unknown language|response file|cannot use both|failed to parse grammar)`)},
	{LineBadNumber, regexp.MustCompile(`std::(?:__1::)?(?:invalid_argument|out_of_range)\b`)},
	{LineANEFailed, regexp.MustCompile(`^ANE inference operation failed|ANECCompile\(\) FAILED|^E5RT encountered |@ EvaluateANERequest`)},
	{LinePlanAborted, regexp.MustCompile(`It is not a valid \.mlmodelc file`)},
	{LineSandbox, regexp.MustCompile(`com\.apple\.(?:e5rt|metalfe|metal)\b.*(?:Operation not permitted|denied)|sandbox_extension_issue_file failed|deny\(1\) file-`)},
	{LineAbort, regexp.MustCompile(`^libc\+\+abi: terminating|^terminate called |^GGML_ASSERT|: GGML_ASSERT\(`)},
	{LineDouble, regexp.MustCompile(`^coreml_double: `)},
	{LineTiming, regexp.MustCompile(`^whisper_print_timings: `)},
	{LineStubProgram, regexp.MustCompile(`^WARNING: The binary '.*' is deprecated\.`)},
	{LineOOM, regexp.MustCompile(`^memory\.events: oom_kill [1-9]|JETSAM_REASON_MEMORY|^memorystatus: killing|^Out of memory: Killed process `)},
	{LineLibrary, regexp.MustCompile(`^(?:whisper|ggml|gguf)_[a-z0-9_]+: `)},
}

var coremlFlag = regexp.MustCompile(`\bCOREML = ([0-9]+)\b`)

// Read says what a line is, if it is one that a judge may read. A load line counts only when it is
// the whole line; a marker inside another line, such as a transcript's, is none.
func Read(line string) (Line, bool) {
	for _, p := range patterns {
		m := p.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		out := Line{Kind: p.kind}
		if len(m) > 1 {
			out.Path = m[1]
		}
		if p.kind == LineSystemInfo {
			out.Value = coremlValue(line)
		}
		return out, true
	}
	return Line{}, false
}

// coremlValue reads the one value of COREML on a system_info line: 0 or 1, -1 for none (or another
// number), -2 for several.
func coremlValue(line string) int {
	found := coremlFlag.FindAllStringSubmatch(line, -1)
	if len(found) > 1 {
		return -2
	}
	if len(found) == 0 {
		return -1
	}
	if v, err := strconv.Atoi(found[0][1]); err == nil && (v == 0 || v == 1) {
		return v
	}
	return -1
}

// private are the kinds whose lines can quote what a user passed in: their text is not kept for a
// fixture that is not public.
var private = map[LineKind]bool{LineUsage: true, LineDTW: true, LineBadNumber: true, LineSandbox: true, LineAbort: true, LineLibrary: true, LineDouble: true}

// Recognise says whether a line is kept in the evidence of a fixture that is not public: the markers,
// and the lines that name a fault without quoting anything but staged names.
func Recognise(line string) bool {
	l, ok := Read(line)
	if !ok || private[l.Kind] && l.Kind != LineDouble {
		return false
	}
	return l.Kind != LineProcessError || line == "whisper-cli: failed to process audio"
}
