package recordings

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// Pair is the evidence of a fixture's two runs.
type Pair struct {
	CoreML *evidence.Evidence
	GGML   *evidence.Evidence
}

// Outcome is what came of a spec: a comparison and a pair of runs for each fixture that was run, in the same order.
type Outcome struct {
	Report *transcript.Report
	Runs   []Pair
	// StoppedAtProbe says that the sides disagreed on the probe item, so that nothing else was run.
	StoppedAtProbe bool
}

// Run runs every fixture on both sides, each once: the probe item alone and first, the others as many at a time as the
// spec says. An error is a broken or forbidden input.
func Run(ctx context.Context, s *Spec) (*Outcome, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	sources, err := s.sources()
	if err != nil {
		return nil, err
	}
	out := &Outcome{Report: &transcript.Report{Schema: 1, Comparisons: []transcript.Comparison{}}}
	fixtures := s.probeFirst()
	if fixtures[0].Probe {
		if err := s.hear(ctx, out, fixtures[:1], sources); err != nil {
			return nil, err
		}
		if !transcript.Agree(out.Report.Comparisons[0]) {
			out.StoppedAtProbe = len(fixtures) > 1
			return out, nil
		}
		fixtures = fixtures[1:]
	}
	if err := s.hear(ctx, out, fixtures, sources); err != nil {
		return nil, err
	}
	return out, nil
}

// hear adds the fixtures to the outcome in their order, whichever ends first. After an error it starts no other.
func (s *Spec) hear(ctx context.Context, out *Outcome, fixtures []Fixture, sources *transcript.SourceFile) error {
	first := len(out.Runs)
	comparisons, pairs, errs := make([]transcript.Comparison, len(fixtures)), make([]Pair, len(fixtures)), make([]error, len(fixtures))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var next atomic.Int64
	var wait sync.WaitGroup
	for range max(1, min(s.SideBySide, len(fixtures))) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(fixtures); i = int(next.Add(1)) - 1 {
				if ctx.Err() != nil {
					errs[i] = fmt.Errorf("stopped before fixture %d of %d: %w", first+i+1, len(s.Fixtures), ctx.Err())
					return
				}
				var err error
				if comparisons[i], pairs[i], err = s.compare(ctx, fixtures[i], sources); err != nil {
					errs[i] = fmt.Errorf("fixture %d: %w", first+i+1, discreet(fixtures[i], err))
					stop()
				}
			}
		})
	}
	wait.Wait()
	// What was stopped by another's error is not a cause.
	for _, stopped := range []bool{false, true} {
		for _, err := range errs {
			if err != nil && errors.Is(err, context.Canceled) == stopped {
				return err
			}
		}
	}
	out.Report.Comparisons = append(out.Report.Comparisons, comparisons...)
	out.Runs = append(out.Runs, pairs...)
	return nil
}

// discreet takes the name of a private recording's file out of an error, which ends in a build's log.
func discreet(f Fixture, err error) error {
	if f.Public || !strings.Contains(err.Error(), filepath.Base(f.Audio)) {
		return err
	}
	text := strings.ReplaceAll(err.Error(), f.Audio, "its audio")
	return errors.New(strings.ReplaceAll(text, filepath.Base(f.Audio), "its audio"))
}

func (s *Spec) compare(ctx context.Context, f Fixture, sources *transcript.SourceFile) (transcript.Comparison, Pair, error) {
	fixture := transcript.Fixture{Name: f.Name, Public: f.Public, Language: f.language(), Silence: f.Silence, Probe: f.Probe, Human: f.Human}
	var pair Pair
	for _, side := range []struct {
		kind  evidence.Kind
		heard **transcript.Heard
		kept  **evidence.Evidence
	}{{evidence.KindContrast, &fixture.GGML, &pair.GGML}, {evidence.KindCoreML, &fixture.CoreML, &pair.CoreML}} {
		result, err := runner.Run(ctx, s.run(f, side.kind))
		if err != nil {
			return transcript.Comparison{}, Pair{}, err
		}
		if err := ctx.Err(); err != nil {
			return transcript.Comparison{}, Pair{}, fmt.Errorf("stopped in a %s run: %w", side.kind, err)
		}
		*side.kept = result.Evidence
		if *side.heard, err = HeardIn(result.Evidence, string(result.Stdout)); err != nil {
			return transcript.Comparison{}, Pair{}, err
		}
	}
	if sources != nil {
		fixture.Source = sources.Lookup(pair.CoreML.Digests.Audio, fixture.Language)
	}
	if fixture.Source != nil && fixture.Human == "" {
		fixture.Human = fixture.Source.Human
	}
	return transcript.Compare(fixture), pair, nil
}

// HeardIn is what a run heard: its evidence, and its standard output, which evidence may not hold.
func HeardIn(e *evidence.Evidence, stdout string) (*transcript.Heard, error) {
	if len(e.Argv) == 0 {
		return nil, fmt.Errorf("evidence of a %s run has no arguments", e.Kind)
	}
	decoding, err := whispercpp.ReadDecoding(e.Argv[1:])
	if err != nil {
		return nil, fmt.Errorf("arguments of a %s run: %w", e.Kind, err)
	}
	return &transcript.Heard{
		Text: stdout, StdoutSHA256: e.Stdout.SHA256,
		Sources:     strings.Join([]string{e.Pin.Commit, e.Pin.ManifestSHA256, e.Pin.Patch.SHA256, e.Pin.PatchedFile.SHA256}, " "),
		ModelSHA256: e.Digests.Model, AudioSHA256: e.Digests.Audio, Decoding: decoding,
		Processed: processed(e),
		Truncated: truncated(e),
	}, nil
}

// processed says whether audio went through the model to the end: upstream prints a line when it begins, and exits 0
// when it could not read the file.
func processed(e *evidence.Evidence) bool {
	kinds := map[whispercpp.LineKind]bool{}
	for _, line := range e.Stderr.Lines {
		if l, ok := whispercpp.ReadLine(line); ok {
			kinds[l.Kind] = true
		}
	}
	clean := !slices.ContainsFunc([]whispercpp.LineKind{whispercpp.LineAudioBad, whispercpp.LineProcessError}, func(k whispercpp.LineKind) bool { return kinds[k] })
	finished := e.Exit.Kind == evidence.ExitTimeout || e.Exit.Kind == evidence.ExitCode && e.Exit.Code == 0
	return kinds[whispercpp.LineProcessing] && clean && finished
}

// WindowTokens is how many tokens greedy decoding put out in a window, and of how many windows that is the mean, rounded down: of one
// it is the count itself, of several the longest has as many or more. Zero windows where the log counts none.
func WindowTokens(e *evidence.Evidence) (tokens, windows int) {
	runs := map[string]int{}
	for _, line := range e.Stderr.Lines {
		if stage, n, ok := whispercpp.TimedRuns(line); ok {
			runs[stage] = n
		}
	}
	if windows = runs[whispercpp.StageEncode]; windows < 1 {
		return 0, 0
	}
	return runs[whispercpp.StageDecode] / windows, windows
}

// truncated says whether a text was cut: by the runner's limit, by the deadline, or by the decoder in every window. (The
// log counts decoder runs over all windows, so that one cut window among others is not seen here; its loop is.)
func truncated(e *evidence.Evidence) bool {
	tokens, windows := WindowTokens(e)
	cut := windows > 0 && tokens >= whispercpp.WindowTokens-1
	return cut || e.Stdout.Truncated || e.Exit.Kind == evidence.ExitTimeout || e.Exit.Kind == evidence.ExitMemory
}
