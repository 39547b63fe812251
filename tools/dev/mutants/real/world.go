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

// Basis is a good gate, of which mutants and variants are made.
type Basis int

const (
	// Made is a gate of the small made model, over the beginning of the recording. No words are judged.
	Made Basis = iota
	// Beams is a gate of a model that understands speech, over the whole recording. Its words are judged.
	Beams
	// Greedy is Beams without a beam search. A fault makes whisper-cli write nonsense up to its last position, and five beams
	// take four times as long for it.
	Greedy
)

// words says whether words are judged.
func (b Basis) words() bool { return b != Made }

// World names what real runs are made of. It makes one run at a time.
type World struct {
	// CLI is whisper-cli by flavour.
	CLI map[string]string
	// Small is made, and quick. Speech understands Audio.
	Small, Speech                            Model
	Evaluator, Audio, Pin, Identity, Scratch string
	// Reference is what Audio says.
	Reference string

	count int
	good  map[Basis]judge.Runs
}

// Scene is one run that is about to be made.
type Scene struct {
	*runner.Spec
	World *World
	// Dir is the scene's own folder.
	Dir string
}

// scene is a good run.
func (w *World) scene(kind evidence.Kind, basis Basis) (*Scene, error) {
	w.count++
	dir := filepath.Join(w.Scratch, fmt.Sprint(w.count))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	m := w.Small
	if basis.words() {
		m = w.Speech
	}
	s := &Scene{World: w, Dir: dir, Spec: &runner.Spec{
		Schema: 1, Kind: kind, Lane: evidence.LaneEmulated, LaneIdentityFile: w.Identity, Pin: w.Pin, Model: m.Model, Audio: w.Audio,
		Language: "en", Threads: 1, DeadlineSeconds: 600, Evaluator: w.Evaluator, Public: true,
	}}
	switch basis {
	case Made:
		if err := cutAudio(0.2)(s); err != nil {
			return nil, err
		}
	case Greedy:
		s.Arguments = []string{"-bs", "1"}
	}
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
func (w *World) Good(ctx context.Context, basis Basis) (judge.Runs, error) {
	if kept, made := w.good[basis]; made {
		return kept, nil
	}
	runs, err := w.bent(ctx, judge.Runs{}, basis, kinds, func(*Scene) error { return nil })
	if err != nil {
		return runs, err
	}
	if w.good == nil {
		w.good = map[Basis]judge.Runs{}
	}
	w.good[basis] = runs
	return runs, nil
}

// bent replaces runs of a gate by bent ones.
func (w *World) bent(ctx context.Context, runs judge.Runs, basis Basis, sides []evidence.Kind, bend func(*Scene) error) (judge.Runs, error) {
	for _, kind := range sides {
		s, err := w.scene(kind, basis)
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
func (w *World) judge(runs judge.Runs, basis Basis) (*verdict.Findings, error) {
	var list []*verdict.Judgement
	if basis.words() {
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
	runs, err := w.Good(ctx, m.Basis)
	if err != nil {
		return nil, fmt.Errorf("a good gate: %w", err)
	}
	if m.Bend != nil {
		runs, err = w.bent(ctx, runs, m.Basis, m.Sides, m.Bend)
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
	found, err := w.judge(runs, m.Basis)
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
	runs, err := w.Good(ctx, v.Basis)
	if err == nil {
		runs, err = w.bent(ctx, runs, v.Basis, v.Sides, v.Bend)
	}
	if err != nil {
		return nil, err
	}
	found, err := w.judge(runs, v.Basis)
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
