package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var styleText string

// named is a name and a value for a list.
type named struct{ Name, Value string }

// explained is a reason with what its code means.
type explained struct {
	reason.Reason
	Class     reason.Class
	Means, Do string
}

// run is one run as the page shows it.
type run struct {
	Kind    evidence.Kind
	What    string
	SHA256  string
	E       *evidence.Evidence
	O       *evidence.Observations
	Exit    string
	Markers []string
	Label   string
	Host    string
	Timings []named
}

// page is what the template reads.
type page struct {
	D       *Data
	P       *statement.Predicate
	Style   template.CSS
	Chain   template.HTML
	Plot    template.HTML
	Placed  placed
	Missing []string
	// Judgements are the receipt's, those that do not pass first.
	Judgements []*verdict.Judgement
	Runs       []run
	Words      []side
	Lane       []named
	Toolchain  []named
}

// HTML writes the page.
func (d *Data) HTML(w io.Writer) error {
	functions := template.FuncMap{
		"mark":      mark,
		"explain":   d.explain,
		"facts":     func(in map[string]any) []named { return slices.DeleteFunc(facts(in), isDigest) },
		"digests":   func(in map[string]any) []named { return slices.DeleteFunc(facts(in), isNoDigest) },
		"join":      func(list []string) string { return strings.Join(list, " ") },
		"yes":       func(b bool) string { return map[bool]string{true: "present", false: "absent"}[b] },
		"seconds":   func(s float64) string { return fmt.Sprintf("%.2f s", s) },
		"mebibytes": mebibytes,
		"db":        func(v float64) string { return fmt.Sprintf("%.2f dB", v) },
	}
	p := &d.Receipt.Predicate
	view := page{
		D: d, P: p, Style: template.CSS(styleText), Chain: chain(d), Plot: plot(d.Parity), Placed: d.placement(),
		Runs: d.runs(), Words: d.words(), Lane: sorted(p.LaneIdentity), Toolchain: sorted(p.Toolchain),
	}
	view.Judgements = slices.Clone(p.Judgements)
	slices.SortStableFunc(view.Judgements, func(a, b *verdict.Judgement) int {
		return cmp.Compare(severity(a.Verdict), severity(b.Verdict))
	})
	for _, name := range p.Required {
		if !slices.ContainsFunc(p.Judgements, func(j *verdict.Judgement) bool { return j.Name == name }) {
			view.Missing = append(view.Missing, name)
		}
	}
	return render(w, pageText, functions, view)
}

// render writes a page of a template.
func render(w io.Writer, text string, functions template.FuncMap, view any) error {
	t, err := template.New("page").Funcs(functions).Parse(text)
	if err != nil {
		return fmt.Errorf("report template: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if _, err := io.WriteString(w, clean(b.String())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// clean replaces what escaping leaves: characters that no document may hold or nobody sees, and halves of
// characters.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if reason.Hidden(r) && r != '\n' && r != '\t' {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

func mark(v reason.Verdict) string {
	switch v {
	case reason.Pass:
		return "✓"
	case reason.Failed:
		return "✗"
	}
	return "?"
}

// severity orders verdicts, the worst first.
func severity(v reason.Verdict) int {
	switch v {
	case reason.Failed:
		return 0
	case reason.Pass:
		return 2
	}
	return 1
}

func (d *Data) explain(r reason.Reason) explained {
	def, _ := d.Explain(r.Code)
	return explained{Reason: r, Class: def.Class, Means: def.Means, Do: def.Do}
}

// facts are a judgement's facts, one by one; lists and objects are left to the receipt itself.
func facts(in map[string]any) []named {
	var out []named
	for _, key := range slices.Sorted(maps.Keys(in)) {
		switch v := in[key].(type) {
		case string, bool, int, float64:
			text := fmt.Sprint(v)
			if text == "" {
				text = "none"
			}
			out = append(out, named{strings.ReplaceAll(key, "_", " "), text})
		}
	}
	return out
}

// isDigest says that a fact is a SHA-256, which nobody reads beside figures.
func isDigest(f named) bool {
	return len(f.Value) == 64 && strings.Trim(f.Value, "0123456789abcdef") == ""
}

func isNoDigest(f named) bool { return !isDigest(f) }

func sorted(in map[string]string) []named {
	var out []named
	for _, key := range slices.Sorted(maps.Keys(in)) {
		out = append(out, named{key, in[key]})
	}
	return out
}

func mebibytes(n int64) string {
	if n == 0 {
		return "not known"
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

var purposes = map[evidence.Kind]string{
	evidence.KindCoreML:   "with the encoder beside the model",
	evidence.KindCanary:   "the same program and model, without the encoder: it must refuse",
	evidence.KindContrast: "a build without Core ML: ggml's own encoder",
}

// runs are the receipt's runs, with what is known about each.
func (d *Data) runs() []run {
	var out []run
	for _, kind := range kinds {
		i := slices.IndexFunc(d.Receipt.Predicate.Evidence, func(ref statement.EvidenceRef) bool { return ref.Kind == kind })
		if i < 0 {
			continue
		}
		r := run{Kind: kind, What: purposes[kind], SHA256: d.Receipt.Predicate.Evidence[i].SHA256, E: d.Evidence[kind], O: d.Observations[kind]}
		if r.E != nil {
			r.Exit = judge.DescribeExit(r.E.Exit)
			for _, line := range r.E.Stderr.Lines {
				if l, ok := whispercpp.ReadLine(line); ok && l.Kind != whispercpp.LineLibrary && l.Kind != whispercpp.LineModelFact {
					r.Markers = append(r.Markers, line)
				}
			}
		}
		if r.O != nil {
			r.Label = d.label(r.O)
			r.Host = strings.Join(hostWords(r.O.Host), ", ")
			for _, key := range slices.Sorted(maps.Keys(r.O.Timings)) {
				r.Timings = append(r.Timings, named{key, fmt.Sprintf("%.2f ms", r.O.Timings[key])})
			}
		}
		out = append(out, r)
	}
	return out
}

// label says where figures come from: an action's result may be another machine's, from a cache.
func (d *Data) label(o *evidence.Observations) string {
	machine := o.Host["machine"]
	if machine == "" || machine == "unknown" || d.Machine == "" || d.Machine == "unknown" {
		return "measured on a machine that cannot be told from others"
	}
	if machine != d.Machine {
		return "measured elsewhere"
	}
	return "measured on this machine"
}

func hostWords(host map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(host)) {
		if key != "machine" {
			out = append(out, key+" "+host[key])
		}
	}
	return out
}
