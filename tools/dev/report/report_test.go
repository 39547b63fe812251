package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/schematest"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// sample is a measured report with each kind of cell.
func sample() *Report {
	r := &Report{
		Schema: Schema, Name: "speed", Origin: Measured, Command: "go run ./tools/dev/speed --size tiny", RecordedAt: "2026-12-01T00:00:00Z",
		Machine: &environment.Machine{ID: "0123456789abcdef", Chip: "Apple M4", Cores: environment.Cores{Logical: 10}, VirtualMachine: "no"},
		Before:  &environment.State{At: "2026-12-01T00:00:00Z", OurActions: []string{}}, After: &environment.State{At: "2026-12-01T00:00:00Z", OurActions: []string{}},
	}
	what := S([]float64{2, 1, 4})
	text := "no difference"
	what.Text = &text
	r.Tables = []Table{{Name: "rows", Columns: []Column{{Name: "step", Kind: Text}, {Name: "time", Kind: Number, Unit: "s", Decimals: 1}, {Name: "ratio", Kind: Number, Decimals: 2}},
		Rows: [][]Cell{{T("encode"), N(1.25), what}, {T("decode"), {}, S([]float64{3})}}}}
	return r
}

func copied() *Report {
	r := sample()
	r.Origin, r.RecordedAt, r.Conditions, r.Machine, r.Before, r.After = Copied, Unknown, "load 20 to 40", nil, nil, nil
	return r
}

func mustEncode(t *testing.T, r *Report) []byte {
	t.Helper()
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSchema(t *testing.T) {
	schematest.Check[Report](t, "report.schema.json", SchemaJSON, "tables that a tool of this repository or a peer stored", mustEncode(t, sample()), mustEncode(t, copied()))
}

func TestMarkdown(t *testing.T) {
	const want = "| step | time, s | ratio |\n|---|---:|---:|\n| encode | 1.2 | 2.00 (1.00 to 4.00, n = 3): no difference |\n| decode | | 3.00 (3.00 to 3.00, n = 1) |\n"
	for name, r := range map[string]*Report{"measured": sample(), "copied": copied()} {
		data := mustEncode(t, r)
		back, err := Decode(data)
		if err != nil || !bytes.Equal(mustEncode(t, back), data) {
			t.Fatalf("%s: read and written again: %v", name, err)
		}
		if got := back.Tables[0].Markdown(); got != want {
			t.Errorf("%s: found\n%swant\n%s", name, got, want)
		}
	}
}

// TestHandEdited holds that a cell, a date or an environment which somebody typed is seen.
func TestHandEdited(t *testing.T) {
	whole := string(mustEncode(t, sample()))
	for old, typed := range map[string]string{`"number":1.25`: `"number":1.05`, `"median":2`: `"median":1.5`, `"recorded_at":"2026`: `"recorded_at":"2027`, `"chip":"Apple M4"`: `"chip":"Apple M5"`, `"unit":"s"`: `"unit":"h"`} {
		edited := strings.Replace(whole, old, typed, 1)
		if edited == whole {
			t.Fatalf("%s is not in the sample", old)
		}
		if _, err := Decode([]byte(edited)); err == nil || !strings.Contains(err.Error(), "changed after it was written") {
			t.Errorf("%s: %v, want it seen", typed, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		want   string
		change func(*Report)
	}{
		"another schema":                   {"schema", func(r *Report) { r.Schema = 2 }},
		"no name":                          {"name", func(r *Report) { r.Name = "" }},
		"no command":                       {"makes the report again", func(r *Report) { r.Command = " " }},
		"a path of one machine":            {"absolute path", func(r *Report) { r.Command += " --dir=/tmp/x" }},
		"a home folder":                    {"absolute path", func(r *Report) { r.Command += " ~someone/x" }},
		"no machine":                       {"environment", func(r *Report) { r.Machine = nil }},
		"no state after":                   {"environment", func(r *Report) { r.After = nil }},
		"a measurement of an unknown date": {"recorded_at", func(r *Report) { r.RecordedAt = Unknown }},
		"a local date":                     {"recorded_at", func(r *Report) { r.RecordedAt = "2026-12-01T00:00:00+01:00" }},
		"an origin of another kind":        {"origin", func(r *Report) { r.Origin = "published" }},
		"a copy with an environment":       {"environment", func(r *Report) { r.Origin, r.Conditions = Copied, "busy" }},
		"a copy that says nothing of load": {"conditions", func(r *Report) { *r = *copied(); r.Conditions = "" }},
		"no table":                         {"tables", func(r *Report) { r.Tables = nil }},
		"a table twice":                    {"tables", func(r *Report) { r.Tables = append(r.Tables, r.Tables[0]) }},
		"no row":                           {"columns and rows", func(r *Report) { r.Tables[0].Rows = [][]Cell{} }},
		"a cell too few":                   {"cells", func(r *Report) { r.Tables[0].Rows[0] = r.Tables[0].Rows[0][:2] }},
		"a column twice":                   {"columns", func(r *Report) { r.Tables[0].Columns[1].Name = "ratio" }},
		"a unit of text":                   {"column", func(r *Report) { r.Tables[0].Columns[0].Unit = "s" }},
		"text among numbers":               {"expected a number", func(r *Report) { r.Tables[0].Rows[0][1] = T("1.2") }},
		"a number among text":              {"expected text", func(r *Report) { r.Tables[0].Rows[0][0] = N(1) }},
		"a cell that breaks the table":     {"one line", func(r *Report) { r.Tables[0].Rows[0][0] = T("a | b") }},
		"a spread of nothing":              {"at least one value", func(r *Report) { r.Tables[0].Rows[1][2] = S(nil) }},
		"a spread whose median is too high": {"low <= median", func(r *Report) {
			r.Tables[0].Rows[1][2] = Cell{Spread: &measure.Spread{Median: 3, Low: 1, High: 2, N: 2}}
		}},
		"two numbers in one": {"found two", func(r *Report) { r.Tables[0].Rows[1][2].Number = N(1).Number }},
	} {
		r := sample()
		c.change(r)
		if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a refusal of %q", name, err, c.want)
		}
	}
}

// TestWriter holds that a tool's table is printed as it is stored, with an environment that nobody typed.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	var out strings.Builder
	w, err := Begin(path, "speed", Command("go run ./tools/dev/speed", []string{"--report", path, "--size=tiny", "-dir=" + path, "--n", "2"}, "report", "dir"), &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin("rows", Column{Name: "step", Kind: Text}, Column{Name: "time", Kind: Number, Unit: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Row(T("encode"), N(3)); err != nil {
		t.Fatal(err)
	}
	if err := w.End(""); err != nil {
		t.Fatal(err)
	}
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Tables[0].Markdown() != out.String() || r.Command != "go run ./tools/dev/speed --size=tiny --n 2" || r.Machine.Cores.Logical < 1 || r.After.At == "" {
		t.Errorf("printed\n%s, stored %+v", out.String(), r)
	}
	if _, err := Begin(path, "speed", "go run ./speed /home/someone", &out); err == nil {
		t.Error("a command of one machine was taken, and would be refused only after the measurement")
	}
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("an empty report was read")
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range []*Report{sample(), copied()} {
		data, err := Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := Decode(data); err == nil && Check(r) != nil {
			t.Error("what was read is refused")
		}
	})
}
