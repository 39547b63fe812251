// Package ab compares an unpatched whisper-cli with a patched one on the negative control.
//
// Each arm gets a model without an encoder beside it, again and again, interleaved with the other arm and
// under several settings of the heap. A run is clean if it exits exactly 3 and prints both the Core ML
// failure line and the final initialisation failure, each at the start of a line of standard error; the table
// counts how every other one ended. The fault that the patch is about is a signal after the load has failed, or no
// end at all. No run is repeated or left out; what counts is the table, with the interval in which each arm's true
// rate of clean exits lies (95 %, Wilson).
//
// This is an experiment about the patch. It is not the gate's canary, which runs once and is judged alone.
package ab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

const (
	deadline    = 2 * time.Minute
	maxStream   = 1 << 20
	maxAttempts = 100000
)

// Heap is a way to fill memory that malloc gives out.
type Heap struct {
	Name string   `json:"name"`
	Env  []string `json:"env"`
}

// Heaps are the settings of this system's allocator: as it is, filled so that stale pointers show, and
// (where the allocator can) zeroed, so that they hide.
func Heaps() []Heap {
	if runtime.GOOS == "darwin" {
		return []Heap{
			{"as is", []string{}},
			{"0xaa", []string{"MallocPreScribble=1", "MallocScribble=1"}},
		}
	}
	// glibc fills with the complement of what it is told: 85 gives 0xaa, 255 gives zeros.
	return []Heap{
		{"as is", []string{}},
		{"0xaa", []string{"MALLOC_PERTURB_=85"}},
		{"0x55", []string{"MALLOC_PERTURB_=170"}},
		{"zeros", []string{"MALLOC_PERTURB_=255"}},
	}
}

// Config is an experiment.
type Config struct {
	// Unpatched and Patched are paths of whisper-cli, built with Core ML and without fallback.
	Unpatched, Patched string
	// Model is a ggml model; Audio is a file that exists, since whisper-cli looks for it first.
	Model, Audio string
	// N is the number of runs of each arm under each heap.
	N int
	// Heaps are the settings to try; nil means [Heaps].
	Heaps []Heap
	// Progress, if there is one, is called after each run with how many of all are done.
	Progress func(done, total int)
}

