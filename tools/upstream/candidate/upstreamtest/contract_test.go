package upstreamtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/candidate"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// named are the variables that name each file of the contract.
var named = map[string]string{
	whispercpp.LibrarySource: "WHISPER_CPP_SOURCE", whispercpp.CLISource: "CLI", whispercpp.BridgeSource: "BRIDGE",
	whispercpp.BridgeImpl: "BRIDGE_IMPL", whispercpp.BridgeHeader: "BRIDGE_HEADER",
}

// lost names the clauses that a tree with one change does not keep.
func lost(t *testing.T, file, old, with string) []string {
	t.Helper()
	dir, places := t.TempDir(), candidate.Places{}
	for at, variable := range named {
		text := readNamed(t, variable)
		if at == file {
			if n := strings.Count(text, old); n != 1 {
				t.Fatalf("%q is %d times in %s, expected once", old, n, at)
			}
			text = strings.Replace(text, old, with, 1)
		}
		path := filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		places[at] = at
	}
	var names []string
	for _, c := range candidate.Contract(pin.Dir(dir), places) {
		if !c.Kept {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestContractOfThePin changes one line of the pinned source at a time: the clause about it, and no other, is lost.
func TestContractOfThePin(t *testing.T) {
	const load, prediction = "configuration:config error:nil]", "predictionFromLogmel_data:inMultiArray error:nil]"
	errors := []string{"no error: input array", "no error: load", "no error: prediction"}
	for _, c := range []struct {
		name, file, old, with string
		want                  []string
	}{
		{name: "as fetched"},
		{"the load keeps its error", whispercpp.BridgeSource, load, "configuration:config error:&err]", errors},
		{"the prediction keeps its error", whispercpp.BridgeSource, prediction, "predictionFromLogmel_data:inMultiArray error:&err]", errors},
		{"the prediction keeps its error, spaced", whispercpp.BridgeSource, prediction, "predictionFromLogmel_data: inMultiArray\n  error : & err ]", errors},
		{"an error in a variable", whispercpp.BridgeSource, prediction, "predictionFromLogmel_data:inMultiArray error:failure]", errors},
		{"the old call in a comment", whispercpp.BridgeSource, prediction, prediction[:len(prediction)-len("nil]")] + "&err]; // " + prediction, errors},
		{"a second prediction", whispercpp.BridgeSource, "memcpy(out,", "[(__bridge id) ctx->data predictionFromLogmel_data:inMultiArray error:&err];\n        memcpy(out,", errors},
		{"nil, spaced", whispercpp.BridgeSource, prediction, "predictionFromLogmel_data: inMultiArray\n  error: nil ]", nil},
		{"no configuration", whispercpp.BridgeImpl, "[MLModel modelWithContentsOfURL:modelURL configuration:configuration error:error]", "[MLModel modelWithContentsOfURL:modelURL error:error]",
			[]string{"configuration reaches Core ML"}},
		{"ggml's convolutions are computed", whispercpp.LibrarySource, "if (!whisper_encode_external(wstate)) {\n            if (!ggml_graph_compute_helper(sched, gf, n_threads)) {",
			"{\n            if (!ggml_graph_compute_helper(sched, gf, n_threads)) {", []string{"external encoder: no convolution is computed"}},
		{"ggml's encoder runs too", whispercpp.LibrarySource, "if (!whisper_encode_external(wstate)) {\n        auto & sched = wstate.sched_encode.sched;",
			"{\n        auto & sched = wstate.sched_encode.sched;", []string{"external encoder: ggml's encoder is skipped"}},
		{"another output", whispercpp.LibrarySource, "(float *) wstate.embd_enc->data);\n#elif", "scratch.data());\n#elif", []string{"external encoder: Core ML is called in its place"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := lost(t, c.file, c.old, c.with); !slices.Equal(got, c.want) {
				t.Errorf("lost %q, expected %q", got, c.want)
			}
		})
	}
}
