// Command gate_parity is the build action that judges an encoder's numbers.
//
//	gate_parity --model=M.bin --encoder=DIR [--mel=FILE] [--policy=NAME]
//		[--reference=FILE --reference_sidecar=FILE.json] [--probe=PROGRAM --identity=FILE] --out=JUDGEMENT.json
//
// The reference is computed from the .bin's tensors, or is the source model's own output, whose sidecar says how it was
// made (package parity). The digests of both stand in the judgement.
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
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/actions/internal/stage"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
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
	flags.StringVar(&q.Reference, "reference", "", "the source model's own output for that mel, a tensor `file`")
	sidecar := flags.String("reference_sidecar", "", "what made --reference, a `file`")
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
	if (q.Reference == "") != (*sidecar == "") {
		fmt.Fprintln(stderr, "gate_parity: --reference and --reference_sidecar are given together or not at all")
		return 2
	}
	if q.Probe != "" {
		if err := runner.CheckWorker(*identity); err != nil {
			fmt.Fprintf(stderr, "gate_parity: %s\n", reason.Visible(err.Error()))
			return 1
		}
	}
	if err := compare(ctx, q, *sidecar, *out); err != nil {
		fmt.Fprintf(stderr, "gate_parity: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func compare(ctx context.Context, q evaluation.Request, sidecar, out string) (err error) {
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
	facts := map[string]any{}
	if q.Reference != "" {
		if q.Reference, err = stageReference(dir, q.Reference, sidecar, facts); err != nil {
			return err
		}
	}
	r, err := evaluation.Run(ctx, q)
	if err != nil {
		return err
	}
	j := r.Record()
	maps.Copy(j.Facts, facts)
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	// A judgement names things as they ship, not where they were looked at.
	text := strings.ReplaceAll(string(b), dir+string(filepath.Separator), "")
	return os.WriteFile(out, append([]byte(text), '\n'), 0o644)
}

// stageReference lays a reference and its sidecar out beside each other, as the reader of sides wants them, and adds their
// digests to the facts of the judgement.
func stageReference(dir, reference, sidecar string, facts map[string]any) (string, error) {
	staged := filepath.Join(dir, "reference", filepath.Base(reference))
	if err := os.Mkdir(filepath.Dir(staged), 0o755); err != nil {
		return "", err
	}
	for _, f := range []struct{ from, to, fact string }{
		{reference, staged, judgements.FactSourceTensor}, {sidecar, staged + ".json", judgements.FactSourceSidecar},
	} {
		if err := stage.Stage(f.from, f.to); err != nil {
			return "", err
		}
		sum, _, err := tree.HashFile(f.to)
		if err != nil {
			return "", err
		}
		facts[f.fact] = sum
	}
	return staged, nil
}
