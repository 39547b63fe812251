// Command gate_placement is the build action that judges where an encoder runs.
//
//	gate_placement --lane=LANE --model=M.bin --encoder=DIR --policy=NAME [--probe=PROGRAM] [--identity=FILE] [--trace=FILE]...
//		--out=JUDGEMENT.json --record=RECORD.json
//
// On the physical lane it asks Core ML for its devices, and for the encoder's compute plan unless the policy demands a Neural Engine
// that the machine does not have. The record is what was read, {} where nothing was. Without a probe, as on the emulated lane, there is
// no plan to judge. --trace names the files of a recording by Instruments (coregate placement record).
//
// It exits 0 when it could judge, whatever the verdict; broken input exits 1. With --identity, the machine has to be the one that the
// identity names.
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
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/actions/internal/stage"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/reading"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

// inputs are the flags.
type inputs struct {
	lane, model, encoder, policy, probe, identity, out, record string
	trace                                                      []string
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	var in inputs
	flags := flag.NewFlagSet("gate_placement", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&in.lane, "lane", "", "`physical` or emulated, as the toolchain says")
	flags.StringVar(&in.model, "model", "", "the ggml `file`")
	flags.StringVar(&in.encoder, "encoder", "", "the compiled encoder, a `folder`")
	flags.StringVar(&in.policy, "policy", "", "`name` of the frozen policy")
	flags.StringVar(&in.probe, "probe", "", "the coremlprobe `program` to read the plan with")
	flags.StringVar(&in.identity, "identity", "", "the toolchain's identity `file`")
	flags.Func("trace", "a `file` of a recording; may be repeated", func(path string) error {
		in.trace = append(in.trace, path)
		return nil
	})
	flags.StringVar(&in.out, "out", "", "where the judgement goes")
	flags.StringVar(&in.record, "record", "", "where the record of the plan goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	lane := evidence.Lane(in.lane)
	if in.model == "" || in.encoder == "" || in.policy == "" || in.out == "" || in.record == "" || flags.NArg() != 0 || lane != evidence.LanePhysical && lane != evidence.LaneEmulated {
		fmt.Fprintln(stderr, "gate_placement: --lane, --model, --encoder, --policy, --out and --record are needed, and no other arguments")
		return 2
	}
	if lane == evidence.LanePhysical && in.identity == "" {
		fmt.Fprintln(stderr, "gate_placement: the physical lane needs --identity")
		return 2
	}
	if err := judge(ctx, in); err != nil {
		fmt.Fprintf(stderr, "gate_placement: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func judge(ctx context.Context, in inputs) (err error) {
	p, err := policy.Frozen(in.policy)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(in.out), ".placement-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g := &placement.Given{Lane: evidence.Lane(in.lane), Encoder: filepath.Base(in.encoder)}
	if g.OSBuild, err = osBuild(in.identity); err != nil {
		return err
	}
	encoder := filepath.Join(dir, g.Encoder)
	if err := stage.Stage(in.encoder, encoder); err != nil {
		return err
	}
	if g.EncoderDigest, err = tree.Digest(encoder); err != nil {
		return err
	}
	record := []byte("{}")
	if in.probe != "" {
		answer, err := reading.Ask(ctx, in.probe, encoder, p, reading.DefaultDeadline)
		if err != nil {
			return err
		}
		if g.Devices, g.Plan = answer.Devices, answer.Plan; g.Plan != nil {
			if record, err = g.Plan.Encode(); err != nil {
				return err
			}
		}
	}
	if len(in.trace) > 0 {
		if g.Trace, err = recording(dir, in.trace); err != nil {
			return err
		}
	}
	j := placement.Judge(g, p)
	if j.Facts[verdict.FactModel], _, err = tree.HashFile(in.model); err != nil {
		return err
	}
	if err := os.WriteFile(in.record, append(record, '\n'), 0o644); err != nil {
		return err
	}
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(in.out, append(b, '\n'), 0o644)
}

// osBuild is the build of macOS that an identity names; the machine has to be the one of the identity. "" without an identity.
func osBuild(identity string) (string, error) {
	if identity == "" {
		return "", nil
	}
	if err := runner.CheckWorker(identity); err != nil {
		return "", err
	}
	data, err := os.ReadFile(identity)
	if err != nil {
		return "", err
	}
	named := map[string]string{}
	if err := json.Unmarshal(data, &named); err != nil {
		return "", fmt.Errorf("%s: %w", identity, err)
	}
	if named["os_build"] == "" {
		return "", fmt.Errorf("%s: expected an os_build, found none", identity)
	}
	return named["os_build"], nil
}

// recording lays the files of a recording out beside each other, under their own names.
func recording(dir string, files []string) (*placement.Recording, error) {
	folder := filepath.Join(dir, "recording")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	for _, path := range files {
		if err := stage.Stage(path, filepath.Join(folder, filepath.Base(path))); err != nil {
			return nil, err
		}
	}
	return placement.ReadRecording(folder)
}
