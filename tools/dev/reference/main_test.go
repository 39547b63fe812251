package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/reference"
)

var small = synthetic.Options{Layers: 1, TextLayers: 1, State: 64, Heads: 2, AudioCtx: 16, TextCtx: 4, Vocab: 16}

// TestMeasure holds that each way of this processor is evaluated and timed, and that the widest is taken again afterwards.
func TestMeasure(t *testing.T) {
	ways := reference.Ways()
	times, err := measure(t.Context(), small, ways, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(times) != len(ways) || len(columns(ways)) != len(cells("small", times)) {
		t.Errorf("%d times and %d cells of %d ways", len(times), len(cells("small", times)), len(ways))
	}
	last := ways[len(ways)-1]
	if before, err := last.Use(); err != nil || before != last {
		t.Errorf("left with %v, %v", before, err)
	}
}

// TestRefused holds what ends a measurement without a row: another way than the processor's, an unknown size, and a stop.
func TestRefused(t *testing.T) {
	if _, err := measure(t.Context(), small, append(reference.Ways(), reference.Way{Name: "1024 bits"}), 1); err == nil || !strings.Contains(err.Error(), "1024 bits") {
		t.Errorf("an unknown way: %v", err)
	}
	if err := run(t.Context(), []string{"--sizes", "gigantic"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "gigantic") {
		t.Errorf("an unknown size: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measure(ctx, small, reference.Ways(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop: %v", err)
	}
}

// TestReport holds that the stored report is measured, says how it is made again, and has a number for each way.
func TestReport(t *testing.T) {
	defer func() { sizeOf = synthetic.Size }()
	sizeOf = func(string) (synthetic.Options, error) { return small, nil }
	path := filepath.Join(t.TempDir(), "r.json")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--sizes", "tiny", "--rounds", "1", "--report", path}, &out); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if r.Origin != report.Measured || r.Machine == nil || r.Command != "go run ./tools/dev/reference --sizes tiny --rounds 1" {
		t.Errorf("%s, %+v, %q", r.Origin, r.Machine, r.Command)
	}
	row := r.Tables[0].Rows[0]
	for i, c := range row[1:] {
		if c.Number == nil || *c.Number <= 0 {
			t.Errorf("column %s has %+v", r.Tables[0].Columns[i+1].Name, c)
		}
	}
	if !strings.Contains(out.String(), "tiny") {
		t.Errorf("printed\n%s", &out)
	}
}
