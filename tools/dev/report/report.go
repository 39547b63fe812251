// Package report is the one form in which tools of this repository and its peers store the tables that documents show: what was
// measured, the command that measured it, when, and in what environment. testdata/measurements holds them; tools/dev/figures
// draws them.
//
// A report is made by a program, as a submission is: its name is a digest of the rest, so that a cell which somebody typed is
// seen. Figures that documents had before there were reports are kept as reports of origin [Copied]: nothing is known of their
// environment but the words of the document, and no environment is made up for them.
package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// Schema is the version of the form.
const Schema = 1

// The origins of a report.
const (
	// Measured is written by the tool that measured, with the environment that it ran in.
	Measured = "measured"
	// Copied is what a document said before the tool could store a report.
	Copied = "copied"
)

// SchemaJSON is the JSON Schema of a report, for writers in other languages. It says less than [Check] does.
//
//go:embed report.schema.json
var SchemaJSON []byte

// Unknown is what a field says of which nothing is known.
const Unknown = environment.Unknown

// Report is one start of a tool that prints tables.
type Report struct {
	Schema int `json:"schema"`
	// ID is the beginning of the digest of everything else. It shows an edit; it is not a signature.
	ID string `json:"id"`
	// Name is the tool's or peer's.
	Name   string `json:"name"`
	Origin string `json:"origin"`
	// Command makes the report again.
	Command string `json:"command"`
	// RecordedAt is when the tool ended, RFC 3339 in UTC, or unknown for what was copied.
	RecordedAt string `json:"recorded_at"`
	// Conditions say of a copied report what its document says of the machine and its load; of a measured one, what the
	// environment does not show.
	Conditions string `json:"conditions"`
	// Machine, Before and After are the environment blob of coregate bench; null for what was copied.
	Machine *environment.Machine `json:"machine"`
	Before  *environment.State   `json:"before"`
	After   *environment.State   `json:"after"`
	Tables  []Table              `json:"tables"`
}

// Table is named columns and rows.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	Rows    [][]Cell `json:"rows"`
}

// Column says what its cells are: numbers in a unit, or text with none.
type Column struct {
	Name string `json:"name"`
	// Kind is text or number; a number may be a spread.
	Kind string `json:"kind"`
	Unit string `json:"unit"`
	// Decimals is how many digits after the point a table shows.
	Decimals int `json:"decimals"`
}

// The kinds of columns.
const (
	Text   = "text"
	Number = "number"
)

// Cell is a text, a number, a spread (with a text that says what it means, or none), or nothing.
type Cell struct {
	Text   *string         `json:"text,omitempty"`
	Number *float64        `json:"number,omitempty"`
	Spread *measure.Spread `json:"spread,omitempty"`
}

// T is a text.
func T(s string) Cell { return Cell{Text: &s} }

// N is a number. What is not finite is no number: the cell is empty.
func N(v float64) Cell {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Cell{}
	}
	// Six digits are more than any of these tools resolves.
	if v != 0 {
		scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
		v = math.Round(v*scale) / scale
	}
	return Cell{Number: &v}
}

// S is a spread.
func S(values []float64) Cell {
	s := measure.SpreadOf(values)
	for _, v := range []*float64{&s.Median, &s.Low, &s.High} {
		if n := N(*v).Number; n != nil {
			*v = *n
		}
	}
	return Cell{Spread: &s}
}

// Encode gives a report its name and returns its canonical bytes.
func Encode(r *Report) ([]byte, error) {
	id, err := digest(r)
	if err != nil {
		return nil, err
	}
	r.ID = id
	if err := Check(r); err != nil {
		return nil, err
	}
	return strictjson.Canonical(r)
}

