// Package page shows submissions: as one HTML page that fetches nothing and runs nothing, and as a text. It has no opinion of its
// own; every figure is package measure's.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

//go:embed page.html.tmpl
var text string

//go:embed page.css
var style string

var parsed = template.Must(template.New("page").Parse(text))

// row is one artifact's figure.
type row struct {
	Name, Artifact, Machine              string
	N                                    string
	WarmEncode, ColdEncode, Decode, Wall string
	Resident, Footprint                  string
	// Excluded are figures of what the filter kept out, shown as what they are.
	Unfiltered string
}

type content struct {
	Protocol    measure.ProtocolRef
	Style       template.CSS
	Rows        []row
	Comparisons []string
	Exclusions  []string
	Notes       []string
	Implausible []string
	Drifts      []string
	Energy      []string
	Spread      template.HTML
	Curves      []drawn
	Sessions    []*measure.Submission
	Runs        []runRow
}

// drawn is a plot with its heading.
type drawn struct {
	Title string
	Plot  template.HTML
}

type runRow struct {
	Session, Arm, Kind, Exit, Encode, Tokens, Wall, Resident, Footprint, Thermal, Excluded string
	Index                                                                                  int
	SecondsIn                                                                              float64
}

// HTML writes the page.
func HTML(w io.Writer, p *measure.Protocol, subs []*measure.Submission) error {
	return parsed.Execute(w, gather(p, subs))
}

// gather draws all figures from the submissions.
func gather(p *measure.Protocol, subs []*measure.Submission) *content {
	c := &content{Protocol: p.Ref, Style: template.CSS(style), Sessions: subs}
	for _, cell := range p.Cells(subs) {
		c.Rows = append(c.Rows, rowOf(p, cell))
		c.Notes = append(c.Notes, lines(p.Standing(cell))...)
		for _, e := range cell.Entries {
			c.Exclusions = append(c.Exclusions, lines(e.Excluded)...)
			c.Notes = append(c.Notes, lines(p.Notes(e))...)
			c.Curves = append(c.Curves, curves(p, e)...)
			if line := e.Energy(); line != "" {
				c.Energy = append(c.Energy, line)
			}
		}
	}
	c.Spread = spread(subs)
	for _, s := range subs {
		c.Implausible = append(c.Implausible, lines(p.Implausible(s))...)
		if s.Drift != nil {
			c.Drifts = append(c.Drifts, fmt.Sprintf("%s: control arm %s took %.3f times what it took in session %s", s.Session, s.Control, s.Drift.Ratio, s.Drift.Session))
		}
		for i := 1; i < len(s.Arms); i++ {
			for _, m := range measure.Metrics {
				if x := p.Compare(s, s.Arms[i].Name, s.Arms[0].Name, m); x.AllRatio.N > 0 {
					c.Comparisons = append(c.Comparisons, fmt.Sprintf("%s, %s over %s: %s", m, x.Of, x.Than, x))
				}
			}
		}
		c.Runs = append(c.Runs, runRows(s)...)
	}
	return c
}

func lines(reasons []reason.Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, reason.Visible(r.String()))
	}
	return out
}

func rowOf(p *measure.Protocol, cell *measure.Cell) row {
	first := cell.Entries[0]
	r := row{
		Name: cell.Name, Artifact: Describe(first.Arm), Machine: fmt.Sprintf("%s, %s, %s", first.Submission.Machine.Hardware, first.Submission.Machine.Chip, first.Submission.Machine.OSBuild),
		N:          fmt.Sprintf("%d accepted, %d excluded", cell.Accepted, cell.Excluded),
		WarmEncode: cell.Warm[measure.Encode].Show(3, "s"), ColdEncode: cell.Cold[measure.Encode].Show(3, "s"),
		Decode: cell.Warm[measure.Decode].Show(1, "tokens/s"), Wall: cell.Warm[measure.Wall].Show(2, "s"),
		Resident: cell.Warm[measure.Resident].MiB(), Footprint: cell.Warm[measure.Footprint].MiB(),
	}
	if cell.Provisional {
		r.N += ", provisional"
	}
	if cell.Accepted == 0 {
		r.Unfiltered = fmt.Sprintf("%s; cold encode %s", measure.Line(first.Warm), first.Cold[measure.Encode].Show(3, "s"))
	}
	return r
}

// Describe says what an arm's artifact is: precision, and of each compression its scheme, bits and granularity.
func Describe(a *measure.Arm) string {
	out := []string{a.Artifact.Weights}
	for _, s := range a.Artifact.Compression {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d bits %s %s", s.Kind, s.Bits, s.Type, s.Granularity)))
	}
	if d := a.Artifact.EncoderDigest; d != "" {
		out = append(out, "encoder "+d[:12])
	}
	return strings.Join(out, ", ")
}

func runRows(s *measure.Submission) []runRow {
	var out []runRow
	for i := range s.Arms {
		a := &s.Arms[i]
		for j := range a.Runs {
			r := &a.Runs[j]
			n, seconds := r.Timings.Tokens()
			out = append(out, runRow{
				Session: s.Session, Arm: a.Name, Kind: string(r.Kind), Exit: r.Exit, Index: r.Index, SecondsIn: r.SecondsIn,
				Encode: fmt.Sprintf("%.3f s / %d", r.Timings.Encode.MS/1000, r.Timings.Encode.Runs), Tokens: fmt.Sprintf("%.3f s / %d", seconds, n),
				Wall: fmt.Sprintf("%.2f s", r.WallSeconds), Resident: memory.ShowMaybe(r.Memory.PeakResidentBytes), Footprint: memory.ShowMaybe(r.Memory.PeakFootprintBytes),
				Thermal: r.Before.Thermal + " → " + r.After.Thermal, Excluded: strings.Join(r.Excluded, ", "),
			})
		}
	}
	return out
}

// Text writes the table for a terminal.
func Text(w io.Writer, p *measure.Protocol, subs []*measure.Submission) error {
	c := gather(p, subs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tn\twarm encode\tcold encode\tdecode\tpeak resident\tpeak footprint\n", p.Ref.Name)
	for _, r := range c.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", reason.Visible(r.Name), r.N, r.WarmEncode, r.ColdEncode, r.Decode, r.Resident, r.Footprint)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range c.Rows {
		if r.Unfiltered != "" {
			fmt.Fprintf(w, "%s, excluded by the filter, no figure: %s\n", reason.Visible(r.Name), r.Unfiltered)
		}
	}
	for _, list := range [][]string{c.Comparisons, c.Energy, c.Drifts, c.Implausible, c.Exclusions, c.Notes} {
		for _, line := range list {
			fmt.Fprintln(w, reason.Visible(line))
		}
	}
	return nil
}
