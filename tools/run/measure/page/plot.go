package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

const (
	width  = 640
	height = 220
	left   = 64
	bottom = 34
	right  = 12
	top    = 10
)

// point is one mark of a plot.
type point struct {
	x, y  float64
	class string
}

// plot draws marks and lines over linear axes that begin at zero.
type plot struct {
	strings.Builder
	maxX, maxY float64
}

func (p *plot) at(x, y float64) (float64, float64) {
	return left + x/p.maxX*(width-left-right), height - bottom - y/p.maxY*(height-bottom-top)
}

func newPlot(points []point) *plot {
	p := &plot{}
	for _, pt := range points {
		p.maxX, p.maxY = math.Max(p.maxX, pt.x), math.Max(p.maxY, pt.y)
	}
	p.maxX, p.maxY = nice(p.maxX), nice(p.maxY)
	return p
}

// nice rounds up to 1, 2 or 5 times a power of ten.
func nice(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5, 10} {
		if v <= f*base {
			return f * base
		}
	}
	return 10 * base
}

func (p *plot) axes(xLabel, yLabel string) {
	fmt.Fprintf(p, `<path class="axis" d="M%d %dV%dH%d"/>`, left, top, height-bottom, width-right)
	for _, share := range []float64{0, 0.5, 1} {
		_, y := p.at(0, share*p.maxY)
		fmt.Fprintf(p, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, left-6, y+4, label(share*p.maxY))
		x, _ := p.at(share*p.maxX, 0)
		fmt.Fprintf(p, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x, height-bottom+14, label(share*p.maxX))
	}
	fmt.Fprintf(p, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, (width+left)/2, height-4, html.EscapeString(xLabel))
	fmt.Fprintf(p, `<text x="%d" y="%d">%s</text>`, left+6, top+6, html.EscapeString(yLabel))
}

func label(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.4g", v), ".0") }

func (p *plot) marks(points []point) {
	for _, pt := range points {
		x, y := p.at(pt.x, pt.y)
		fmt.Fprintf(p, `<circle class="%s" cx="%.1f" cy="%.1f" r="4"/>`, pt.class, x, y)
	}
}

func (p *plot) line(class string, points []point) {
	fmt.Fprintf(p, `<polyline class="%s" points="`, class)
	for _, pt := range points {
		x, y := p.at(pt.x, pt.y)
		fmt.Fprintf(p, "%.1f,%.1f ", x, y)
	}
	p.WriteString(`"/>`)
}

func (p *plot) svg(title string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, width, height, html.EscapeString(title), p.String()))
}

// spread draws every run's encode time, arm by arm: cold and warm apart, what was excluded hollow.
func spread(subs []*measure.Submission) template.HTML {
	var points []point
	names := []string{}
	column := map[string]int{}
	for _, s := range subs {
		for i := range s.Arms {
			a := &s.Arms[i]
			if _, ok := column[a.Name]; !ok {
				column[a.Name] = len(names)
				names = append(names, a.Name)
			}
			for j := range a.Runs {
				r := &a.Runs[j]
				if !a.Worked(r) || r.Kind == measure.WarmUp {
					continue
				}
				class := "warm"
				offset := 0.6
				if r.Kind == measure.Cold {
					class, offset = "cold", 0.3
				}
				if len(r.Excluded) > 0 {
					class += " excluded"
				}
				points = append(points, point{float64(column[a.Name]) + offset, measure.Encode.Of(r), class})
			}
		}
	}
	p := newPlot(points)
	p.maxX = math.Max(1, float64(len(names)))
	fmt.Fprintf(p, `<path class="axis" d="M%d %dV%dH%d"/>`, left, top, height-bottom, width-right)
	for _, share := range []float64{0, 0.5, 1} {
		_, y := p.at(0, share*p.maxY)
		fmt.Fprintf(p, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, left-6, y+4, label(share*p.maxY))
	}
	for i, name := range names {
		x, _ := p.at(float64(i)+0.45, 0)
		fmt.Fprintf(p, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x, height-bottom+18, html.EscapeString(name))
	}
	fmt.Fprintf(p, `<text x="%d" y="%d">seconds an encode</text>`, left+6, top+6)
	p.marks(points)
	return p.svg("encode time of every run")
}

// curves draws an entry's memory over time, and a sustained session's rate.
func curves(p *measure.Protocol, e measure.Entry) []drawn {
	var out []drawn
	name := e.Submission.Session + " " + e.Arm.Name
	var rate []point
	for i := range e.Arm.Runs {
		if r := &e.Arm.Runs[i]; r.Kind == measure.Steady && e.Arm.Worked(r) {
			rate = append(rate, point{r.SecondsIn, 1 / measure.Encode.Of(r), "warm"})
		}
	}
	if len(rate) > 0 {
		plot := newPlot(rate)
		plot.axes("seconds into the session", "encodes a second")
		plot.line("curve", rate)
		title := fmt.Sprintf("Sustained, %s: %s", name, p.Retained(e.Arm))
		out = append(out, drawn{title, plot.svg(title)})
	}
	if r := longest(e.Arm); r != nil {
		resident, footprint := series(r)
		plot := newPlot(append(resident, footprint...))
		plot.axes("seconds since the start", "MiB: upper line resident set, lower line footprint")
		plot.line("curve", resident)
		plot.line("curve second", footprint)
		title := fmt.Sprintf("Memory over time, %s, run %d", name, r.Index)
		out = append(out, drawn{title, plot.svg(title)})
	}
	return out
}

// longest is the run with the most readings of memory.
func longest(a *measure.Arm) *measure.Run {
	var out *measure.Run
	for i := range a.Runs {
		if r := &a.Runs[i]; len(r.Memory.Series) > 1 && (out == nil || len(r.Memory.Series) > len(out.Memory.Series)) {
			out = r
		}
	}
	return out
}

func series(r *measure.Run) (resident, footprint []point) {
	for _, m := range r.Memory.Series {
		if m.ResidentBytes != nil && m.FootprintBytes != nil {
			resident = append(resident, point{m.Seconds, float64(*m.ResidentBytes) / memory.MiB, ""})
			footprint = append(footprint, point{m.Seconds, float64(*m.FootprintBytes) / memory.MiB, ""})
		}
	}
	return resident, footprint
}