func digest(r *Report) (string, error) {
	unnamed := *r
	unnamed.ID = ""
	data, err := strictjson.Canonical(&unnamed)
	if err != nil {
		return "", fmt.Errorf("report %s: %w", r.Name, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// Decode reads a report and checks it.
func Decode(data []byte) (*Report, error) {
	r := &Report{}
	if err := strictjson.DecodeCanonical(data, r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return r, Check(r)
}

var (
	name = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)
	// absolute is a path of one machine, or a home folder: it would not make the report again elsewhere.
	absolute = regexp.MustCompile(`(?:^|[\s=:,"'])[/~][A-Za-z0-9._-]`)
)

// CheckCommand refuses a command that only one machine understands.
func CheckCommand(command string) error {
	if strings.TrimSpace(command) == "" || absolute.MatchString(command) {
		return fmt.Errorf("command %q: expected one that makes the report again on any machine, without an absolute path", command)
	}
	return nil
}

// Check holds a report against its form.
func Check(r *Report) error {
	wrong := func(what, expected string, found any) error {
		return fmt.Errorf("report %s: %s: expected %s, found %v", r.Name, what, expected, found)
	}
	if r.Schema != Schema {
		return wrong("schema", fmt.Sprint(Schema), r.Schema)
	}
	if !name.MatchString(r.Name) {
		return wrong("name", "lower-case letters, digits, points and dashes", fmt.Sprintf("%q", r.Name))
	}
	if err := CheckCommand(r.Command); err != nil {
		return fmt.Errorf("report %s: %w", r.Name, err)
	}
	id, err := digest(r)
	if err != nil {
		return err
	}
	if id != r.ID {
		return wrong("id", "the digest of the rest, "+id, r.ID+": the file was changed after it was written")
	}
	at, timeErr := time.Parse(time.RFC3339, r.RecordedAt)
	dated := timeErr == nil && at.UTC().Format(time.RFC3339) == r.RecordedAt
	switch r.Origin {
	case Measured:
		if r.Machine == nil || r.Before == nil || r.After == nil {
			return wrong("environment", "machine, and its state before and after", "one of them missing")
		}
		if !dated {
			return wrong("recorded_at", "RFC 3339 in UTC", fmt.Sprintf("%q", r.RecordedAt))
		}
	case Copied:
		if r.Machine != nil || r.Before != nil || r.After != nil {
			return wrong("environment", "none for figures that were copied: nobody captured it", "one")
		}
		if r.Conditions == "" {
			return wrong("conditions", "what the document says of machine and load, or that it says nothing", "nothing")
		}
		if !dated && r.RecordedAt != Unknown {
			return wrong("recorded_at", "RFC 3339 in UTC, or unknown", fmt.Sprintf("%q", r.RecordedAt))
		}
	default:
		return wrong("origin", Measured+" or "+Copied, fmt.Sprintf("%q", r.Origin))
	}
	if len(r.Tables) == 0 {
		return wrong("tables", "at least one", "none")
	}
	seen := []string{}
	for i := range r.Tables {
		t := &r.Tables[i]
		if !name.MatchString(t.Name) || slices.Contains(seen, t.Name) {
			return wrong("tables", "a name of its own for each", fmt.Sprintf("%q", t.Name))
		}
		seen = append(seen, t.Name)
		if err := t.check(); err != nil {
			return fmt.Errorf("report %s: table %s: %w", r.Name, t.Name, err)
		}
	}
	return nil
}

func (t *Table) check() error {
	if len(t.Columns) == 0 || len(t.Rows) == 0 {
		return fmt.Errorf("expected columns and rows, found %d and %d", len(t.Columns), len(t.Rows))
	}
	names := []string{}
	for _, c := range t.Columns {
		if c.Name == "" || slices.Contains(names, c.Name) {
			return fmt.Errorf("columns: expected a name of its own for each, found %q", c.Name)
		}
		names = append(names, c.Name)
		if c.Kind != Text && c.Kind != Number || c.Kind == Text && (c.Unit != "" || c.Decimals != 0) || c.Decimals < 0 || c.Decimals > 9 {
			return fmt.Errorf("column %q: expected text, or number with at most 9 decimals, found %+v", c.Name, c)
		}
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d: expected %d cells, found %d", i, len(t.Columns), len(row))
		}
		for j, cell := range row {
			if err := cell.check(t.Columns[j]); err != nil {
				return fmt.Errorf("row %d, %s: %w", i, t.Columns[j].Name, err)
			}
		}
	}
	return nil
}

func (c Cell) check(col Column) error {
	isNumber := c.Number != nil || c.Spread != nil
	switch {
	case c.Number != nil && c.Spread != nil, c.Number != nil && c.Text != nil:
		return fmt.Errorf("expected one of text, number and spread, found two")
	case col.Kind == Text && isNumber:
		return fmt.Errorf("expected text, found a number")
	case col.Kind == Number && c.Text != nil && c.Spread == nil:
		return fmt.Errorf("expected a number, found %q", *c.Text)
	case c.Text != nil && strings.ContainsAny(*c.Text, "|\n\r"):
		return fmt.Errorf("expected one line without %q, found %q", "|", *c.Text)
	}
	if s := c.Spread; s != nil && (s.N < 1 || s.Low > s.Median || s.Median > s.High) {
		return fmt.Errorf("expected low <= median <= high of at least one value, found %+v", *s)
	}
	return nil
}

// Table returns a table by name.
func (r *Report) Table(name string) (*Table, error) {
	var names []string
	for i := range r.Tables {
		if r.Tables[i].Name == name {
			return &r.Tables[i], nil
		}
		names = append(names, r.Tables[i].Name)
	}
	return nil, fmt.Errorf("report %s has no table %q: expected one of %q", r.Name, name, names)
}
