// Package trace reads what Instruments' Core ML template recorded of one run, as xctrace exports it.
//
//	xcrun xctrace record --template 'Core ML' --output run.trace --launch -- whisper-cli …
//	xcrun xctrace export --input run.trace --toc --output toc.xml
//	xcrun xctrace export --input run.trace --xpath '/trace-toc/run[@number="1"]/data/table[@schema="ane-hw-intervals"]' --output intervals.xml
//
// The table of contents says what was recorded: the device and its system, the program that was launched and how it ended, the
// template. The table ane-hw-intervals (ane-hw-intervals-internal in some versions) has one row for each interval in which the
// Neural Engine was busy: start and duration in nanoseconds, a label, a state.
//
// In an export, an element with an id may be repeated as an element with ref, also where the first lies within another row: a reader
// that skips these counts too few. The table covers the whole system and names no process, so an interval counts for an encoder only if its
// label names the encoder. An empty table refutes nothing, unless the same set-up shows intervals for a model that is known to
// use the Neural Engine.
//
// The format follows exports that others published (docs/placement.md cites them). This project's own CI has no Mac.
package trace

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Template is the template of Instruments that a recording must have been made with.
const Template = "Core ML"

// Tables of Neural Engine intervals, by the names that versions of Instruments give them.
var Tables = []string{"ane-hw-intervals", "ane-hw-intervals-internal"}

// Contents is the table of contents of a recording of one run.
type Contents struct {
	// Template of Instruments, e.g. "Core ML", and the version of Instruments.
	Template, Instruments string
	// Hardware is the device's model; OSVersion and OSBuild are those of its system, such as 26.5.1 and 25F80.
	Hardware, OSVersion, OSBuild string
	// Program that was recorded, and how it got there: launched or attached.
	Program, Type string
	// ExitStatus of the program; nil where the recording does not have it.
	ExitStatus *int
	// Tables that were recorded, by schema.
	Tables []string
}

