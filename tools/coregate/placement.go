package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/power"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/reading"
)

// placementFlags are the inputs of coregate placement.
type placementFlags struct {
	encoder, policy, probe, record, plan, trace, power, control, osBuild string
	deadline                                                             time.Duration
}

func newPlacementCmd() *cobra.Command {
	var q placementFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "placement --encoder ENCODER.mlmodelc [--probe COREMLPROBE] [--plan FILE] [--trace FOLDER]",
		Short: "Judge where an encoder runs: Neural Engine, GPU or CPU",
		Long: `Judge under a frozen policy where Core ML runs a compiled encoder, from the instrument that the policy names:
a compute plan, which --probe reads on a Mac (macOS 14.4 or later) and --plan takes from a record, or a recording by
Instruments, which coregate placement record makes. Both may be given; the policy says which one decides.

Where the policy demands the Neural Engine and Core ML lists none, the command ends with exit 2 before anything runs.
The output of powermetrics, which needs root, may be added with --power: it is noted, and decides nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := q.judge(cmd)
			if err != nil {
				return err
			}
			return report{j.Findings, placementFacts(j)}.print(cmd.OutOrStdout(), "placement", asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.encoder, "encoder", "", "the compiled encoder, an .mlmodelc folder")
	f.StringVar(&q.policy, "policy", "placement_plan_v1", "a frozen policy of kind placement: placement_plan_v1 or placement_trace_v1")
	f.StringVar(&q.probe, "probe", "", "the coremlprobe to read the device list and the plan with, on a Mac")
	f.StringVar(&q.record, "record", "", "where the record of what --probe read goes")
	f.StringVar(&q.plan, "plan", "", "a record that --record wrote")
	f.StringVar(&q.trace, "trace", "", "the folder of a recording that coregate placement record made")
	f.StringVar(&q.power, "power", "", "the text output of powermetrics beside the run")
	f.StringVar(&q.control, "power-control", "", "the same beside a model that is known to use the Neural Engine")
	f.StringVar(&q.osBuild, "os-build", "", "the build of macOS that it must have been read on, such as 24G84")
	f.DurationVar(&q.deadline, "probe-deadline", reading.DefaultDeadline, "how long Core ML may take, its first load included")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// placementFacts are the judgement's facts, with the policy that it went by.
func placementFacts(j *verdict.Judgement) map[string]any {
	j.Facts["policy"], j.Facts["policy_sha256"] = j.Policy.Name, j.Policy.SHA256
	return j.Facts
}

func (q *placementFlags) judge(cmd *cobra.Command) (*verdict.Judgement, error) {
	switch {
	case q.encoder == "":
		return nil, fmt.Errorf("placement needs --encoder ENCODER.mlmodelc")
	case q.probe != "" && q.plan != "":
		return nil, fmt.Errorf("--probe reads a plan and --plan has one: give one of them")
	case q.record != "" && q.probe == "":
		return nil, fmt.Errorf("--record keeps what --probe reads: give --probe too")
	case q.control != "" && q.power == "":
		return nil, fmt.Errorf("--power-control is the control of --power: give --power too")
	}
	p, err := policy.Frozen(q.policy)
	if err != nil {
		return nil, err
	}
	if _, err := placement.Instrument(p); err != nil {
		return nil, err
	}
	// Whoever has a plan or a recording has it of Apple's Core ML, or of the stand-in, which the plan says itself.
	g := &placement.Given{Lane: evidence.LanePhysical, Encoder: filepath.Base(filepath.Clean(q.encoder)), OSBuild: q.osBuild}
	if g.EncoderDigest, err = tree.Digest(q.encoder); err != nil {
		return nil, fmt.Errorf("encoder: %w", err)
	}
	if err := q.readPlan(cmd, g, p); err != nil {
		return nil, err
	}
	if q.trace != "" {
		if g.Trace, err = placement.ReadRecording(q.trace); err != nil {
			return nil, err
		}
	}
	if g.Power, err = readPower(cmd.InOrStdin(), q.power); err != nil {
		return nil, err
	}
	if g.Control, err = readPower(cmd.InOrStdin(), q.control); err != nil {
		return nil, err
	}
	return placement.Judge(g, p), nil
}

// readPlan asks Core ML, or reads a record of its answer. A demand that no run on this machine can meet is an error.
func (q *placementFlags) readPlan(cmd *cobra.Command, g *placement.Given, p *policy.Policy) error {
	if q.plan != "" {
		data, err := readInput(cmd.InOrStdin(), q.plan, computeplan.MaxBytes)
		if err != nil {
			return err
		}
		g.Plan, err = placement.ParseRecord(data)
		return err
	}
	if q.probe == "" {
		return nil
	}
	answer, err := reading.Ask(cmd.Context(), q.probe, q.encoder, p, q.deadline)
	if err != nil {
		return err
	}
	if err := placement.Refusal(answer.Devices, p); err != nil {
		return err
	}
	g.Devices, g.Plan = answer.Devices, answer.Plan
	if q.record == "" {
		return nil
	}
	data, err := answer.Plan.Encode()
	if err != nil {
		return err
	}
	return wholefile.Bytes(q.record, data)
}

func readPower(stdin io.Reader, path string) (*power.Reading, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readInput(stdin, path, power.MaxBytes)
	if err != nil {
		return nil, err
	}
	return power.Parse(data)
}

func newPlacementRecordCmd() *cobra.Command {
	var r reading.Run
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "record --cli WHISPER-CLI --model MODEL.bin --audio AUDIO.wav --out FOLDER",
		Short: "Record one run of whisper-cli with Instruments' Core ML template, on a Mac",
		Long: `Let xctrace record one run of whisper-cli by Instruments' Core ML template, without a screen, and export what placement is
judged from into a new folder: recording.json, toc.xml, intervals.xml, and Instruments' own run.trace. It needs a full Xcode. The
exports name the machine; recording.json does not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.CLI == "" || r.Model == "" || r.Audio == "" || r.Folder == "" {
				return fmt.Errorf("placement record needs --cli, --model, --audio and --out")
			}
			if err := reading.Record(cmd.Context(), r); err != nil {
				return err
			}
			recorded, err := placement.ReadRecording(r.Folder)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"out": r.Folder, "encoder_digest": recorded.About.EncoderDigest, "trace_sha256": recorded.SHA256,
					"os_build": recorded.Contents.OSBuild, "trace_intervals": len(recorded.Intervals)})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: a recording of encoder %s on macOS build %s, with %d intervals of the Neural Engine\n",
				r.Folder, recorded.About.EncoderDigest, recorded.Contents.OSBuild, len(recorded.Intervals))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.CLI, "cli", "", "the whisper-cli to run")
	f.StringVar(&r.Model, "model", "", "the ggml model, with its encoder beside it")
	f.StringVar(&r.Audio, "audio", "", "a 16 kHz mono .wav")
	f.StringVar(&r.Language, "language", "en", "the language that is spoken")
	f.StringVar(&r.Folder, "out", "", "the folder to make")
	f.StringVar(&r.XCRun, "xcrun", "/usr/bin/xcrun", "the program that finds xctrace")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.DurationVar(&r.Deadline, "deadline", 30*time.Minute, "how long recording and exports may take")
	return cmd
}
