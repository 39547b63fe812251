package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

var small = synthetic.Options{Layers: 1, TextLayers: 1, State: 64, Heads: 2, AudioCtx: 16, TextCtx: 4, Vocab: 16}

func table(t *testing.T) (*report.Writer, *strings.Builder) {
	t.Helper()
	out := &strings.Builder{}
	w, err := report.Begin("", "forms", "go run ./tools/dev/forms", out)
	if err != nil {
		t.Fatal(err)
	}
	columns := []report.Column{{Name: "encoder", Kind: report.Text}}
	for _, name := range []string{"weights", "loading", "first", "later", "once", "again"} {
		columns = append(columns, report.Column{Name: name, Kind: report.Number})
	}
	if err := w.Begin("forms", columns...); err != nil {
		t.Fatal(err)
	}
	return w, out
}

// Every form is made, loaded and evaluated, and near the model.
func TestEveryForm(t *testing.T) {
	w, out := table(t)
	if err := measureSize(t.Context(), w, "small", small, 1); err != nil {
		t.Fatal(err)
	}
	for _, f := range forms {
		if !strings.Contains(out.String(), "small, "+f.name) {
			t.Errorf("no %s in\n%s", f.name, out)
		}
	}
}

// A form whose output is none of the model's is an error, and no row.
func TestAnotherModel(t *testing.T) {
	before := forms
	defer func() { forms = before }()
	forms = []form{before[0], {name: "other", precision: before[1].precision, atLeast: 10, compress: func(v []float32, rows int64, out mil.Param) (string, []operand) {
		for i := range v {
			v[i] = float32(math.Sin(float64(i)))
		}
		return int8s(v, rows, out)
	}}}
	w, _ := table(t)
	if err := measureSize(t.Context(), w, "small", small, 1); err == nil || !strings.Contains(err.Error(), "no encoder of the model") {
		t.Errorf("%v", err)
	}
}

// A slow round slows both sides, and the middle one counts.
func TestTimes(t *testing.T) {
	c := func(seconds ...int) (all []cost) {
		for _, s := range seconds {
			all = append(all, cost{later: time.Duration(s) * time.Second})
		}
		return all
	}
	later := func(c cost) time.Duration { return c.later }
	if got := times(c(2, 40, 3), c(1, 10, 2), later); got != 2 {
		t.Errorf("%v of three rounds, expected 2", got)
	}
	if got := times(c(2, 3), c(1, 2), later); got != 1.75 {
		t.Errorf("%v of two rounds, expected 1.75", got)
	}
}