var osVersion = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)*) \(([0-9A-Za-z]+)\)$`)

// ParseContents reads a table of contents. It must have exactly one run.
func ParseContents(data []byte) (*Contents, error) {
	c, err := parseContents(data)
	if err != nil {
		return nil, fmt.Errorf("xctrace table of contents: %w", err)
	}
	return c, nil
}

func parseContents(data []byte) (*Contents, error) {
	root, err := parse(data, "trace-toc", "", nil)
	if err != nil {
		return nil, err
	}
	var run *element
	for _, e := range root.children {
		if e.name != "run" {
			continue
		}
		if run != nil {
			return nil, fmt.Errorf("more than one run")
		}
		run = e
	}
	if run == nil {
		return nil, fmt.Errorf("no run")
	}
	device, process := run.at("info", "target", "device"), run.at("info", "target", "process")
	if device == nil || process == nil {
		return nil, fmt.Errorf("no device or no process among the targets")
	}
	c := &Contents{
		Template: run.textAt("info", "summary", "template-name"), Instruments: run.textAt("info", "summary", "instruments-version"),
		Hardware: device.attrs["model"], Program: process.attrs["name"], Type: process.attrs["type"],
	}
	if m := osVersion.FindStringSubmatch(device.attrs["os-version"]); m != nil {
		c.OSVersion, c.OSBuild = m[1], m[2]
	} else {
		return nil, fmt.Errorf("os-version %.40q, expected VERSION (BUILD)", device.attrs["os-version"])
	}
	if c.Template == "" || c.Program == "" || c.Type == "" {
		return nil, fmt.Errorf("template %q, program %q, type %q: expected all three", c.Template, c.Program, c.Type)
	}
	if text, ok := process.attrs["return-exit-status"]; ok {
		status, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("return-exit-status: %w", err)
		}
		c.ExitStatus = &status
	}
	if tables := run.child("data"); tables != nil {
		for _, t := range tables.children {
			if name := t.attrs["schema"]; t.name == "table" && name != "" && !slices.Contains(c.Tables, name) {
				c.Tables = append(c.Tables, name)
			}
		}
	}
	return c, nil
}

// Interval is one interval in which the Neural Engine was busy.
type Interval struct {
	// Start from the beginning of the recording, and Duration, in nanoseconds.
	Start, Duration int64
	// Label of the work, such as "Neural Engine Prediction" or "encoder_main__Op0_AneInference".
	Label string
	// State is "Active" or another word; "" where the table has no such column.
	State string
}

// value is what an element with an id stands for.
type value struct{ name, text, label string }

// table reads the rows of one export.
type table struct {
	schema    string
	columns   []string
	known     map[string]value
	intervals []Interval
}

// ParseIntervals reads an export of a table of Neural Engine intervals.
func ParseIntervals(data []byte) ([]Interval, error) {
	t := &table{known: map[string]value{}}
	if err := t.read(data); err != nil {
		return nil, fmt.Errorf("xctrace table of Neural Engine intervals: %w", err)
	}
	return t.intervals, nil
}

// read streams the nodes: a node has its schema, and rows; a node without a schema goes on with the one before.
func (t *table) read(data []byte) error {
	root, err := parse(data, "trace-query-result", "node", t.node)
	if err != nil {
		return err
	}
	if len(root.children) > 0 {
		return fmt.Errorf("element %.40q beside the nodes", root.children[0].name)
	}
	if t.schema == "" {
		return fmt.Errorf("no schema: that the table is missing is no sign of an idle Neural Engine")
	}
	return nil
}

func (t *table) node(node *element) error {
	here := map[string]bool{}
	for _, e := range node.children {
		switch e.name {
		case "schema":
			if err := t.header(e); err != nil {
				return err
			}
		case "row":
			if err := t.row(e, here); err != nil {
				return fmt.Errorf("row %d: %w", len(t.intervals)+1, err)
			}
		default:
			return fmt.Errorf("element %.40q in a node", e.name)
		}
	}
	return nil
}

func (t *table) header(e *element) error {
	name := e.attrs["name"]
	if !slices.Contains(Tables, name) || t.schema != "" && name != t.schema {
		return fmt.Errorf("schema %.40q, expected one of %q", name, Tables)
	}
	var columns []string
	for _, c := range e.children {
		if c.name == "col" {
			columns = append(columns, c.textAt("mnemonic"))
		}
	}
	for _, want := range []string{"start", "duration", "event-label"} {
		if !slices.Contains(columns, want) {
			return fmt.Errorf("schema %s has the columns %.200q, and none is %s", name, columns, want)
		}
	}
	if t.schema != "" && !slices.Equal(columns, t.columns) {
		return fmt.Errorf("schema %s is there twice, with other columns", name)
	}
	t.schema, t.columns = name, columns
	return nil
}

func (t *table) row(e *element, here map[string]bool) error {
	if len(t.intervals) >= maxRows {
		return fmt.Errorf("more than %d rows", maxRows)
	}
	if t.schema == "" || len(e.children) != len(t.columns) {
		return fmt.Errorf("%d values, expected one for each of the columns %.200q", len(e.children), t.columns)
	}
	at := map[string]value{}
	for i, c := range e.children {
		v, err := t.resolve(c, here)
		if err != nil {
			return err
		}
		at[t.columns[i]] = v
	}
	var out Interval
	for column, to := range map[string]*int64{"start": &out.Start, "duration": &out.Duration} {
		n, err := strconv.ParseInt(at[column].text, 10, 64)
		if err != nil || n < 0 || n > maxNanoseconds {
			return fmt.Errorf("%s %.40q, expected nanoseconds", column, at[column].text)
		}
		*to = n
	}
	out.Label, out.State = at["event-label"].label, at["state"].label
	t.intervals = append(t.intervals, out)
	return nil
}

// maxNanoseconds is a month.
const maxNanoseconds = 31 * 24 * 3600 * 1_000_000_000

// resolve reads a value, remembers what it and all within it define, and follows a reference.
func (t *table) resolve(e *element, here map[string]bool) (value, error) {
	if ref, ok := e.attrs["ref"]; ok {
		v, known := t.known[ref]
		if !known || v.name != e.name {
			return value{}, fmt.Errorf("%.40q refers to %.40q, which is none of its kind", e.name, ref)
		}
		return v, nil
	}
	v := value{e.name, e.text, e.attrs["fmt"]}
	for _, c := range e.children {
		inner, err := t.resolve(c, here)
		if err != nil {
			return value{}, err
		}
		if v.label == "" && c.name == "string" {
			v.label = inner.label
		}
	}
	if v.label == "" {
		v.label = v.text
	}
	if id, ok := e.attrs["id"]; ok {
		// Some versions number each node anew.
		if here[id] {
			return value{}, fmt.Errorf("the id %.40q is there twice", id)
		}
		here[id] = true
		t.known[id] = v
	}
	return v, nil
}

// Activity is what the intervals say about one encoder.
type Activity struct {
	// Intervals of the whole system, and Predictions: those that are a prediction of the encoder.
	Intervals, Predictions int
	// BusyNanoseconds is the time that the predictions cover, overlaps counted once.
	BusyNanoseconds int64
}

// prediction is how labels name a prediction, beside loading and compiling.
var prediction = regexp.MustCompile(`(?i)prediction|inference`)

// Of counts the predictions of an encoder, by the name of its folder without the extension: a label begins with it.
func Of(intervals []Interval, encoder string) Activity {
	a := Activity{Intervals: len(intervals)}
	var spans [][2]int64
	for _, i := range intervals {
		if i.State != "" && i.State != "Active" || !prediction.MatchString(i.Label) || !names(i.Label, encoder) {
			continue
		}
		a.Predictions++
		spans = append(spans, [2]int64{i.Start, i.Start + i.Duration})
	}
	slices.SortFunc(spans, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	end := int64(0)
	for _, s := range spans {
		if s[1] > end {
			a.BusyNanoseconds += s[1] - max(s[0], end)
			end = s[1]
		}
	}
	return a
}

// names says whether a label begins with the encoder's name, as a whole word.
func names(label, encoder string) bool {
	rest, ok := strings.CutPrefix(label, encoder)
	return ok && encoder != "" && (rest == "" || strings.ContainsAny(rest[:1], "_ :/-."))
}
