// Command gate_judge is the build action that writes one judgement over the evidence of a gate's runs.
//
//	gate_judge --judgement=NAME [--coreml=EVIDENCE] [--canary=EVIDENCE] [--contrast=EVIDENCE] --reference=TEXT --policy=FILE --out=JUDGEMENT.json
//
// It exits 0 when it could judge, whatever the verdict: a run that is left out is evidence that is missing. Broken input
// exits 1.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// request is what the flags say.
type request struct {
	judgement, coreml, canary, contrast, reference, policy, out string
}

func run(args []string, stderr io.Writer) int {
	var q request
	flags := flag.NewFlagSet("gate_judge", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&q.judgement, "judgement", "", "`name` of the judgement: "+strings.Join(judgements.Of(judgements.Runs), ", "))
	flags.StringVar(&q.coreml, "coreml", "", "evidence `file` of the positive run")
	flags.StringVar(&q.canary, "canary", "", "evidence `file` of the negative control")
	flags.StringVar(&q.contrast, "contrast", "", "evidence `file` of the contrast run")
	flags.StringVar(&q.reference, "reference", "", "text `file` with the reference words")
	flags.StringVar(&q.policy, "policy", "", "`file` of the frozen policy of kind gate")
	flags.StringVar(&q.out, "out", "", "where the judgement goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if q.judgement == "" || q.reference == "" || q.policy == "" || q.out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_judge: --judgement, --reference, --policy and --out are required, and there are no other arguments than the evidence")
		return 2
	}
	if err := q.act(); err != nil {
		fmt.Fprintf(stderr, "gate_judge: %v\n", err)
		return 1
	}
	return 0
}

func (q request) act() error {
	var runs judge.Runs
	for _, side := range []struct {
		path string
		to   **evidence.Evidence
	}{{q.coreml, &runs.CoreML}, {q.canary, &runs.Canary}, {q.contrast, &runs.Contrast}} {
		if side.path == "" {
			continue
		}
		e, _, err := evidence.ReadFile(side.path)
		if err != nil {
			return err
		}
		*side.to = e
	}
	reference, err := os.ReadFile(q.reference)
	if err != nil {
		return fmt.Errorf("read reference: %w", err)
	}
	p, err := policy.Load(q.policy)
	if err != nil {
		return err
	}
	all, err := agreement.JudgeRuns(runs, string(reference), p)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(j *verdict.Judgement) bool { return j.Name == q.judgement })
	if i < 0 {
		return fmt.Errorf("no judgement over runs is called %q: expected one of %s", q.judgement, strings.Join(judgements.Of(judgements.Runs), ", "))
	}
	data, err := json.MarshalIndent(all[i], "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(q.out, append(data, '\n'), 0o644)
}