// Row counts the outcomes of one arm under one heap.
type Row struct {
	// Arm is "unpatched" or "patched".
	Arm  string `json:"arm"`
	Heap string `json:"heap"`
	N    int    `json:"n"`
	// Clean counts runs that refused as they must; Low and High bound the true rate.
	Clean int     `json:"clean"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Outcomes counts every way in which runs ended, such as "exit 3" or "signal 6"; "exit 3, no context line" is no
	// clean one, and "signal 6, no load failure line" is another crash.
	Outcomes map[string]int `json:"outcomes"`
}

// Report is what an experiment found.
type Report struct {
	verdict.Findings
	// FaultShown says that at least one unpatched run was ended by a signal after the load had failed, or did not end.
	// Another end shows another program: one that falls back, has no Core ML, or does not start.
	FaultShown bool  `json:"fault_shown"`
	Rows       []Row `json:"rows"`
}

// Run makes the experiment. An error means that it could not be made; faults are in the report.
func Run(ctx context.Context, c Config) (*Report, error) {
	rows, err := runArms(ctx, c, map[string]string{"unpatched": c.Unpatched, "patched": c.Patched})
	if err != nil {
		return nil, err
	}
	return judge(rows), nil
}

// Control repeats the negative control of one unpatched whisper-cli, c.Unpatched, and returns its rows.
func Control(ctx context.Context, c Config) ([]Row, error) {
	return runArms(ctx, c, map[string]string{"unpatched": c.Unpatched})
}

// runArms stages the programs by name and runs each n times under each heap, in turn.
func runArms(ctx context.Context, c Config, programs map[string]string) ([]Row, error) {
	if c.N < 1 || c.N > maxAttempts {
		return nil, fmt.Errorf("n is %d, expected 1 to %d", c.N, maxAttempts)
	}
	heaps := c.Heaps
	if heaps == nil {
		heaps = Heaps()
	}
	dir, audio, err := Stage(programs, c.Model, c.Audio)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	arms := slices.Sorted(maps.Keys(programs))
	slices.Reverse(arms) // unpatched first
	var rows []Row
	for _, h := range heaps {
		for _, arm := range arms {
			rows = append(rows, Row{Arm: arm, Heap: h.Name, Outcomes: map[string]int{}})
		}
	}
	done := 0
	for i := range c.N {
		for h, heap := range heaps {
			order := rows[len(arms)*h : len(arms)*(h+1)]
			for j := range order {
				// Every second round goes the other way, so that neither arm is always the warm one.
				row := &order[(j+i)%len(order)]
				outcome, err := attempt(ctx, dir, row.Arm, audio, heap)
				if err != nil {
					return nil, err
				}
				row.N++
				row.Outcomes[outcome]++
				done++
				if c.Progress != nil {
					c.Progress(done, c.N*len(rows))
				}
			}
		}
	}
	for i := range rows {
		rows[i].Clean = rows[i].Outcomes[Clean]
		rows[i].Low, rows[i].High = Wilson(rows[i].Clean, rows[i].N)
	}
	return rows, nil
}

func judge(rows []Row) *Report {
	r := &Report{Findings: verdict.New(), Rows: rows}
	for i := range rows {
		row := &rows[i]
		switch {
		case row.Clean == row.N:
		case row.Arm == "unpatched":
			for outcome := range row.Outcomes {
				r.FaultShown = r.FaultShown || strings.HasPrefix(outcome, "signal ") && !strings.Contains(outcome, ",") || outcome == late
			}
		default:
			r.Add(reason.ABPatchedFault, "patched, heap "+row.Heap, fmt.Sprintf("%d clean refusals of %d", row.N, row.N), fmt.Sprintf("%d (%s)", row.Clean, said(row.Outcomes)))
		}
	}
	if !r.FaultShown {
		r.Add(reason.ABFaultNotShown, "unpatched", "a signal at least once", outcomes(rows, "unpatched"))
	}
	return r
}

// Stage copies programs, by the names that they get, a model and an audio file into a new folder: a negative control's
// world, which has no encoder. It returns the folder and the audio file's name in it.
func Stage(programs map[string]string, model, audio string) (dir, audioName string, err error) {
	if dir, err = os.MkdirTemp("", "ab"); err != nil {
		return "", "", fmt.Errorf("stage: %w", err)
	}
	audioName = "audio" + filepath.Ext(audio)
	staged := maps.Clone(programs)
	staged["ggml-model.bin"], staged[audioName] = model, audio
	for name, from := range staged {
		if err := stage(from, filepath.Join(dir, name)); err != nil {
			os.RemoveAll(dir)
			return "", "", err
		}
	}
	return dir, audioName, nil
}

func stage(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return fmt.Errorf("stage %s: %w", from, err)
	}
	return out.Close()
}

// Clean is the outcome of a refusal as it must be.
const Clean = "exit 3"

// late is the outcome of a run that did not end in time.
const late = "deadline passed"

// attempt runs one negative control and names its outcome.
func attempt(ctx context.Context, dir, arm, audio string, heap Heap) (string, error) {
	outcome, _, err := Refuse(ctx, deadline, dir, append([]string{filepath.Join(dir, arm)}, Arguments(audio)...), heap.Env)
	return outcome, err
}

// Arguments are those of a negative control on the staged model and an audio file of this name.
func Arguments(audio string) []string {
	return []string{"-m", "ggml-model.bin", "-f", audio, "-l", "en", "-t", "1"}
}

// Refuse runs one negative control, which is to refuse: command in dir with nothing but env around it. It names the
// outcome as [Row.Outcomes] does and returns what the command wrote on standard error, a megabyte at most.
func Refuse(ctx context.Context, limit time.Duration, dir string, command, env []string) (string, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"LC_ALL=C"}, env...)
	cmd.WaitDelay = time.Second
	stderr := &bounded{}
	cmd.Stderr = stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case limited.Err() != nil:
		return late, stderr.Bytes(), nil
	case err != nil && !errors.As(err, &exit):
		return "", nil, fmt.Errorf("run %s: %w", filepath.Base(command[0]), err)
	}
	return outcome(cmd.ProcessState, stderr.Bytes()), stderr.Bytes(), nil
}

// outcome names how a run ended, and which of the lines of a refusal it lacks: a crash that no load failure precedes is
// another than the one in question, such as that of a program whose libraries are not there.
func outcome(state *os.ProcessState, stderr []byte) string {
	code := state.ExitCode()
	name := fmt.Sprintf("exit %d", code)
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled():
		name = fmt.Sprintf("signal %d", status.Signal())
	case code == 134 || code == 139:
		// A shell's way to say that the program was ended by a signal.
		name = fmt.Sprintf("signal %d", code-128)
	}
	if !hasLine(stderr, whispercpp.LineLoadFailed) {
		name += ", no load failure line"
	}
	if code == whispercpp.ExitNoContext && !hasLine(stderr, whispercpp.LineContextError) {
		name += ", no context line"
	}
	return name
}

// hasLine says that a line of this kind stands in the log.
func hasLine(text []byte, kind whispercpp.LineKind) bool {
	for line := range bytes.Lines(text) {
		if l, ok := whispercpp.ReadLine(strings.TrimRight(string(line), "\r\n")); ok && l.Kind == kind {
			return true
		}
	}
	return false
}

// bounded keeps the first bytes of a stream and counts on.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxStream - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Table writes the report for people.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %-6s %11s  %-16s %s\n", "arm", "heap", "clean", "95 % interval", "outcomes")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "%-10s %-6s %5d/%-5d  %5.1f %% - %5.1f %%  %s\n",
			row.Arm, row.Heap, row.Clean, row.N, 100*row.Low, 100*row.High, said(row.Outcomes))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// said lists outcomes with their numbers.
func said(outcomes map[string]int) string {
	var out []string
	for name, n := range outcomes {
		out = append(out, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// outcomes are those of an arm under every heap.
func outcomes(rows []Row, arm string) string {
	all := map[string]int{}
	for i := range rows {
		for name, n := range rows[i].Outcomes {
			if rows[i].Arm == arm {
				all[name] += n
			}
		}
	}
	return said(all)
}
