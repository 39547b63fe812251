package session

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/measuretest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/power"
)

// TestMain lets more tests run side by side than there are processors: they wait for the programs that they start.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// said is what a run of whisper-cli prints, as far as a session reads it.
const said = `echo "whisper_init_state: Core ML model loaded" >&2
echo " some words"
echo "whisper_print_timings:   encode time =   120.00 ms /     1 runs (   120.00 ms per run)" >&2
echo "whisper_print_timings:   decode time =    50.00 ms /    10 runs (     5.00 ms per run)" >&2
sleep 0.2
`

// newPlan is a plan whose programs are scripts, one an arm.
func newPlan(t *testing.T, scripts ...string) *Plan {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	protocol, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{
		Protocol: protocol, Mode: measure.Burst, Lane: "emulated", Machine: environment.CaptureMachine("0123456789abcdef"), Control: "arm0", Language: "en", Threads: 1,
		Model: write("m.bin", "model"), Audio: write("a.wav", "audio"), Evaluator: write("evaluator", "#!/bin/sh\n"), Deadline: time.Minute, Progress: io.Discard, window: time.Millisecond, settle: time.Millisecond,
	}
	for i, script := range scripts {
		name := fmt.Sprintf("arm%d", i)
		encoder := filepath.Dir(write(name+".mlmodelc/model.mil", name))
		p.Sources = append(p.Sources, Source{
			Name: name, CLI: write(name, "#!/bin/sh\n"+script), Encoder: encoder,
			Program:  environment.Program{SHA256: measuretest.Digest("c"), Flavour: "coreml", BuildMode: "release"},
			Artifact: measure.Artifact{ModelSHA256: measuretest.Digest("d"), EncoderDigest: measuretest.Digest(fmt.Sprint(i)), Weights: "float32", Compute: "float32", Units: "all", Compression: []measure.Scheme{}},
		})
	}
	return p
}

func mustRun(t *testing.T, p *Plan) *measure.Submission {
	t.Helper()
	s, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := measure.Check(s); err != nil {
		t.Errorf("the session's own submission is refused: %v", err)
	}
	return s
}

// TestOrder holds which runs a session has, in which order: cold, discarded and warm by turns, then pairs whose order
// alternates.
func TestOrder(t *testing.T) {
	t.Parallel()
	p := newPlan(t, said, said)
	p.Pairs = 8
	s := mustRun(t, p)
	type place struct {
		kind measure.Kind
		arm  string
		pair int
	}
	got := make([]place, 26)
	for _, a := range s.Arms {
		for _, r := range a.Runs {
			got[r.Index] = place{r.Kind, a.Name, r.Pair}
		}
	}
	want := []place{{measure.Cold, "arm0", 0}, {measure.Cold, "arm1", 0}, {measure.WarmUp, "arm0", 0}, {measure.WarmUp, "arm1", 0}}
	for n := range 3 {
		want = append(want, place{measure.Warm, fmt.Sprintf("arm%d", n%2), 0}, place{measure.Warm, fmt.Sprintf("arm%d", 1-n%2), 0})
	}
	for n := range 8 {
		want = append(want, place{measure.Paired, fmt.Sprintf("arm%d", n%2), n + 1}, place{measure.Paired, fmt.Sprintf("arm%d", 1-n%2), n + 1})
	}
	if !slices.Equal(got, want) {
		t.Errorf("the session ran\n%v, want\n%v", got, want)
	}
	if s.Status != measure.Complete || s.Control != "arm0" {
		t.Errorf("status %s, control %s", s.Status, s.Control)
	}
	// Each run says when it began, and how warm the machine was before and after it.
	began := make([]float64, len(want))
	for _, a := range s.Arms {
		for _, r := range a.Runs {
			began[r.Index] = r.SecondsIn
			if r.Before.Thermal == "" || r.After.Thermal == "" {
				t.Errorf("run %d: heat %q before and %q after; expected a level or unknown", r.Index, r.Before.Thermal, r.After.Thermal)
			}
		}
	}
	if !slices.IsSorted(began) || began[0] < 0 || began[0] == began[len(began)-1] {
		t.Errorf("the runs began %v s into the session", began)
	}
	for _, r := range p.Protocol.Compare(s, "arm1", "arm0", measure.Encode).Reasons {
		if r.Code == reason.ComparisonPairs && strings.Contains(r.Expected, "alternates") {
			t.Errorf("the session's own pairs are not taken for interleaved: %v", r)
		}
	}
}

