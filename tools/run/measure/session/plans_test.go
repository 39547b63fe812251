package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

func refused(t *testing.T, p *Plan, code string) {
	t.Helper()
	_, err := Run(t.Context(), p)
	var r *reason.Error
	if !errors.As(err, &r) || r.Code != code {
		t.Errorf("%v, want %s", err, code)
	}
}

// TestRefusedPlans holds what is refused before anything starts.
func TestRefusedPlans(t *testing.T) {
	for _, pairs := range []int{1, 7} {
		p := newPlan(t, said, said)
		p.Pairs = pairs
		refused(t, p, reason.ComparisonPairs)
	}
	for _, change := range []func(*Plan){
		func(p *Plan) { p.Sources = nil }, func(p *Plan) { p.Control = "another" }, func(p *Plan) { p.Threads = 0 },
		func(p *Plan) { p.SustainedFor = time.Second }, func(p *Plan) { p.Mode, p.SustainedFor = measure.Sustained, 601*time.Second },
		func(p *Plan) { p.Mode, p.SustainedFor = measure.Sustained, -time.Second }, func(p *Plan) { p.Pairs = 8 }, func(p *Plan) { p.Sources[0].Name = "" },
	} {
		p := newPlan(t, said)
		change(p)
		refused(t, p, reason.MeasurementRefused)
	}
}

// TestThreads holds that a measurement never takes the last processor, and fewer on a machine that is hot or saves power.
func TestThreads(t *testing.T) {
	real := strain
	defer func() { strain = real }()
	for _, c := range []struct {
		threads, processors int
		thermal, lowPower   string
		refused             bool
	}{
		{7, 8, "nominal", "off", false}, {8, 8, "nominal", "off", true}, {1, 1, "unknown", "unknown", false}, {2, 2, "unknown", "unknown", true},
		{4, 8, "nominal", "on", false}, {5, 8, "nominal", "on", true}, {5, 8, "serious", "off", true}, {2, 8, "critical", "off", false}, {3, 8, "critical", "off", true},
		{1, 0, "unknown", "unknown", false}, {2, 0, "unknown", "unknown", true},
	} {
		strain = func() environment.Strain { return environment.Strain{Thermal: c.thermal, LowPower: c.lowPower} }
		p := newPlan(t, said)
		p.Threads, p.Machine.Cores.Logical = c.threads, c.processors
		err := p.Check()
		var r *reason.Error
		if errors.As(err, &r) != c.refused || c.refused && r.Code != reason.ThreadsExceed {
			t.Errorf("%+v: %v", c, err)
		}
	}
	p := newPlan(t, said)
	p.Threads = 512
	refused(t, p, reason.ThreadsExceed)
}

// TestSpecialised holds that a cold run on a Mac says what macOS kept of compiled models, and that clearing removes those of whisper-cli alone.
func TestSpecialised(t *testing.T) {
	t.Parallel()
	const cache = "Library/Caches/whisper-cli/com.apple.e5rt.e5bundlecache/25F80/"
	compiles := "mkdir -p \"$HOME/" + cache + "AAA\"; echo program >\"$HOME/" + cache + "AAA/model.e5\"\n" + said
	for _, clear := range []bool{false, true} {
		p := newPlan(t, compiles, said)
		p.Lane, p.Machine.OS, p.ClearSpecialised, p.homes = "physical", "macOS 26.5.1", clear, []string{t.TempDir()}
		p.Sources[1].Program.Flavour, p.Sources[1].Encoder, p.Sources[1].Artifact.EncoderDigest, p.Sources[1].Artifact.Units = "ggml", "", "", "cpu"
		mine, other := filepath.Join(p.homes[0], cache, "BBB"), filepath.Join(p.homes[0], strings.Replace(cache, "whisper-cli", "katago", 1), "CCC")
		for _, dir := range []string{mine, other} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := mustRun(t, p)
		for _, arm := range s.Arms {
			for _, r := range arm.Runs {
				if (r.Specialised != nil) != (r.Kind == measure.Cold && arm.Name == "arm0") {
					t.Errorf("clear %v, arm %s, %s run: %+v", clear, arm.Name, r.Kind, r.Specialised)
				}
			}
		}
		got := s.Arms[0].Runs[0].Specialised
		before, after := 1, 2
		if clear {
			before, after = 0, 1
		}
		if got == nil || got.Before.Entries != before || got.After.Entries != after || got.Cleared != clear || got.Cold() != clear {
			t.Errorf("clear %v: %+v", clear, got)
		}
		if _, err := os.Stat(mine); (err == nil) == clear {
			t.Errorf("clear %v: what was there before: %v", clear, err)
		}
		if _, err := os.Stat(other); err != nil {
			t.Errorf("clear %v: another program's: %v", clear, err)
		}
	}
	p := newPlan(t, said)
	p.ClearSpecialised = true
	refused(t, p, reason.MeasurementRefused)
}

// TestSustained holds that runs go on until the time is over, and that a shorter time than the protocol's is said to make no figure.
func TestSustained(t *testing.T) {
	t.Parallel()
	p := newPlan(t, said)
	p.Mode, p.SustainedFor = measure.Sustained, 1500*time.Millisecond
	var progress bytes.Buffer
	p.Progress = &progress
	s := mustRun(t, p)
	if !strings.Contains(progress.String(), "no sustained figure, which takes 600 s") {
		t.Errorf("a short session says of itself:\n%s", &progress)
	}
	if why := p.Protocol.Judge([]*measure.Submission{s}, measure.Lasting, "arm0", "arm0"); !slices.ContainsFunc(why, func(r reason.Reason) bool {
		return r.Code == reason.SustainedShort && strings.Contains(r.Found, "no sustained figure")
	}) {
		t.Errorf("the claim that it lasts gives %v", why)
	}
	var steady int
	for _, r := range s.Arms[0].Runs {
		if r.Kind == measure.Steady {
			steady++
		}
	}
	if steady < 2 || s.Arms[0].Runs[0].Kind != measure.Cold || s.Arms[0].Runs[1].Kind != measure.WarmUp {
		t.Errorf("%d runs in the sustained part", steady)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	p := newPlan(t, "echo 'cannot go on' >&2; exit 1")
	var b bytes.Buffer
	p.Progress = &b
	mustRun(t, p)
	if !strings.Contains(b.String(), "run 1 of 5, arm0 cold: code 1: cannot go on; excluded: ") {
		t.Errorf("progress:\n%s", &b)
	}
}

// TestDescribe reads this test program: its compiler's stamp, and a build mode from nothing but the compile actions.
func TestDescribe(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for text, want := range map[string]string{`["NDEBUG","X=1"]`: "release", `["X=1"]`: "debug", `["NDEBUG=1"]`: "release", `["XNDEBUG"]`: "debug", "": environment.Unknown} {
		path := ""
		if text != "" {
			path = filepath.Join(dir, "defines.json")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if p, err := Describe(self, path, "coreml"); err != nil || p.BuildMode != want || len(p.SHA256) != 64 || p.Compiler == "" {
			t.Errorf("%s: %+v, %v, want %s", text, p, err, want)
		}
	}
	if _, err := Describe(self, filepath.Join(dir, "absent"), "coreml"); err == nil {
		t.Error("definitions that are not there are no error")
	}
}
