package hardvalues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/coremlprobe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/repeat"
)

// TestPersistent has a program play the probe that repeats: right answers alone are not enough, they must be the same again.
func TestPersistent(t *testing.T) {
	all := Cases()
	c := all[slices.IndexFunc(all, func(c Case) bool { return strings.HasPrefix(c.Name, "input with padded rows, fp32") })]
	// What a case is compiled from exists while it is asked alone.
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	defer func() {
		left, err := os.ReadDir(tmp)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}()
	ask := func(first []byte, change func(r *repeat.Report)) error {
		dir := t.TempDir()
		r := &repeat.Report{Schema: 1, Version: "2", Host: coremlprobe.Host{OSVersion: "15.5"}, Configuration: []probe.Field{}, Build: "release", Framework: "com.apple.CoreML",
			Inputs:          []repeat.Memory{{Bytes: len(c.Inputs[0].Data), Alignment: repeat.SmallAlignment, Aligned: true}},
			InputsUnchanged: true, Counters: repeat.Counters{Allocations: 1}, Cycles: []repeat.Cycle{{Load: probe.Loaded, Predicted: persistentPredictions,
				Overlapped: repeat.Overlapped{State: repeat.Asked, Most: 2, Predicted: persistentOverlap}, Nanoseconds: []int64{}}}}
		change(r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("#!/bin/sh\ntest $1 = repeat && grep -q '\"strides\":\\[' $2 && cp %[1]s/report.json $3 && cp %[1]s/first $(dirname $2)/first\n", dir)
		for name, b := range map[string][]byte{"report.json": data, "first": first, "probe": []byte(script)} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		sides := func(of func(string, Compiler, time.Duration) Predict, compile Compiler) error {
			differs, broken := c.check(t.Context(), of(filepath.Join(dir, "probe"), compile, time.Minute))
			return errors.Join(differs, broken)
		}
		// A compiler that refuses leaves nothing either, on both sides.
		refuses := func(_ context.Context, pkg, _ string) error {
			if _, err := os.Stat(pkg); err != nil {
				t.Error(err)
			}
			return fmt.Errorf("%w: coremlc", ErrRefused)
		}
		for _, of := range []func(string, Compiler, time.Duration) Predict{Probe, Persistent} {
			if err := sides(of, refuses); !errors.Is(err, ErrRefused) {
				t.Error(err)
			}
		}
		return sides(Persistent, compileHere)
	}
	as := func(*repeat.Report) {}
	if err := ask(c.Want[0].Data, as); err != nil {
		t.Error(err)
	}
	if err := ask(c.Want[0].Data, func(r *repeat.Report) {
		r.Cycles[0].Overlapped = repeat.Overlapped{State: repeat.NotAvailable}
	}); err != nil {
		t.Errorf("a macOS before 14: %v", err)
	}
	wrong := slices.Clone(c.Want[0].Data)
	wrong[0]++
	for name, x := range map[string]struct {
		first  []byte
		change func(r *repeat.Report)
		want   string
	}{
		"another answer":     {wrong, as, "1 of"},
		"no answer":          {nil, as, "expected outputs of"},
		"more than asked":    {append(wrong, 0), as, "expected outputs of"},
		"another time":       {c.Want[0].Data, func(r *repeat.Report) { r.Cycles[0].Differ = 1 }, "REPEAT_DIFFERS"},
		"another at once":    {c.Want[0].Data, func(r *repeat.Report) { r.Cycles[0].Overlapped.Differ = 1 }, "REPEAT_DIFFERS"},
		"a changed input":    {c.Want[0].Data, func(r *repeat.Report) { r.InputsUnchanged = false }, "PARITY_INPUT_CHANGED"},
		"a prediction fails": {c.Want[0].Data, func(r *repeat.Report) { r.Cycles[0].Predicted, r.Cycles[0].Failed = 2, 1 }, "REPEAT_FAILED"},
	} {
		if err := ask(x.first, x.change); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}
