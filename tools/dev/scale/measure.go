package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/synthetic"
)

const megabyte = 1 << 20

// measurer runs the steps of one model after the other.
type measurer struct {
	ctx     context.Context
	bin     string
	out     *report.Writer
	threads int
	// gate is an execution root in which //gate:receipt was built, empty where no receipts are made.
	gate string
	rows []row
	over []string
}

// row is one model's line in the table of growth.
type row struct {
	name          string
	flops         float64
	weights       int64
	encodeSeconds float64 // of processors
}

// cost is what a step took: seconds of processors, since those that passed are other programs' as well, and bytes.
type cost struct {
	processor time.Duration
	peak      int64
}

func (m *measurer) head() error {
	return m.out.Begin("steps", report.Column{Name: "model", Kind: report.Text}, report.Column{Name: "step", Kind: report.Text},
		report.Column{Name: "processor time", Kind: report.Number, Unit: "s", Decimals: 1}, report.Column{Name: "peak", Kind: report.Number, Unit: "MiB"},
		report.Column{Name: "bound", Kind: report.Number, Unit: "MiB"})
}

// step runs a program to its end. bound is in bytes, 0 for none.
func (m *measurer) step(model, name string, bound int64, program string, args ...string) (cost, []byte, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(m.ctx, filepath.Join(m.bin, program), args...)
	c.Stdout, c.Stderr = &out, &errs
	c.Dir = m.gate // the specs' paths begin there
	err := c.Run()
	// A verdict is an answer too: what a step was asked for is looked at by its caller.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 0 || program != "coregate") {
		return cost{}, nil, fmt.Errorf("%s: %s: %w\n%s", model, name, err, errs.String())
	}
	r := cost{c.ProcessState.UserTime() + c.ProcessState.SystemTime(), peak(c.ProcessState)}
	limit := report.Cell{}
	if bound > 0 {
		limit = report.N(float64(bound / megabyte))
		if r.peak > bound {
			m.over = append(m.over, fmt.Sprintf("%s, %s: %d MB of %d", model, name, r.peak/megabyte, bound/megabyte))
		}
	}
	err = m.out.Row(report.T(model), report.T(name), report.N(r.processor.Seconds()), report.N(float64(r.peak/megabyte)), limit)
	return r, out.Bytes(), err
}

// model takes one made model through all steps, and removes it.
func (m *measurer) model(dir, size, typ string, precisions []string) (err error) {
	o, err := synthetic.Size(size)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h := o.Hyperparameters()
	name, bin := size+" "+typ, filepath.Join(dir, "ggml-x.bin")
	if _, _, err := m.step(name, "made", 0, "gate_small_model", "--size="+size, "--type="+typ, "--out="+bin); err != nil {
		return err
	}
	if _, _, err := m.step(name, "inspect the .bin", inspectBound, "coregate", "inspect", "--json", bin); err != nil {
		return err
	}
	for _, precision := range precisions {
		if err := m.encoder(dir, bin, name, precision, h); err != nil {
			return err
		}
	}
	return nil
}

// encoder writes, compiles, pairs and evaluates the encoder of one precision.
func (m *measurer) encoder(dir, bin, name, precision string, h ggml.Hyperparameters) error {
	label := name + ", " + precision
	pkg, compiled := filepath.Join(dir, "e.mlpackage"), filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	for _, s := range []struct {
		name string
		args []string
	}{
		{"encoder written", []string{"package", "--model=" + bin, "--precision=" + precision, "--out=" + pkg}},
		{"compiled", []string{"compile", "--package=" + pkg, "--out=" + compiled}},
	} {
		if _, _, err := m.step(label, s.name, writeBound(h), "gate_encoder", s.args...); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(pkg); err != nil {
		return err
	}
	_, answer, err := m.step(label, "inspect the pair", inspectBound, "coregate", "inspect", "--json", bin, compiled)
	if err != nil {
		return err
	}
	if err := passes(answer); err != nil {
		return fmt.Errorf("%s: inspect: %w", label, err)
	}
	info, err := os.Stat(filepath.Join(compiled, "weights", "weight.bin"))
	if err != nil {
		return err
	}
	bound := evaluationBound(h, info.Size())
	threads := "--threads=" + strconv.Itoa(m.threads)
	npy := filepath.Join(dir, "out.npy")
	c, _, err := m.step(label, "one encode", bound, "coregate", "predict", "--model", bin, "--encoder", compiled, "--out", npy, threads)
	if err != nil {
		return err
	}
	if _, err := os.Stat(npy); err != nil {
		return fmt.Errorf("%s: predict wrote nothing: %w", label, err)
	}
	m.rows = append(m.rows, row{label, flops(h), info.Size(), c.processor.Seconds()})
	policy := map[string]string{"float16": "fp16_v1", "float32": "fp32_v2"}[precision]
	if m.gate != "" {
		if err := m.receipt(dir, bin, compiled, label, policy, bound+referenceBound(h)); err != nil {
			return err
		}
		return os.RemoveAll(compiled)
	}
	_, answer, err = m.step(label, "parity", bound+referenceBound(h), "coregate", "parity", "--model", bin, "--encoder", compiled, "--policy", policy, "--json", threads)
	if err != nil {
		return err
	}
	if err := measured(answer); err != nil {
		return fmt.Errorf("%s: parity: %w", label, err)
	}
	return os.RemoveAll(compiled)
}

// passes wants a verdict of coregate to be a pass.
func passes(answer []byte) error {
	var v struct{ Verdict string }
	if err := json.Unmarshal(answer, &v); err != nil || v.Verdict != "pass" {
		return fmt.Errorf("expected a pass, found %s", answer)
	}
	return nil
}

// measured wants a parity to have been measured, whatever came of it: how much rounding adds up depends on the weights,
// which here are those of no model that was trained.
func measured(answer []byte) error {
	var v struct{ Verdict string }
	if err := json.Unmarshal(answer, &v); err != nil || v.Verdict == "inconclusive" || v.Verdict == "" {
		return fmt.Errorf("expected a measurement, found %s", answer)
	}
	return nil
}

// growth prints the encodings against what they compute and read.
func (m *measurer) growth() error {
	if len(m.rows) == 0 {
		return nil
	}
	first := m.rows[0]
	number := func(name, unit string, decimals int) report.Column {
		return report.Column{Name: name, Kind: report.Number, Unit: unit, Decimals: decimals}
	}
	err := m.out.Begin("growth", report.Column{Name: "encode", Kind: report.Text}, number("work", "GFLOP", 1), number("weights", "MiB", 0), number("processor time", "s", 2),
		number("rate", "GFLOP per processor second", 0), number("work, times the first", "", 1), number("time, times the first", "", 1), number("weights, times the first", "", 1))
	for _, r := range m.rows {
		if err == nil {
			err = m.out.Row(report.T(r.name), report.N(r.flops/1e9), report.N(float64(r.weights/megabyte)), report.N(r.encodeSeconds), report.N(r.flops/1e9/r.encodeSeconds),
				report.N(r.flops/first.flops), report.N(r.encodeSeconds/first.encodeSeconds), report.N(float64(r.weights)/float64(first.weights)))
		}
	}
	return err
}
