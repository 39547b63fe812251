package mel_test

import (
	_ "embed"
	"encoding/json"
	"math"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mel"
)

// What whisper.cpp itself computes for the built-in sound, at some bands and
// frames; the file says how it was made.
//
//go:embed testdata/upstream.json
var upstream []byte

func TestAgainstUpstream(t *testing.T) {
	var golden struct {
		Bands, Frames []int
		Values        [][]float64
	}
	if err := json.Unmarshal(upstream, &golden); err != nil || len(golden.Bands) < 10 || len(golden.Frames) < 80 {
		t.Fatalf("the golden is broken: %v", err)
	}
	s, err := mel.Compute(mel.Probe(), ggml.MelBank(80), 80)
	if err != nil {
		t.Fatal(err)
	}
	equal, worst := 0, 0.0
	for i, b := range golden.Bands {
		for j, f := range golden.Frames {
			d := math.Abs(float64(s.Values[b*s.Frames+f]) - golden.Values[i][j])
			worst = math.Max(worst, d)
			if d == 0 {
				equal++
			}
		}
	}
	if worst > 1e-4 {
		t.Errorf("a value differs from upstream's by %g", worst)
	}
	if n := len(golden.Bands) * len(golden.Frames); equal < n/2 {
		t.Errorf("%d of %d values are upstream's own to the bit; most should be", equal, n)
	}
}
