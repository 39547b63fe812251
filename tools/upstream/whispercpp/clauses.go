package whispercpp

import (
	"bytes"
	"regexp"
)

// Files of the source on which the gates rely.
const (
	LibrarySource = "src/whisper.cpp"
	CLISource     = "examples/cli/cli.cpp"
	BridgeSource  = "src/coreml/whisper-encoder.mm"
	BridgeImpl    = "src/coreml/whisper-encoder-impl.m"
	BridgeHeader  = "src/coreml/whisper-encoder.h"
)

// Sources are these files in the order in which a reader is told of them.
var Sources = []string{LibrarySource, CLISource, BridgeSource, BridgeImpl, BridgeHeader}

// EarlierSources are the places of these files before upstream moved them: the library and Core ML into src (v1.7.0),
// the program from main to cli (v1.7.4).
var EarlierSources = map[string]string{
	LibrarySource: "whisper.cpp",
	CLISource:     "examples/main/main.cpp",
	BridgeSource:  "coreml/whisper-encoder.mm",
	BridgeImpl:    "coreml/whisper-encoder-impl.m",
	BridgeHeader:  "coreml/whisper-encoder.h",
}

// Clause is one thing in upstream's source on which the gates rely: a text, or an expression where white space may vary.
type Clause struct {
	Name, File, Text string
	Expression       *regexp.Regexp
	// Absent, where it is set, must match nowhere in the file: a second call of another form would go unseen otherwise.
	Absent *regexp.Regexp
}

// Kept says whether a file's compiled text keeps the clause.
func (c *Clause) Kept(compiled []byte) bool {
	kept := c.Expression != nil && c.Expression.Match(compiled) || c.Text != "" && bytes.Contains(compiled, []byte(c.Text))
	return kept && (c.Absent == nil || !c.Absent.Match(compiled))
}

// keepsError is an argument `error:` that is not nil.
var keepsError = expr(`\berror\s*:\s*[^\sn]`)