// TestRunRecord holds what a run leaves: times with counts, words by digest, memory at its three points, and both peaks.
func TestRunRecord(t *testing.T) {
	t.Parallel()
	p := newPlan(t, "x=$(head -c 20000000 /dev/zero | tr '\\0' a)\n"+said+"sleep 0.3\n")
	s := mustRun(t, p)
	for _, r := range s.Arms[0].Runs {
		m := r.Memory
		if r.Exit != "code 0" || r.Timings.Encode != (measure.Timing{MS: 120, Runs: 1}) || r.Timings.Decode.Runs != 10 || r.Words.Count != 2 {
			t.Errorf("run %d: %s, %+v, %+v", r.Index, r.Exit, r.Timings, r.Words)
		}
		if m.AtLoad == nil || m.AfterWords == nil || m.AtLoad.FootprintBytes == nil || m.BeforeLoad.AvailableBytes == nil || len(m.Series) == 0 {
			t.Errorf("run %d has no reading at a point: %+v", r.Index, m)
		}
		if m.PeakFootprintBytes == nil || *m.PeakFootprintBytes < 18<<20 || *m.PeakResidentBytes < *m.PeakFootprintBytes || m.ProgramPeakResidentBytes == nil || m.Overcommit == nil {
			t.Errorf("run %d: peaks %s and %s", r.Index, memory.ShowMaybe(m.PeakResidentBytes), memory.ShowMaybe(m.PeakFootprintBytes))
		}
		if want := map[bool]string{true: "dropped", false: "kept"}[r.Kind == measure.Cold]; r.PageCache != want {
			t.Errorf("run %d, %s: page cache %s", r.Index, r.Kind, r.PageCache)
		}
		if m.Recovery == "" || r.Before.At == "" || r.After.At == "" {
			t.Errorf("run %d has a hole: %+v", r.Index, r)
		}
	}
}

// TestWorld holds the program's environment and arguments: closed, with staged names, as they are in the submission.
func TestWorld(t *testing.T) {
	t.Setenv("GGML_BACKEND_PATH", "/evil.so")
	out := filepath.Join(t.TempDir(), "seen")
	p := newPlan(t, "env > "+out+"; echo \"$@\" >> "+out+"; ls >> "+out+"\n"+said)
	s := mustRun(t, p)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "evil") {
		t.Errorf("the program inherits:\n%s", data)
	}
	for _, want := range []string{"-m ggml-model.bin -f audio -l en -t 1 --no-timestamps", "ggml-model-encoder.mlmodelc", "COREML_GATE_EVALUATOR=/", "LC_ALL=C"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the program does not see %q:\n%s", want, data)
		}
	}
	if s.Work.Environment["HOME"] != "$STAGE/home" || s.Work.Environment["COREML_GATE_EVALUATOR"] != "$STAGE/gate_evaluator" {
		t.Errorf("the submission says %v", s.Work.Environment)
	}
}

// TestFailedRuns holds that runs which fail stay in the table and make no figure.
func TestFailedRuns(t *testing.T) {
	t.Parallel()
	for script, exit := range map[string]string{"exit 3": "code 3", "kill -9 $$": "signal 9", "kill -11 $$": "signal 11"} {
		s := mustRun(t, newPlan(t, script))
		if len(s.Arms[0].Runs) != 5 {
			t.Errorf("%s: %d runs are kept", script, len(s.Arms[0].Runs))
		}
		for _, r := range s.Arms[0].Runs {
			if r.Exit != exit || !slices.Contains(r.Excluded, reason.MeasuredRunFailed) {
				t.Errorf("%s: %s, excluded %v", script, r.Exit, r.Excluded)
			}
		}
	}
	p := newPlan(t, "exec sleep 600")
	p.Deadline = 200 * time.Millisecond
	if s := mustRun(t, p); s.Arms[0].Runs[0].Exit != "timeout" {
		t.Errorf("a run past its deadline ended with %s", s.Arms[0].Runs[0].Exit)
	}
}

// TestMemoryEmergency holds that a run is stopped as the memory ends, before the system would kill it, and says so.
func TestMemoryEmergency(t *testing.T) {
	real := available
	defer func() { available = real }()
	var reads atomic.Int64
	available = func() *int64 {
		left := int64(1) << 50
		if reads.Add(1) > 2 {
			left = 1
		}
		return &left
	}
	s := mustRun(t, newPlan(t, "exec sleep 600"))
	for _, r := range s.Arms[0].Runs {
		if r.Exit != "memory" || !slices.Contains(r.Excluded, reason.MeasuredRunFailed) {
			t.Errorf("run %d ended with %s, excluded for %v", r.Index, r.Exit, r.Excluded)
		}
	}
}

