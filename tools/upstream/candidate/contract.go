package candidate

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// Clause is one thing in upstream's source on which the gates rely.
type Clause struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Kept says that it is still there.
	Kept bool `json:"kept"`
}

// clause is a clause as it is looked for: as plain text, or as an expression where white space may vary.
type clause struct {
	name, file, text string
	expression       *regexp.Regexp
}

const (
	librarySource = "src/whisper.cpp"
	cliSource     = "examples/cli/cli.cpp"
	bridgeSource  = "src/coreml/whisper-encoder.mm"
	bridgeImpl    = "src/coreml/whisper-encoder-impl.m"
	bridgeHeader  = "src/coreml/whisper-encoder.h"
)

func expr(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// clauses are the contract of the first seed's sections 2, 4 and 6, as the supported pin spells it.
var clauses = []clause{
	{name: "marker: loading", file: librarySource, text: `"%s: loading Core ML model from '%s'\n"`},
	{name: "marker: failed to load", file: librarySource, text: `"%s: failed to load Core ML model from '%s'\n"`},
	{name: "marker: loaded", file: librarySource, text: `"%s: Core ML model loaded\n"`},
	{name: "marker: encode buffer", file: librarySource, text: `"%s: compute buffer (encode) = `},
	{name: "marker: COREML", file: librarySource, text: `"COREML = "`},
	{name: "marker: system_info", file: cliSource, expression: expr(`fprintf\(\s*stderr\s*,\s*"system_info: `)},
	{name: "marker: context", file: cliSource, expression: expr(`fprintf\(\s*stderr\s*,\s*"error: failed to initialize whisper context\\n"`)},
	{name: "load precedes the markers", file: librarySource, expression: expr(`ctx_coreml\s*=\s*whisper_coreml_init\(`)},
	{name: "fallback is off by default", file: librarySource, expression: expr(`#ifndef WHISPER_COREML_ALLOW_FALLBACK\s+whisper_free_state\(state\);\s+return nullptr;`)},
	{name: "external encoder follows the load", file: librarySource, expression: expr(`use_coreml\s*=\s*wstate\.ctx_coreml\s*!=\s*nullptr`)},
	{name: "logs go to standard error", file: librarySource, expression: expr(`fputs\(text, stderr\);\s+fflush\(stderr\);`)},
	{name: "exit 3 for no context", file: cliSource, expression: expr(`failed to initialize whisper context\\n"\);\s+return 3;`)},
	{name: "exit 2 for no input", file: cliSource, expression: expr(`no input files specified\\n"\);[^}]*return 2;`)},
	{name: "exit 10 for no result", file: cliSource, expression: expr(`return 10;`)},
	{name: "encoder name: last dot", file: librarySource, expression: expr(`whisper_get_coreml_path_encoder\(std::string path_bin\) \{\s+auto pos = path_bin\.rfind\('\.'\);`)},
	{name: "encoder name: quantised suffix", file: librarySource, expression: expr(`pos = path_bin\.rfind\('-'\);\s+if \(pos != std::string::npos\) \{\s+auto sub = path_bin\.substr\(pos\);\s+if \(sub\.size\(\) == 5 && sub\[1\] == 'q' && sub\[3\] == '_'\)`)},
	{name: "encoder name: suffix", file: librarySource, expression: expr(`path_bin \+= "-encoder\.mlmodelc";`)},
	{name: "tensor: mel width", file: librarySource, expression: expr(`ggml_new_tensor_2d\(ctx0, GGML_TYPE_F32, 2\*n_ctx, n_mels\)`)},
	{name: "tensor: input name", file: bridgeImpl, text: `@"logmel_data"`},
	{name: "tensor: output name", file: bridgeImpl, text: `@"output"`},
	{name: "tensor: input type and shape", file: bridgeSource, expression: expr(`shape: @\[@1, @\(n_mel\), @\(n_ctx\)\]\s+dataType: MLMultiArrayDataTypeFloat32`)},
	{name: "tensor: unchecked copy", file: bridgeSource, expression: expr(`memcpy\(out, outCoreML\.output\.dataPointer, outCoreML\.output\.count \* sizeof\(float\)\);`)},
	{name: "all compute units", file: bridgeSource, expression: expr(`\n\s*config\.computeUnits = MLComputeUnitsAll;`)},
	{name: "bridge: init", file: bridgeHeader, text: "struct whisper_coreml_context * whisper_coreml_init(const char * path_model);"},
	{name: "bridge: free", file: bridgeHeader, text: "void whisper_coreml_free(struct whisper_coreml_context * ctx);"},
	{name: "bridge: encode", file: bridgeHeader, expression: expr(`void whisper_coreml_encode\(\s*const whisper_coreml_context \* ctx,\s*int64_t\s+n_ctx,\s*int64_t\s+n_mel,\s*float \* mel,\s*float \* out\);`)},
	{name: "flag: --model", file: cliSource, text: `"--model"`},
	{name: "flag: --file", file: cliSource, text: `"--file"`},
	{name: "flag: --language", file: cliSource, text: `"--language"`},
	{name: "flag: --threads", file: cliSource, text: `"--threads"`},
	{name: "flag: --processors", file: cliSource, text: `"--processors"`},
	{name: "flag: --no-timestamps", file: cliSource, text: `"--no-timestamps"`},
	{name: "flag: --temperature", file: cliSource, text: `"--temperature"`},
	{name: "flag: --temperature-inc", file: cliSource, text: `"--temperature-inc"`},
	{name: "flag: --audio-ctx", file: cliSource, text: `"--audio-ctx"`},
	{name: "flag: --no-prints", file: cliSource, text: `"--no-prints"`},
}

// Contract looks for every clause in a source tree, in the files at their places. A file that is nowhere keeps none of its
// clauses.
func Contract(src pin.Source, places Places) []Clause {
	files := map[string][]byte{}
	out := make([]Clause, 0, len(clauses))
	for _, c := range clauses {
		text, ok := files[c.file]
		if at, there := places[c.file]; there && !ok {
			text, _ = src.Read(at) // unreadable: empty, so nothing is kept
			text = compiled(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
			files[c.file] = text
		}
		kept := c.expression != nil && c.expression.Match(text) || c.text != "" && strings.Contains(string(text), c.text)
		out = append(out, Clause{Name: c.name, File: c.file, Kept: kept})
	}
	return out
}
