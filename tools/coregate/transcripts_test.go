package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence/evidencetest"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/recordings"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// writeOutcome writes a folder in which one recording was heard on both sides, the hybrid's words as given.
func writeOutcome(t *testing.T, public bool, said string) string {
	t.Helper()
	pair := recordings.Pair{CoreML: evidencetest.Sample(evidence.KindCoreML), GGML: evidencetest.Sample(evidence.KindContrast)}
	f := transcript.Fixture{Name: "talk", Public: public, Language: "en"}
	for _, side := range []struct {
		e    *evidence.Evidence
		text string
		to   **transcript.Heard
	}{{pair.CoreML, said, &f.CoreML}, {pair.GGML, evidencetest.Reference, &f.GGML}} {
		side.e.Public = public
		side.e.Stdout = evidence.Normaliser{}.Stream([]byte(side.text+"\n"), false, true, nil)
		if !public {
			side.e.Stdout.Lines, side.e.Stdout.Complete, side.e.Stderr.Complete = []string{}, false, false
			side.e.Words = &evidence.WordCount{}
			*side.e.Words = evidence.CountWords(side.text)
		}
		h, err := recordings.HeardIn(side.e, side.text)
		if err != nil {
			t.Fatal(err)
		}
		*side.to = h
	}
	dir := filepath.Join(t.TempDir(), "out")
	o := &recordings.Outcome{Report: &transcript.Report{Schema: 1, Comparisons: []transcript.Comparison{transcript.Compare(f)}}, Runs: []recordings.Pair{pair}}
	if err := o.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTranscripts(t *testing.T) {
	tests := []struct {
		name, said string
		public     bool
		args       []string
		code       int
		reason     string
	}{
		{"same words", evidencetest.Reference, true, nil, 0, ""},
		{"other words", "Something else entirely", true, nil, 1, "WORDS_COREML_CHANGED"},
		{"private words", "zyzzyva zyzzyva zyzzyva zyzzyva", false, nil, 1, "WORDS_COREML_CHANGED"},
		{"unknown policy", evidencetest.Reference, true, []string{"--policy", "lenient"}, 2, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeOutcome(t, tt.public, tt.said)
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), append([]string{"transcripts", dir, "--json"}, tt.args...), nil, &stdout, &stderr); code != tt.code {
				t.Fatalf("exit %d, want %d: %s%s", code, tt.code, stdout.String(), stderr.String())
			}
			if tt.code == 2 {
				return
			}
			var got report
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, r := range got.Reasons {
				codes = append(codes, r.Code)
			}
			if tt.reason != "" && !slices.Contains(codes, tt.reason) {
				t.Errorf("reasons %v, want %s", codes, tt.reason)
			}
			var table bytes.Buffer
			run(t.Context(), []string{"transcripts", dir}, nil, &table, &stderr)
			if !tt.public && strings.Contains(stdout.String()+table.String(), "zyzzyva") {
				t.Errorf("a private word is printed:\n%s\n%s", stdout.String(), table.String())
			}
		})
	}
}