func expr(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// Clauses are markers, exit codes, the encoder's name, tensors and flags, as the supported pin spells them in its source.
var Clauses = []Clause{
	{Name: "marker: loading", File: LibrarySource, Text: `"%s: ` + textLoading + `%s'\n"`},
	{Name: "marker: failed to load", File: LibrarySource, Text: `"%s: ` + textLoadFailed + `%s'\n"`},
	{Name: "marker: loaded", File: LibrarySource, Text: `"%s: ` + textLoaded + `\n"`},
	{Name: "marker: encode buffer", File: LibrarySource, Text: `"%s: compute buffer (encode) = `},
	{Name: "marker: COREML", File: LibrarySource, Text: `"COREML = "`},
	{Name: "marker: system_info", File: CLISource, Expression: expr(`fprintf\(\s*stderr\s*,\s*"system_info: `)},
	{Name: "marker: context", File: CLISource, Expression: expr(`fprintf\(\s*stderr\s*,\s*"` + ContextErrorText + `\\n"`)},
	{Name: "load precedes the markers", File: LibrarySource, Expression: expr(`ctx_coreml\s*=\s*whisper_coreml_init\(`)},
	{Name: "fallback is off by default", File: LibrarySource, Expression: expr(`#ifndef WHISPER_COREML_ALLOW_FALLBACK\s+whisper_free_state\(state\);\s+return nullptr;`)},
	{Name: "external encoder follows the load", File: LibrarySource, Expression: expr(`use_coreml\s*=\s*wstate\.ctx_coreml\s*!=\s*nullptr`)},
	{Name: "external encoder: no convolution is built", File: LibrarySource, Expression: expr(`\} else \{\s+ggml_build_forward_expand\(gf, mel\);\s+cur = ggml_new_tensor_2d\(ctx0, GGML_TYPE_F32, n_state, n_ctx\);\s+ggml_set_input\(cur\);`)},
	{Name: "external encoder: no convolution is computed", File: LibrarySource, Expression: expr(`if \(!whisper_encode_external\(wstate\)\) \{\s+if \(!ggml_graph_compute_helper\(`)},
	{Name: "external encoder: Core ML is called in its place", File: LibrarySource, Expression: expr(`whisper_coreml_encode\(wstate\.ctx_coreml, mel->ne\[0\], mel->ne\[1\], \(float \*\) mel->data, \(float \*\) wstate\.embd_enc->data\);`)},
	{Name: "external encoder: ggml's encoder is skipped", File: LibrarySource, Expression: expr(`if \(!whisper_encode_external\(wstate\)\) \{\s+auto & sched = wstate\.sched_encode\.sched;`)},
	{Name: "logs go to standard error", File: LibrarySource, Expression: expr(`fputs\(text, stderr\);\s+fflush\(stderr\);`)},
	{Name: "exit 3 for no context", File: CLISource, Expression: expr(`failed to initialize whisper context\\n"\);\s+return 3;`)},
	{Name: "exit 2 for no input", File: CLISource, Expression: expr(`no input files specified\\n"\);[^}]*return 2;`)},
	{Name: "exit 10 for no result", File: CLISource, Expression: expr(`return 10;`)},
	{Name: "encoder name: last dot", File: LibrarySource, Expression: expr(`whisper_get_coreml_path_encoder\(std::string path_bin\) \{\s+auto pos = path_bin\.rfind\('\.'\);`)},
	{Name: "encoder name: quantised suffix", File: LibrarySource, Expression: expr(`pos = path_bin\.rfind\('-'\);\s+if \(pos != std::string::npos\) \{\s+auto sub = path_bin\.substr\(pos\);\s+if \(sub\.size\(\) == 5 && sub\[1\] == 'q' && sub\[3\] == '_'\)`)},
	{Name: "encoder name: suffix", File: LibrarySource, Expression: expr(`path_bin \+= "-encoder\.mlmodelc";`)},
	{Name: "tensor: mel width", File: LibrarySource, Expression: expr(`ggml_new_tensor_2d\(ctx0, GGML_TYPE_F32, 2\*n_ctx, n_mels\)`)},
	{Name: "tensor: input name", File: BridgeImpl, Text: `@"logmel_data"`},
	{Name: "tensor: output name", File: BridgeImpl, Text: `@"output"`},
	{Name: "tensor: input type and shape", File: BridgeSource, Expression: expr(`shape: @\[@1, @\(n_mel\), @\(n_ctx\)\]\s+dataType: MLMultiArrayDataTypeFloat32`)},
	{Name: "tensor: unchecked copy", File: BridgeSource, Expression: expr(`memcpy\(out, outCoreML\.output\.dataPointer, outCoreML\.output\.count \* sizeof\(float\)\);`)},
	// The bridge throws Core ML's errors away. A source that keeps one handles a failure in another way than the gates expect.
	{Name: "no error: input array", File: BridgeSource, Expression: expr(`deallocator:\s*nil\s+error:\s*nil\s*\]`), Absent: keepsError},
	{Name: "no error: load", File: BridgeSource, Expression: expr(`initWithContentsOfURL:\s*url_model\s+configuration:\s*config\s+error:\s*nil\s*\]`), Absent: keepsError},
	{Name: "no error: prediction", File: BridgeSource, Expression: expr(`predictionFromLogmel_data:\s*inMultiArray\s+error:\s*nil\s*\]`), Absent: keepsError},
	{Name: "configuration reaches Core ML", File: BridgeImpl, Expression: expr(`modelWithContentsOfURL:\s*modelURL\s+configuration:\s*configuration\s+error:\s*error\s*\]`)},
	{Name: "all compute units", File: BridgeSource, Expression: expr(`\n\s*config\.computeUnits = MLComputeUnitsAll;`)},
	{Name: "bridge: init", File: BridgeHeader, Text: "struct whisper_coreml_context * whisper_coreml_init(const char * path_model);"},
	{Name: "bridge: free", File: BridgeHeader, Text: "void whisper_coreml_free(struct whisper_coreml_context * ctx);"},
	{Name: "bridge: encode", File: BridgeHeader, Expression: expr(`void whisper_coreml_encode\(\s*const whisper_coreml_context \* ctx,\s*int64_t\s+n_ctx,\s*int64_t\s+n_mel,\s*float \* mel,\s*float \* out\);`)},
	{Name: "flag: --model", File: CLISource, Text: `"--model"`},
	{Name: "flag: --file", File: CLISource, Text: `"--file"`},
	{Name: "flag: --language", File: CLISource, Text: `"--language"`},
	{Name: "flag: --threads", File: CLISource, Text: `"--threads"`},
	{Name: "flag: --processors", File: CLISource, Text: `"--processors"`},
	{Name: "flag: --no-timestamps", File: CLISource, Text: `"--no-timestamps"`},
	{Name: "flag: --temperature", File: CLISource, Text: `"--temperature"`},
	{Name: "flag: --temperature-inc", File: CLISource, Text: `"--temperature-inc"`},
	{Name: "flag: --audio-ctx", File: CLISource, Text: `"--audio-ctx"`},
	{Name: "flag: --no-prints", File: CLISource, Text: `"--no-prints"`},
}
