package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/runner"
)

// watched is over how long the machine is watched before and after.
const watched = 300 * time.Millisecond

// Writer collects what a tool measures, prints its tables as they grow, and writes the report at the end.
type Writer struct {
	r    *Report
	path string
	out  io.Writer
}

// Begin captures the environment. command makes the report again, see [Command]. Without a path nothing is captured and nothing is
// written: the tables are printed alone.
func Begin(path, name, command string, out io.Writer) (*Writer, error) {
	w := &Writer{r: &Report{Schema: Schema, Name: name, Origin: Measured, Command: command}, path: path, out: out}
	if path == "" {
		return w, nil
	}
	// What would be refused at the end is refused before anything is measured.
	if err := CheckCommand(command); err != nil {
		return nil, err
	}
	w.r.Machine, w.r.Before = Environment()
	return w, nil
}

// Environment is this machine and its state now.
func Environment() (*environment.Machine, *environment.State) {
	m, s := environment.CaptureMachine(runner.MachineID()), environment.Capture(".", watched)
	return &m, &s
}

// Command is how a tool was started, from its package and its arguments; a flag named in without is left out, with its value.
func Command(tool string, args []string, without ...string) string {
	words := []string{tool}
	for i := 0; i < len(args); i++ {
		flag, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		dropped := false
		for _, w := range without {
			dropped = dropped || strings.HasPrefix(args[i], "-") && flag == w
		}
		if !dropped {
			words = append(words, args[i])
		} else if !joined {
			i++
		}
	}
	return strings.Join(words, " ")
}

// Begin starts a table and prints its head.
func (w *Writer) Begin(name string, columns ...Column) error {
	prefix := ""
	if len(w.r.Tables) > 0 {
		prefix = "\n"
	}
	w.r.Tables = append(w.r.Tables, Table{Name: name, Columns: columns})
	_, err := io.WriteString(w.out, prefix+w.last().Head())
	return err
}

func (w *Writer) last() *Table { return &w.r.Tables[len(w.r.Tables)-1] }

// Row adds a row to the last table and prints it.
func (w *Writer) Row(cells ...Cell) error {
	t := w.last()
	t.Rows = append(t.Rows, cells)
	_, err := io.WriteString(w.out, t.Line(len(t.Rows)-1))
	return err
}

// End writes the report, if it has a path. conditions are what the environment does not show; "" for none.
func (w *Writer) End(conditions string) error {
	if w.path == "" {
		return nil
	}
	_, w.r.After = Environment()
	return Finish(w.r, conditions, w.path)
}

// Finish dates a report, checks it, and writes it where a path is given.
func Finish(r *Report, conditions, path string) error {
	r.RecordedAt, r.Conditions = time.Now().UTC().Format(time.RFC3339), conditions
	data, err := Encode(r)
	if err != nil || path == "" {
		return err
	}
	if err := wholefile.Bytes(path, data); err != nil {
		return fmt.Errorf("write report %s: %w", r.Name, err)
	}
	return nil
}

// Read reads a stored report.
func Read(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
