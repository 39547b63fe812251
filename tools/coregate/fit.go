package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/pressure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/session"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

func newFitCmd() *cobra.Command {
	var (
		model, encoder, units, lane, stage string
		ran                                string
		measured                           []string
		asJSON                             bool
	)
	cmd := &cobra.Command{
		Use:   "fit --model MODEL.bin [--encoder ENCODER.mlmodelc] [--measured SUBMISSION.json...] [--evidence RUN.json]",
		Short: "Say whether a run fits into the memory that there is now",
		Long: `Say whether a run fits into the memory that there is now: it fits (exit 0), it does not, by which gate and by how much
(exit 1), or that cannot be told (exit 3). What Core ML holds for an encoder is taken from submissions that measured it on
this build of the system; no file's size stands in for it. How hard the machine is pressed is said beside it: by heat first,
then by what is left of its memory, then by the share in use.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			subs, err := readSubmissions(cmd, measured)
			if err != nil {
				return err
			}
			asked := fit.Asked{Units: units, Lane: lane, Stage: fit.Stage(stage), OSBuild: environment.CaptureMachine(runner.MachineID()).OSBuild}
			a, err := assess(model, encoder, asked, subs, ran)
			if err != nil {
				return err
			}
			f := verdict.New()
			f.AddAll(a.Reasons())
			facts := fitFacts(a)
			pressureFacts(facts, pressure.Now(), runtime.NumCPU())
			return report{f, facts}.print(cmd.OutOrStdout(), string(a.Status), asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&model, "model", "", "the ggml model, a .bin file")
	f.StringVar(&encoder, "encoder", "", "the .mlmodelc (left out: ggml's own encoder)")
	f.StringVar(&units, "units", "all", "the compute units that the bridge asks for")
	f.StringVar(&lane, "lane", "emulated", "emulated or physical")
	f.StringVar(&stage, "stage", "run", "run, compile (coremlc) or first_load (the device's own compile)")
	f.StringArrayVar(&measured, "measured", nil, "a submission or collection with measured peaks; may be repeated")
	f.StringVar(&ran, "evidence", "", "evidence.json of a run with this model and encoder: the sizes that the runtime printed bound the need where none was measured")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// assess reads the budget and finds the need: measured if it was, else a lower bound, the runtime's own where a run printed it.
func assess(model, encoder string, asked fit.Asked, subs []*measure.Submission, ran string) (fit.Assessment, error) {
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
	need := bound
	if ran != "" {
		e, _, err := evidence.ReadFile(ran)
		if err != nil {
			return fit.Assessment{}, err
		}
		if need, err = fit.FromRuntime(e, asked); err != nil {
			return fit.Assessment{}, err
		}
	}
	if measured, ok := fit.FromSubmissions(subs, asked); ok {
		need = measured
	}
	need.LargestBytes = max(need.LargestBytes, bound.LargestBytes)
	return fit.Assess(need, fit.Now(), fit.Reserve(subs, asked)), nil
}

// pressureFacts adds how hard the machine is pressed, and the threads that it may be asked for.
func pressureFacts(facts map[string]any, s pressure.Snapshot, processors int) {
	facts["pressure"], facts["thermal state"], facts["low-power mode"] = string(s.Level()), s.Thermal, s.LowPower
	facts["threads, at most"] = pressure.MostThreads(processors, s.Strain, pressure.KeepOne)
}

func fitFacts(a fit.Assessment) map[string]any {
	facts := map[string]any{
		"available": memory.ShowMaybe(a.Budget.AvailableBytes), "footprint of this process": memory.ShowMaybe(a.Budget.FootprintBytes), "budget": memory.ShowMaybe(a.Budget.Bytes),
		"limit": memory.ShowMaybe(a.Budget.LimitBytes), "budget source": a.Budget.Source, "budget measured": a.Budget.Measured,
		"need, allocated": memory.Show(a.Need.FootprintBytes), "need, working set": memory.Show(a.Need.ResidentBytes), "need measured": a.Need.Measured,
		"largest allocation": memory.Show(a.Need.LargestBytes), "reserve": memory.Show(a.ReserveBytes),
	}
	if a.Need.From != "" {
		facts["need from"] = a.Need.From
	}
	return facts
}
