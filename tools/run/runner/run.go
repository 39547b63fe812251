package runner

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/processor"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/governor"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/pressure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/supervisor"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Result is what a run leaves. Stdout and Stderr are the raw streams: the caller may look at them
// but must not let them leave the action unless the fixture is public.
type Result struct {
	Evidence     *evidence.Evidence
	Observations *evidence.Observations
	Stdout       []byte
	Stderr       []byte
}

// Hear adds to the evidence of a run how its words differ from the reference words, and binds the observations to it
// again. compare is given the words on stdout and keeps none of them.
func (r *Result) Hear(compare func(stdout string) *evidence.Heard) error {
	r.Evidence.Heard = compare(string(r.Stdout))
	data, err := evidence.Encode(r.Evidence)
	if err != nil {
		return err
	}
	r.Observations.EvidenceSHA256 = evidence.SHA256(data)
	return nil
}

// Run does what the spec says, once. An error is a broken or forbidden input (a [*reason.Error]); how the
// program ended is never one.
func Run(ctx context.Context, s *Spec) (*Result, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := checkHost(s.Lane, runtime.GOOS, runtime.GOARCH); err != nil {
		return nil, err
	}
	identity, err := s.identity()
	if err != nil {
		return nil, err
	}
	if err := checkIdentity(s.Lane, identity, machineIdentity()); err != nil {
		return nil, err
	}
	if err := checkProcessor(identity, processor.Missing); err != nil {
		return nil, err
	}
	if err := s.checkThreads(); err != nil {
		return nil, err
	}
	if err := checkPlain(s.Pin); err != nil {
		return nil, fmt.Errorf("read pin: %w", err)
	}
	id, err := pin.ReadIdentity(s.Pin)
	if err != nil {
		return nil, err
	}
	sup, err := supervisor.Start()
	if err != nil {
		return nil, fmt.Errorf("make staging directory: %w", err)
	}
	defer sup.Close()
	defer os.RemoveAll(sup.Dir)
	st, err := stage(s, sup.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.checkStaged(st, identity); err != nil {
		return nil, err
	}
	fits, err := st.checkFit()
	if err != nil {
		return nil, err
	}
	r, err := s.execute(ctx, sup, st, identity, id)
	if err == nil {
		r.Observations.Fit = fits
	}
	return r, err
}

// checkHost refuses a physical run on a host that has no Core ML to run it.
func checkHost(lane evidence.Lane, goos, goarch string) error {
	if lane == evidence.LanePhysical && (goos != "darwin" || goarch != "arm64") {
		return reason.Errorf(reason.LaneMismatch, "lane", "macOS on arm64 for a physical run", "%s", goos+" on "+goarch)
	}
	return nil
}

// checkStaged compares what only the staged files can tell with the spec.
func (s *Spec) checkStaged(st *staging, identity map[string]string) error {
	if len(st.emulatedBy) > 0 && s.Lane == evidence.LanePhysical {
		return reason.Errorf(reason.LaneMismatch, "cli", "a whisper-cli linked with Apple's Core ML for a physical run", "%s", "one that holds the emulated lane's "+strings.Join(st.emulatedBy, " and "))
	}
	if named := identity["core_ml"]; s.Lane == evidence.LaneEmulated && slices.Contains(emulations, named) && len(st.emulatedBy) > 0 && !slices.Equal(st.emulatedBy, []string{named}) {
		return reason.Errorf(reason.LaneMismatch, "cli", "a whisper-cli that holds "+named+", which the lane's identity names", "%s", strings.Join(st.emulatedBy, " and "))
	}
	if st.multilingual() && s.Language == "" {
		return reason.Errorf(reason.LanguageMissing, "language", "a language, since the model is multilingual and would guess", "%s", "none")
	}
	if lang := s.language(); whispercpp.LacksLanguage(st.vocab, lang) {
		return reason.Errorf(reason.LanguageUnknown, "language", "one of the model's 99 languages", "%s, the hundredth, whose token is <translate> in a vocabulary of %d", lang, st.vocab)
	}
	if !st.multilingual() && s.language() != "en" {
		return reason.Errorf(reason.LanguageIgnored, "language", "en or none, since the model knows English only and ignores the rest", "%s", s.Language)
	}
	return nil
}

func (s *Spec) identity() (map[string]string, error) {
	out := map[string]string{}
	if s.LaneIdentityFile != "" {
		data, err := readPlain(s.LaneIdentityFile)
		if err != nil {
			return nil, fmt.Errorf("read lane identity: %w", err)
		}
		wrapped := struct {
			Identity map[string]string `json:"identity"`
		}{}
		if err := strictjson.Decode([]byte(`{"identity":`+string(data)+`}`), &wrapped); err != nil {
			return nil, fmt.Errorf("lane identity %s: expected one object of strings: %w", s.LaneIdentityFile, err)
		}
		maps.Copy(out, wrapped.Identity)
	}
	for k, v := range s.LaneIdentity {
		if other, ok := out[k]; ok && other != v {
			return nil, fmt.Errorf("lane identity: %s is %q in the file and %q in the spec: keep one", k, other, v)
		}
		out[k] = v
	}
	return out, nil
}

// environment is the program's whole environment.
func environment(s *Spec, st *staging) map[string]string {
	return evidence.Environment(st.path, s.HeapFill, s.Lane == evidence.LaneEmulated && s.Evaluator != "", s.fault())
}

// defines reads what the compile actions were given.
func (s *Spec) defines() ([]string, error) {
	if s.Defines == "" {
		return nil, nil
	}
	data, err := readPlain(s.Defines)
	if err != nil {
		return nil, fmt.Errorf("defines: %w", err)
	}
	var list []string
	if err := strictjson.Decode(data, &list); err != nil {
		return nil, fmt.Errorf("defines %s: %w", filepath.Base(s.Defines), err)
	}
	slices.Sort(list)
	return list, nil
}

func (s *Spec) fault() string {
	if s.Fault == "" {
		return "none"
	}
	return s.Fault
}

// execute starts the program and writes down what it did.
func (s *Spec) execute(ctx context.Context, sup *supervisor.Supervisor, st *staging, identity map[string]string, id *pin.Identity) (*Result, error) {
	env := environment(s, st)
	p := supervisor.Program{
		Path: st.path(stagedCLI), Argv: s.argv(st.audio), Dir: st.dir, Env: env,
		Deadline: time.Duration(s.DeadlineSeconds) * time.Second,
	}
	defines, err := s.defines()
	if err != nil {
		return nil, err
	}
	before := exists(st.path(stagedEncoder))
	attempts, err := s.claimAttempt(st)
	if err != nil {
		return nil, err
	}
	r, warmUps, err := s.measured(ctx, sup, st, p)
	if err != nil {
		return nil, err
	}
	out := r.out
	planted := ""
	if s.Kind != evidence.KindCoreML {
		planted = stagedEncoder
	}
	if err := st.checkUnchanged(planted); err != nil {
		return nil, err
	}
	e := s.evidence(st, p, out)
	e.LaneIdentity, e.Pin, e.Defines = identity, *id, defines
	e.EncoderPath.Before, e.Attempts, e.WarmUps, e.Exit = before, attempts, len(warmUps), r.exit
	data, err := evidence.Encode(e)
	if err != nil {
		return nil, err
	}
	o := &evidence.Observations{
		Schema: evidence.Schema, EvidenceSHA256: evidence.SHA256(data), StartedAt: r.at.UTC().Format(time.RFC3339),
		Host: hostFacts(sup.Inherited), WallSeconds: out.Wall.Seconds(), WarmUpSeconds: warmUps, PeakResidentBytes: out.PeakBytes,
		UserSeconds: out.User.Seconds(), SystemSeconds: out.System.Seconds(),
		RawStderrSHA256: evidence.SHA256(out.Stderr.Data), RawStdoutSHA256: evidence.SHA256(out.Stdout.Data),
		RawStderrBytes: out.Stderr.Total, RawStdoutBytes: out.Stdout.Total, Timings: whispercpp.TimedMilliseconds(out.Stderr.Data), Pressure: r.pressure,
	}
	return &Result{Evidence: e, Observations: o, Stdout: out.Stdout.Data, Stderr: out.Stderr.Data}, nil
}

// evidence is what the program left, in the form that is kept of it.
func (s *Spec) evidence(st *staging, p supervisor.Program, out *supervisor.Outcome) *evidence.Evidence {
	norm := evidence.Normaliser{Stage: spellings(st.dir)}
	env := map[string]string{}
	for k, v := range p.Env {
		env[k] = norm.Line(v)
	}
	e := &evidence.Evidence{
		Schema: evidence.Schema, Kind: s.Kind, Lane: s.Lane, Flavour: s.Flavour,
		Argv: p.Argv, Environment: env, Fault: s.fault(), Public: s.Public,
		Digests:     evidence.Digests{CLI: st.cli, Model: st.model, Encoder: st.encoder, Audio: st.audioSum, Evaluator: st.evaluator},
		EncoderPath: evidence.EncoderPath{Derived: stagedEncoder, After: exists(st.path(stagedEncoder))},
		Attempt:     s.Attempt, Normalisation: evidence.NormalisationVersion,
		Stderr: norm.Stream(out.Stderr.Data, out.Stderr.Truncated, s.Public, evidence.Recognise),
		Stdout: norm.Stream(out.Stdout.Data, out.Stdout.Truncated, s.Public, func(string) bool { return false }),
	}
	if !s.Public {
		heard := evidence.CountWords(string(out.Stdout.Data))
		e.Words = &heard
	}
	return e
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// spellings are the ways in which the system may print the staging directory, longest first.
func spellings(dir string) []string {
	out := []string{"/private" + dir, dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		out = append([]string{real}, out...)
	}
	return out
}

// start is one start of the program and how it ended.
type start struct {
	at   time.Time
	out  *supervisor.Outcome
	exit evidence.Exit
	// pressure is before and after.
	pressure []evidence.Pressure
}

// measured starts the program, after a warm-up where one is asked for, and returns the seconds that warm-ups took. A
// warm-up that does not end well is the run: to start again would hide it. A hot machine is not warmed up further.
func (s *Spec) measured(ctx context.Context, sup *supervisor.Supervisor, st *staging, p supervisor.Program) (*start, []float64, error) {
	warmUps := []float64{}
	if s.WarmUp && pressure.WarmUp(strain()) {
		own, err := supervisor.StartIn(st.dir)
		if err != nil {
			return nil, nil, err
		}
		defer own.Close()
		r, err := st.start(ctx, own, p)
		if err != nil || r.exit != (evidence.Exit{Kind: evidence.ExitCode}) {
			return r, warmUps, err
		}
		warmUps = append(warmUps, r.out.Wall.Seconds())
	}
	r, err := st.start(ctx, sup, p)
	return r, warmUps, err
}

// start starts the program once, under the governor.
func (st *staging) start(ctx context.Context, sup *supervisor.Supervisor, p supervisor.Program) (*start, error) {
	if sum, _, err := tree.HashFile(p.Path); err != nil || sum != st.cli {
		return nil, fmt.Errorf("whisper-cli changed between staging and start: staged %s, found %s (%v)", st.cli, sum, err)
	}
	memory := watchMemory()
	before := pressure.Now()
	g := governor.Watch(before.BudgetBytes, available)
	p.Stop = g.Stop
	at := time.Now()
	out, err := sup.Run(ctx, p)
	g.End()
	if err != nil {
		return nil, err
	}
	return &start{at: at, out: out, exit: exitOf(out, memory, g.Stopped()), pressure: []evidence.Pressure{pressed(before), pressed(pressure.Now())}}, nil
}

func hostFacts(inherited map[string]string) map[string]string {
	facts := map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH, "cores": fmt.Sprint(runtime.NumCPU()), "machine": MachineID()}
	if data, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		facts["kernel"] = strings.TrimSpace(string(data))
	}
	maps.Copy(facts, inherited)
	return facts
}

// MachineID tells this machine from others without telling which it is: the first 16 digits of a
// hash of its own name for itself, or "unknown".
func MachineID() string {
	name := strings.TrimSpace(machineName())
	if name == "" {
		return "unknown"
	}
	return evidence.SHA256([]byte("rules_coreml_gate machine\n" + name))[:16]
}