// TestFitRefusal holds that a model which cannot fit is refused before anything is staged.
func TestFitRefusal(t *testing.T) {
	t.Parallel()
	p := newPlan(t, said)
	var header []byte
	for _, v := range []uint32{0x67676d6c, 51864, 1500, 1 << 18, 1 << 12, 1 << 12, 448, 1 << 18, 1 << 12, 1 << 12, 80, 1} {
		header = binary.LittleEndian.AppendUint32(header, v)
	}
	if err := os.WriteFile(p.Model, header, 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, p, reason.FitExceeded)
}

// TestReports holds what public reports show of runs whose time is no figure though the program ended with 0, and of log lines that say
// nothing of how cold a run was. The submission stays readable.
func TestReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		failed bool
	}{
		// whisper.cpp#4011: audio that cannot be decoded, exit 0, and timing lines that count one encode.
		"audio that was not read": {`echo "whisper_init_state: Core ML model loaded" >&2
echo "error: failed to read audio file 'audio'" >&2
echo "whisper_print_timings:   encode time =     0.00 ms /     1 runs (     0.00 ms per run)" >&2
sleep 0.2`, true},
		// whisper.cpp#2405: a prediction that failed copies nothing, and the program ends well.
		"a silent prediction": {strings.Replace(said, `echo " some words"`, `echo " [BLANK_AUDIO]"`, 1), true},
		// whisper.cpp#865: a stub as the model.
		"a stub": {`echo "whisper_model_load: WARN no tensors loaded from model file - assuming empty model for testing" >&2; sleep 0.2`, true},
		// A build that falls back: ggml's encoder in place of the arm's.
		"another encoder": {strings.Replace(said, "Core ML model loaded", "failed to load Core ML model", 1), true},
		// whisper.cpp#2126: the line about a first run is printed in every run, and makes none of them cold.
		"a first run, every time": {`echo "whisper_init_state: first run on a device may take a while ..." >&2` + "\n" + said, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustRun(t, newPlan(t, c.script))
			kinds := []measure.Kind{}
			for _, r := range s.Arms[0].Runs {
				kinds = append(kinds, r.Kind)
				if got := slices.Contains(r.Excluded, reason.MeasuredRunFailed); got != c.failed {
					t.Errorf("run %d, %s: excluded for %v", r.Index, r.Exit, r.Excluded)
				}
			}
			if want := []measure.Kind{measure.Cold, measure.WarmUp, measure.Warm, measure.Warm, measure.Warm}; !slices.Equal(kinds, want) {
				t.Errorf("runs of kinds %v, want %v", kinds, want)
			}
		})
	}
}

// TestInterrupted holds that a session which is stopped keeps what it has, and that each run was saved when it ended.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlan(t, said+"test -f first || { touch first; exit 0; }; exec sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	saved := 0
	p.Save = func(s *measure.Submission) error {
		saved++
		if err := measure.Check(s); err != nil || s.Status != measure.Interrupted {
			t.Errorf("what was saved: %s, %v", s.Status, err)
		}
		time.AfterFunc(200*time.Millisecond, cancel)
		return nil
	}
	s, err := Run(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := measure.Check(s); err != nil {
		t.Error(err)
	}
	runs := s.Arms[0].Runs
	if s.Status != measure.Interrupted || len(runs) != 2 || saved != 2 || runs[0].Exit != "code 0" || runs[1].Exit != "interrupted" {
		t.Errorf("status %s, %d runs, %d saved", s.Status, len(runs), saved)
	}
}

// meter is an instrument that always reads the same.
type meter struct{ watts []float64 }

func (m *meter) Name() string { return "rapl" }
func (m *meter) Begin() (power.Window, error) {
	w := m.watts[0]
	if len(m.watts) > 1 {
		m.watts = m.watts[1:]
	}
	return &window{power.Reading{MeanWatts: w, Seconds: 2, Samples: 2}}, nil
}

// window is never marked.
type window struct{ all power.Reading }

func (*window) Mark()                                        {}
func (w *window) End() (power.Reading, power.Reading, error) { return w.all, power.Reading{}, nil }

// TestEnergy holds that power is beside every run with the idle baseline, and that without an instrument nothing starts.
func TestEnergy(t *testing.T) {
	t.Parallel()
	p := newPlan(t, said)
	p.Mode, p.Power = measure.Energy, &meter{[]float64{5, 20}}
	short := *p.Protocol
	short.EnergyTime = 0.01
	p.Protocol = &short
	s := mustRun(t, p)
	for _, r := range s.Arms[0].Runs {
		if r.Power == nil || r.Power.IdleWatts != 5 || r.Power.MeanWatts != 20 || r.Power.Inferences != 1 || !r.Power.WholeSystem || !r.Power.IncludesLoad || r.Power.AfterLoad != nil {
			t.Errorf("run %d: %+v", r.Index, r.Power)
		}
	}
	p.Power = nil
	refused(t, p, reason.EnergyUnmeasured)
}
