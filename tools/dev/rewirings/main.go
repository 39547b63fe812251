// Command rewirings shows what inspect makes of changed programs of a real encoder:
//
//	rewirings [-break=200] [-keep=100] MODEL.bin ENCODER.mlpackage
//
// It connects the encoder's program otherwise at random, and inspects each that changes the output by more than 60 dB:
// none may pass. It writes the same program in other ways: none may be refused. The last line is the figure; it exits 1
// where one of the two is not so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/dataflow/rewire"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("rewirings", flag.ContinueOnError)
	flags.SetOutput(stderr)
	breaks := flags.Uint64("break", 200, "how many programs that are connected otherwise")
	keeps := flags.Uint64("keep", 100, "how many programs that compute the same")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 2 {
		fmt.Fprintln(stderr, "rewirings: expected MODEL.bin ENCODER.mlpackage")
		return 2
	}
	t, err := open(flags.Arg(0), flags.Arg(1))
	if err != nil {
		fmt.Fprintf(stderr, "rewirings: %v\n", err)
		return 1
	}
	defer t.close()
	changed, passed, err := t.broken(stdout, *breaks)
	refused := 0
	if err == nil {
		refused, err = t.kept(stdout, *keeps)
	}
	if err != nil {
		fmt.Fprintf(stderr, "rewirings: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%d of %d rewirings change the output by more than 60 dB and %d of those pass; %d of %d rewritings are refused\n", changed, *breaks, passed, refused, *keeps)
	if passed+refused > 0 {
		return 1
	}
	return 0
}

// trial is an encoder whose program is changed.
type trial struct {
	model string
	m     *ggml.Model
	art   *bundle.Artifact
	// weights is the package's weight file.
	weights []byte
	dir     string
}

func open(model, encoder string) (*trial, error) {
	m, err := ggml.Open(model)
	if err != nil {
		return nil, err
	}
	a, err := bundle.Open(encoder)
	if err == nil {
		err = a.Check()
	}
	if err == nil && (a.Form != bundle.PackageForm || a.Program == nil) {
		err = errors.New("expected the .mlpackage of an ML program")
	}
	if err != nil {
		return nil, err
	}
	weights, err := os.ReadFile(filepath.Join(encoder, "Data", "com.apple.CoreML", filepath.FromSlash(bundle.WeightName)))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rewirings-")
	return &trial{model: model, m: m, art: a, weights: weights, dir: dir}, err
}

func (t *trial) close() {
	_ = t.art.Close()
	_ = t.m.Close()
	_ = os.RemoveAll(t.dir)
}

func (t *trial) main() *mil.Function { return t.art.Program.Functions[0] }

// broken counts the rewirings that change the output, and those of them that pass.
func (t *trial) broken(w io.Writer, n uint64) (changed, passed int, err error) {
	for seed := range n {
		f, what := rewire.Break(t.main(), rand.New(rand.NewPCG(seed, 1)))
		trace, err := dataflow.Run(context.Background(), f, t.art, t.m.Hyperparameters, t.tensor)
		if err != nil {
			return 0, 0, fmt.Errorf("seed %d, %s: %w", seed, what, err)
		}
		snr := trace.Step("output").SNR
		if snr > 60 {
			fmt.Fprintf(w, "seed %d, %s: %.1f dB, no change to speak of\n", seed, what, snr)
			continue
		}
		changed++
		r, err := t.inspect(f)
		if err != nil {
			return 0, 0, err
		}
		if r.Verdict == reason.Pass {
			passed++
			fmt.Fprintf(w, "seed %d, %s: %.1f dB and PASSES\n", seed, what, snr)
		}
	}
	return changed, passed, nil
}

// kept counts the rewritings that are refused.
func (t *trial) kept(w io.Writer, n uint64) (refused int, err error) {
	for seed := range n {
		f, changes := rewire.Keep(t.main(), rand.New(rand.NewPCG(seed, 2)))
		r, err := t.inspect(f)
		if err != nil {
			return 0, err
		}
		if r.Verdict != reason.Pass {
			refused++
			fmt.Fprintf(w, "seed %d, %d changes: REFUSED %v\n", seed, changes, r.Reasons)
		}
	}
	return refused, nil
}

func (t *trial) tensor(name string, shape []int) ([]float32, error) {
	x, ok := t.m.Tensor("encoder." + name)
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	v, err := t.m.Float32s(x)
	n := 1
	for _, d := range shape {
		n *= d
	}
	return v[:min(n, len(v))], err
}

// inspect writes the package with another function and inspects it.
func (t *trial) inspect(f *mil.Function) (*artifact.Report, error) {
	m, p := *t.art.Model, *t.art.Program
	p.Functions = []*mil.Function{f}
	m.Program = &p
	dest := filepath.Join(t.dir, "rewired.mlpackage")
	if err := os.RemoveAll(dest); err != nil {
		return nil, err
	}
	err := bundle.WritePackage(dest, &m, func(w io.Writer) error {
		_, err := w.Write(t.weights)
		return err
	})
	if err != nil {
		return nil, err
	}
	return artifact.Inspect(t.model, dest, artifact.Options{ContentsOnly: true, NoDigests: true})
}
