// Package sanitize asks memory checkers about the negative control, of an unpatched whisper-cli and of a patched one.
//
// The fault is a free of pointers that were never written. Whether a run shows it depends on what the heap held, so
// each checker is asked under settings that say what it makes of fresh memory:
//
//   - address: AddressSanitizer with UndefinedBehaviorSanitizer. It sees the free of a pointer that malloc did not give.
//     It does not see that a pointer was never written, so it is blind while fresh memory happens to be zero.
//   - memory: MemorySanitizer. It follows every bit that was never written, whatever its value.
//   - valgrind: Memcheck, on the ordinary program. It does the same, by running every instruction itself.
//
// A report counts if its stack leads through whisper_free_state or whisper_batch_free. Reports from elsewhere
// are listed and judged not: the C++ library is not instrumented for MemorySanitizer, for one.
package sanitize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
)

// Valgrind runs a program some twenty times slower.
const deadline = 10 * time.Minute

// Pair is an unpatched whisper-cli and a patched one, built alike with Core ML and without fallback.
type Pair struct{ Unpatched, Patched string }

// Config is an experiment. Pairs that are nil are not asked.
type Config struct {
	Address, Memory, Plain *Pair
	// Valgrind is the program to run the plain pair under.
	Valgrind string
	// Model is a ggml model; Audio is a file that exists.
	Model, Audio string
}

// Setting is one way to ask a checker.
type Setting struct {
	// Tool is "address", "memory" or "valgrind".
	Tool string `json:"tool"`
	// Memory says what the checker makes of fresh memory.
	Memory string `json:"memory"`

	env  []string
	wrap []string
}

// Row is what one checker said of one program.
type Row struct {
	Setting
	// Arm is "unpatched" or "patched".
	Arm string `json:"arm"`
	// Outcome is as in [ab.Row.Outcomes].
	Outcome  string    `json:"outcome"`
	Findings []Finding `json:"findings"`
}

// Tripped says that the checker saw the fault.
func (r *Row) Tripped() bool {
	for _, f := range r.Findings {
		if f.Batch {
			return true
		}
	}
	return false
}

// Report is what an experiment found.
type Report struct {
	verdict.Findings
	Rows []Row
}

func settings(c Config) map[*Pair][]Setting {
	// Leaks are another question, and looking for them needs ptrace.
	const quiet = "ASAN_OPTIONS=detect_leaks=0:"
	out := map[*Pair][]Setting{}
	if c.Address != nil {
		out[c.Address] = []Setting{
			{Tool: "address", Memory: "as the checker has it", env: []string{quiet}},
			{Tool: "address", Memory: "as the system has it", env: []string{quiet + "max_malloc_fill_size=0"}},
			{Tool: "address", Memory: "filled", env: []string{quiet + "max_malloc_fill_size=1073741824"}},
		}
	}
	if c.Memory != nil {
		out[c.Memory] = []Setting{{Tool: "memory", Memory: "followed", env: []string{"MSAN_OPTIONS=halt_on_error=0:exitcode=0"}}}
	}
	if c.Plain != nil {
		memcheck := []string{c.Valgrind, "--quiet", "--error-limit=no", "--leak-check=no"}
		out[c.Plain] = []Setting{
			{Tool: "valgrind", Memory: "followed", wrap: memcheck},
			{Tool: "valgrind", Memory: "followed, filled", wrap: append(memcheck[:len(memcheck):len(memcheck)], "--malloc-fill=0xaa")},
		}
	}
	return out
}

// Run makes the experiment. An error means that it could not be made.
func Run(ctx context.Context, c Config) (*Report, error) {
	var rows []Row
	byPair := settings(c)
	for _, pair := range []*Pair{c.Address, c.Memory, c.Plain} {
		if pair == nil {
			continue
		}
		got, err := ask(ctx, pair, byPair[pair], c)
		if err != nil {
			return nil, err
		}
		rows = append(rows, got...)
	}
	if len(rows) == 0 {
		return nil, errors.New("no pair of programs: expected one for address, memory or plain at least")
	}
	return judge(rows), nil
}

func ask(ctx context.Context, pair *Pair, settings []Setting, c Config) ([]Row, error) {
	programs := map[string]string{"unpatched": pair.Unpatched, "patched": pair.Patched}
	dir, audio, err := ab.Stage(programs, c.Model, c.Audio)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var rows []Row
	for _, s := range settings {
		for _, arm := range []string{"unpatched", "patched"} {
			command := append(append([]string{}, s.wrap...), filepath.Join(dir, arm))
			outcome, stderr, err := ab.Refuse(ctx, deadline, dir, append(command, ab.Arguments(audio)...), s.env)
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{Setting: s, Arm: arm, Outcome: outcome, Findings: Parse(stderr)})
		}
	}
	return rows, nil
}

func judge(rows []Row) *Report {
	r := &Report{Findings: verdict.New(), Rows: rows}
	seen := false
	for i := range rows {
		row := &rows[i]
		where := fmt.Sprintf("%s, %s, memory %s", row.Arm, row.Tool, row.Memory)
		elsewhere := 0
		for _, f := range row.Findings {
			if !f.Batch {
				elsewhere++
			}
		}
		if elsewhere > 0 {
			r.Add(reason.SanitizerElsewhere, where, "none", fmt.Sprintf("%d reports", elsewhere))
		}
		unnamed := slices.ContainsFunc(row.Findings, func(f Finding) bool { return f.Unnamed })
		if unnamed && !row.Tripped() {
			r.Add(reason.SanitizerUnnamed, where, "stacks with names", "a stack without any")
		}
		switch {
		case row.Arm == "patched" && (row.Tripped() || row.Outcome != ab.Clean):
			r.Add(reason.SanitizerPatched, where, ab.Clean+" and no report of the batch", row.Outcome+"; "+row.said())
		case row.Arm == "unpatched" && row.Tripped():
			seen = true
		case row.Arm == "unpatched" && !unnamed:
			r.Add(reason.SanitizerBlind, where, "a report of the batch", row.Outcome+"; "+row.said())
		}
	}
	if !seen {
		r.Add(reason.SanitizerNothingSeen, "unpatched", "a report of the batch from one checker at least", "none")
	}
	return r
}

// said sums up the reports of the batch.
func (r *Row) said() string {
	var kinds []string
	for _, f := range r.Findings {
		if f.Batch && !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	if len(kinds) == 0 {
		return "nothing of the batch"
	}
	return strings.Join(kinds, "; ")
}

// Table writes the report for people.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "checker\tfresh memory\tarm\toutcome\treports of the batch\telsewhere")
	for i := range r.Rows {
		row := &r.Rows[i]
		elsewhere := 0
		for _, f := range row.Findings {
			if !f.Batch {
				elsewhere++
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\n", row.Tool, row.Memory, row.Arm, row.Outcome, row.said(), elsewhere)
	}
	return t.Flush()
}
