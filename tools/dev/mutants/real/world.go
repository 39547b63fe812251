// Package real is the part of the catalogue of mutants that runs the real whisper-cli.
//
// A [Mutant] bends the spec of a good run, or the files that it names, and the runner makes the run as a build does. What the runner
// does not refuse is put in the place of the good run in a gate, and the gate's judgements have to name the mutant's reason code.
// A [Variant] is an unusual run that the gate has to accept. Where no words are judged a small made model stands for a real one.
package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/agreement"
)

// Model is a model and its encoder.
type Model struct{ Model, Encoder string }

// World names what real runs are made of.
type World struct {
	// CLI is whisper-cli by flavour.
	CLI map[string]string
	// Small is made, and quick. Speech understands Audio.
	Small, Speech                            Model
	Evaluator, Audio, Pin, Identity, Scratch string
	// Reference is what Audio says.
	Reference string

	mu    sync.Mutex
	count int
	good  map[bool]*judge.Runs
}

// Scene is one run that is about to be made.
type Scene struct {
	*runner.Spec
	World *World
	// Dir is the scene's own folder.
	Dir string
}

// scene is a good run.
func (w *World) scene(kind evidence.Kind, words bool) (*Scene, error) {
	w.mu.Lock()
	w.count++
	dir := filepath.Join(w.Scratch, fmt.Sprint(w.count))
	w.mu.Unlock()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	m := w.Small
	if words {
		m = w.Speech
	}
	s := &Scene{World: w, Dir: dir, Spec: &runner.Spec{
		Schema: 1, Kind: kind, Lane: evidence.LaneEmulated, LaneIdentityFile: w.Identity, Pin: w.Pin, Model: m.Model, Audio: w.Audio,
		Language: "en", Threads: 1, DeadlineSeconds: 600, Evaluator: w.Evaluator, Public: true,
	}}
	flavour := "coreml"
	switch kind {
	case evidence.KindCoreML:
		s.Encoder = m.Encoder
	case evidence.KindCanary:
		s.HeapFill = 0xaa
	case evidence.KindContrast:
		// It needs no evaluator, and without one an evaluator that was exchanged is not told by this run's.
		flavour, s.Evaluator = whispercpp.FlavourGGML, ""
	}
	return s, build(flavour)(s)
}

// run makes a run as the build does: its evidence is encoded and read back.
func (s *Scene) run(ctx context.Context) (*evidence.Evidence, error) {
	result, err := runner.Run(ctx, s.Spec)
	if err != nil {
		return nil, err
	}
	if !s.Public && s.Kind != evidence.KindCanary {
		audio, err := os.ReadFile(s.Audio)
		if err != nil {
			return nil, err
		}
		hear := func(stdout string) *evidence.Heard {
			return agreement.Hear(stdout, s.World.Reference, s.Language, agreement.Key(audio))
		}
		if err := result.Hear(hear); err != nil {
			return nil, err
		}
	}
	data, err := evidence.Encode(result.Evidence)
	if err != nil {
		return nil, err
	}
	return evidence.Decode(data)
}

// kinds are the runs of a gate.
var kinds = []evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}

// slot is the place of a run in a gate.
func slot(runs *judge.Runs, kind evidence.Kind) **evidence.Evidence {
	switch kind {
	case evidence.KindCanary:
		return &runs.Canary
	case evidence.KindContrast:
		return &runs.Contrast
	}
	return &runs.CoreML
}

// Good makes a good gate once.
func (w *World) Good(ctx context.Context, words bool) (judge.Runs, error) {
	w.mu.Lock()
	kept := w.good[words]
	w.mu.Unlock()
	if kept != nil {
		return *kept, nil
	}
	runs, err := w.bent(ctx, judge.Runs{}, words, kinds, func(*Scene) error { return nil })
	if err != nil {
		return runs, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.good == nil {
		w.good = map[bool]*judge.Runs{}
	}
	w.good[words] = &runs
	return runs, nil
}

// bent replaces runs of a gate by bent ones.
func (w *World) bent(ctx context.Context, runs judge.Runs, words bool, sides []evidence.Kind, bend func(*Scene) error) (judge.Runs, error) {
	for _, kind := range sides {
		s, err := w.scene(kind, words)
		if err == nil {
			err = bend(s)
		}
		if err != nil {
			return runs, &brokenScene{err}
		}
		e, err := s.run(ctx)
		if err != nil {
			return runs, err
		}
		*slot(&runs, kind) = e
	}
	return runs, nil
}

// brokenScene is a mutant that could not be made, which is no refusal.
type brokenScene struct{ err error }

func (b *brokenScene) Error() string { return "make the mutant: " + b.err.Error() }

// judge judges a gate: the runs, and of a model that understands speech the words.
func (w *World) judge(runs judge.Runs, words bool) (*verdict.Findings, error) {
	var list []*verdict.Judgement
	if words {
		p, err := policy.Frozen("gate_v2")
		if err != nil {
			return nil, err
		}
		if list, err = agreement.JudgeRuns(runs, w.Reference, p); err != nil {
			return nil, err
		}
	} else {
		// The made model's words mean nothing: the last judgement is theirs.
		list = judge.JudgeRuns(runs, verdict.NewJudgement(judge.Transcript), w.Reference)
		list = slices.DeleteFunc(list, func(j *verdict.Judgement) bool { return j.Name == judge.Transcript })
	}
	found := verdict.New()
	for _, j := range list {
		for _, r := range j.Reasons {
			r.Where = j.Name + ": " + r.Where
			found.Reasons = append(found.Reasons, r)
		}
	}
	found.Verdict = verdict.Overall(list)
	return &found, nil
}

// Refused stands for an answer without a reason code: the runner refuses the input.
const Refused = "(refused by the runner)"

// Try makes a mutant and returns the codes that answer it: none if the gate passes.
func (w *World) Try(ctx context.Context, m *Mutant) ([]string, error) {
	runs, err := w.Good(ctx, m.Words)
	if err != nil {
		return nil, fmt.Errorf("a good gate: %w", err)
	}
	if m.Bend != nil {
		runs, err = w.bent(ctx, runs, m.Words, m.Sides, m.Bend)
	}
	var broken *brokenScene
	var refusal *reason.Error
	switch {
	case errors.As(err, &broken):
		return nil, err
	case errors.As(err, &refusal):
		return []string{refusal.Reason.Code}, nil
	case err != nil:
		return []string{Refused}, nil
	}
	if m.Give != nil {
		m.Give(&runs)
	}
	found, err := w.judge(runs, m.Words)
	if err != nil || found.Verdict == reason.Pass {
		return nil, err
	}
	var codes []string
	for _, r := range found.Reasons {
		if !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
	}
	return codes, nil
}

// Accept makes a good variant and returns what the gate says against it.
func (w *World) Accept(ctx context.Context, v *Variant) ([]reason.Reason, error) {
	runs, err := w.Good(ctx, v.Words)
	if err == nil {
		runs, err = w.bent(ctx, runs, v.Words, v.Sides, v.Bend)
	}
	if err != nil {
		return nil, err
	}
	found, err := w.judge(runs, v.Words)
	if err != nil {
		return nil, err
	}
	if found.Verdict != reason.Pass && len(found.Reasons) == 0 {
		return nil, fmt.Errorf("the verdict is %s, without a reason", found.Verdict)
	}
	return found.Reasons, nil
}

// defines writes what the compiler is said to have been given.
func (s *Scene) defines(list ...string) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	s.Defines, err = s.file("defines.json", string(data))
	return err
}
