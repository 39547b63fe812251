package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/session"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func newFitCmd() *cobra.Command {
	var (
		model, encoder, units, lane, stage string
		measured                           []string
		asJSON                             bool
	)
	cmd := &cobra.Command{
		Use:   "fit --model MODEL.bin [--encoder ENCODER.mlmodelc] [--measured SUBMISSION.json...]",
		Short: "Say whether a run fits into the memory that there is now",
		Long: `Say whether a run fits into the memory that there is now: it fits (exit 0), it does not, by which gate and by how much
(exit 1), or that cannot be told (exit 3). What Core ML holds for an encoder is taken from submissions that measured it on
this build of the system; no file's size stands in for it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			subs, err := readSubmissions(cmd, measured)
			if err != nil {
				return err
			}
			asked := fit.Asked{Units: units, Lane: lane, Stage: fit.Stage(stage), OSBuild: environment.CaptureMachine(runner.MachineID()).OSBuild}
			a, err := assess(model, encoder, asked, subs)
			if err != nil {
				return err
			}
			f := verdict.New()
			f.AddAll(a.Reasons())
			return report{f, fitFacts(a)}.print(cmd.OutOrStdout(), string(a.Status), asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&model, "model", "", "the ggml model, a .bin file")
	f.StringVar(&encoder, "encoder", "", "the .mlmodelc (left out: ggml's own encoder)")
	f.StringVar(&units, "units", "all", "the compute units that the bridge asks for")
	f.StringVar(&lane, "lane", "emulated", "emulated or physical")
	f.StringVar(&stage, "stage", "run", "run, compile (coremlc) or first_load (the device's own compile)")
	f.StringArrayVar(&measured, "measured", nil, "a submission or collection with measured peaks; may be repeated")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// assess reads the budget and finds the need: measured if it was, else a lower bound.
func assess(model, encoder string, asked fit.Asked, subs []*measure.Submission) (fit.Assessment, error) {
	if asked.Stage != fit.Run && asked.Stage != fit.Compile && asked.Stage != fit.FirstLoad {
		return fit.Assessment{}, fmt.Errorf("--stage %q: expected run, compile or first_load", asked.Stage)
	}
	h, err := fit.ReadHeader(model)
	if err != nil {
		return fit.Assessment{}, err
	}
	if asked.ModelSHA256, err = session.Digest(model); err != nil {
		return fit.Assessment{}, err
	}
	if encoder == "" {
		asked.Units = "cpu"
	} else if asked.EncoderDigest, err = tree.Digest(encoder); err != nil {
		return fit.Assessment{}, err
	}
	bound := fit.LowerBound(h, asked.Stage)
	need, ok := fit.FromSubmissions(subs, asked)
	if !ok {
		need = bound
	}
	need.LargestBytes = bound.LargestBytes
	return fit.Assess(need, fit.Now(), fit.Reserve(subs, asked)), nil
}

func fitFacts(a fit.Assessment) map[string]any {
	facts := map[string]any{
		"available": memory.ShowMaybe(a.Budget.AvailableBytes), "footprint of this process": memory.ShowMaybe(a.Budget.FootprintBytes), "budget": memory.ShowMaybe(a.Budget.Bytes),
		"limit": memory.ShowMaybe(a.Budget.LimitBytes), "budget source": a.Budget.Source, "budget measured": a.Budget.Measured,
		"need, allocated": memory.Show(a.Need.FootprintBytes), "need, working set": memory.Show(a.Need.ResidentBytes), "need measured": a.Need.Measured,
		"largest allocation": memory.Show(a.Need.LargestBytes), "reserve": memory.Show(a.ReserveBytes),
	}
	if a.Need.From != "" {
		facts["need measured in session"] = a.Need.From
	}
	return facts
}
