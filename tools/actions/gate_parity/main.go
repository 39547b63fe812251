// Command gate_parity is the build action that judges an encoder's numbers.
//
//	gate_parity --model=M.bin --encoder=DIR [--mel=FILE] [--policy=NAME] [--probe=PROGRAM --identity=FILE] --out=JUDGEMENT.json
//
// It exits 0 when it could judge, whatever the verdict; broken input exits 1. The mel is a tensor file
// or a 16 kHz mono WAV; without one a built-in sound is used. With --probe, on a Mac, the numbers are
// Core ML's own, and the machine has to be the one that the identity names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/actions/internal/stage"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity/evaluation"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	var q evaluation.Request
	flags := flag.NewFlagSet("gate_parity", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&q.Model, "model", "", "the ggml `file`")
	flags.StringVar(&q.Encoder, "encoder", "", "the compiled encoder, a `folder`")
	flags.StringVar(&q.Mel, "mel", "", "the mel: a tensor `file`, or a 16 kHz mono .wav")
	flags.StringVar(&q.Policy, "policy", "", "`name` of the frozen policy")
	flags.StringVar(&q.Probe, "probe", "", "the coremlprobe `program` to predict with")
	identity := flags.String("identity", "", "the toolchain's identity `file`, with --probe")
	out := flags.String("out", "", "where the judgement goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if q.Model == "" || q.Encoder == "" || *out == "" || flags.NArg() != 0 {
		fmt.Fprintln(stderr, "gate_parity: --model, --encoder and --out are needed, and no other arguments")
		return 2
	}
	if (q.Probe == "") != (*identity == "") {
		fmt.Fprintln(stderr, "gate_parity: --probe and --identity are given together or not at all")
		return 2
	}
	if q.Probe != "" {
		if err := runner.CheckWorker(*identity); err != nil {
			fmt.Fprintf(stderr, "gate_parity: %v\n", err)
			return 1
		}
	}
	if err := compare(ctx, q, *out); err != nil {
		fmt.Fprintf(stderr, "gate_parity: %v\n", err)
		return 1
	}
	return 0
}

func compare(ctx context.Context, q evaluation.Request, out string) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(out), ".parity-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	staged := filepath.Join(dir, filepath.Base(q.Encoder))
	if err := stage.Stage(q.Encoder, staged); err != nil {
		return err
	}
	q.Encoder = staged
	r, err := evaluation.Run(ctx, q)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(judgement(r), "", "  ")
	if err != nil {
		return err
	}
	// A judgement names things as they ship, not where they were looked at.
	text := strings.ReplaceAll(string(b), dir+string(filepath.Separator), "")
	return os.WriteFile(out, append([]byte(text), '\n'), 0o644)
}

// judgement gives a result the form that gates read. Facts are flat there, the measured numbers among
// them.
func judgement(r *evaluation.Result) verdict.Judgement {
	facts := map[string]any{"satisfies_gate": r.SatisfiesGate()}
	for name, value := range r.Facts {
		switch value.(type) {
		case string, bool, int, float64:
			facts[name] = value
		}
	}
	if m := r.Measurement; m != nil {
		facts["snr_db"], facts["cosine"] = m.SNR, m.Cosine
		facts["max_error"], facts["mean_error"] = m.Max, m.Mean
	}
	return verdict.Judgement{
		Name: "parity", Findings: r.Findings, Facts: facts,
		Policy: &verdict.PolicyRef{Name: r.Policy, SHA256: r.PolicySHA256},
	}
}
