package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
)

// drawing collects SVG elements. All text in it is escaped here.
type drawing struct{ strings.Builder }

func (s *drawing) box(x, y, w, h int, class, title, under string) {
	fmt.Fprintf(s, `<rect class="box %s" x="%d" y="%d" width="%d" height="%d" rx="6"/>`, class, x, y, w, h)
	fmt.Fprintf(s, `<text x="%d" y="%d" font-size="14" text-anchor="middle">%s</text>`, x+w/2, y+19, html.EscapeString(title))
	fmt.Fprintf(s, `<text class="mono" x="%d" y="%d" font-size="11" text-anchor="middle">%s</text>`, x+w/2, y+36, html.EscapeString(under))
}

func (s *drawing) arrow(x1, y1, x2, y2 int) {
	fmt.Fprintf(s, `<path class="arrow" d="M%d %dL%d %d"/><path class="head" d="M%d %dl-4 -7h8z"/>`, x1, y1, x2, y2-5, x2, y2)
}

func (s *drawing) svg(class, label string, w, h int) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, class, w, h, html.EscapeString(label), s.String()))
}

func short(sum string) string { return sum[:min(12, len(sum))] }

// class is the look of a verdict.
func class(v reason.Verdict) string {
	switch v {
	case reason.Pass:
		return "pass"
	case reason.Failed:
		return "fail"
	}
	return "other"
}

// chain draws the way from the pin to the receipt. It is narrow and tall, to be read on a phone.
func chain(d *Data) template.HTML {
	const width, half, third, height = 360, 172, 112, 46
	p := &d.Receipt.Predicate
	verdictOf := func(name string) string {
		i := slices.IndexFunc(p.Judgements, func(j *verdict.Judgement) bool { return j.Name == name })
		if i < 0 {
			return "other"
		}
		return class(p.Judgements[i].Verdict)
	}
	sums := map[string]string{}
	for _, r := range slices.Concat(d.Receipt.Subject, p.Materials) {
		sums[r.Name] = short(r.Digest["sha256"])
	}
	var s drawing
	s.box(0, 0, half, height, "", "pin "+p.Pin.Name, short(p.Pin.Commit))
	s.box(width-half, 0, half, height, "", "patch", short(p.Pin.Patch.SHA256))
	s.arrow(half/2, 46, half/2, 70)
	s.arrow(width-half/2, 46, width-half/2, 70)
	s.box(0, 70, width, height, verdictOf("sources"), "verified, patched sources", short(p.Pin.ManifestSHA256))
	s.arrow(width/2, 116, width/2, 140)
	s.box(0, 140, third, height, "", "model", sums[statement.SubjectModel])
	s.box(124, 140, third, height, verdictOf("binding"), "whisper-cli", sums[statement.SubjectCLI])
	s.box(248, 140, third, height, "", "encoder", sums[statement.SubjectEncoder])
	for i, run := range []struct {
		kind      evidence.Kind
		judgement string
	}{{evidence.KindCoreML, judge.Markers}, {evidence.KindCanary, judge.Canary}, {evidence.KindContrast, judge.Contrast}} {
		x := 124 * i
		s.arrow(x+third/2, 186, x+third/2, 210)
		sum := ""
		for _, e := range p.Evidence {
			if e.Kind == run.kind {
				sum = short(e.SHA256)
			}
		}
		s.box(x, 210, third, height, verdictOf(run.judgement), string(run.kind)+" run", sum)
		s.arrow(x+third/2, 256, x+third/2, 280)
	}
	s.box(0, 280, width, height, class(p.Verdict), fmt.Sprintf("%d judgements: %s", len(p.Judgements), p.Verdict), "policy "+policyNames(p))
	s.arrow(width/2, 326, width/2, 350)
	s.box(0, 350, width, height, class(p.Verdict), "receipt, lane "+string(p.Lane), short(d.SHA256))
	return s.svg("chain", "the chain from pin to receipt", width, 398)
}

func policyNames(p *statement.Predicate) string {
	var names []string
	for _, ref := range p.Policies {
		names = append(names, ref.Name)
	}
	return strings.Join(names, ", ")
}

// plot draws SNR over frames, or nothing without a measurement.
func plot(m *Parity) template.HTML {
	if m == nil || len(m.FrameSNR) == 0 {
		return ""
	}
	const width, height, left, bottom = 360, 200, 40, 20
	low, high := m.FrameSNR[0], m.FrameSNR[0]
	for _, v := range m.FrameSNR {
		low, high = math.Min(low, v), math.Max(high, v)
	}
	if m.Limit > 0 {
		low, high = math.Min(low, m.Limit), math.Max(high, m.Limit)
	}
	low, high = math.Floor(low/10)*10, math.Ceil(high/10)*10
	if high == low {
		high += 10
	}
	y := func(v float64) float64 { return (height - bottom) - (v-low)/(high-low)*(height-bottom-10) }
	x := func(i int) float64 {
		return left + float64(i)/math.Max(1, float64(len(m.FrameSNR)-1))*(width-left-5)
	}
	var s drawing
	fmt.Fprintf(&s, `<path class="axis" d="M%d 5V%dH%d" fill="none"/>`, left, height-bottom, width)
	for _, v := range []float64{low, high} {
		fmt.Fprintf(&s, `<text x="%d" y="%.1f" font-size="11" text-anchor="end">%.0f</text>`, left-4, y(v)+4, v)
	}
	fmt.Fprintf(&s, `<text x="%d" y="%d" font-size="11" text-anchor="end">frame %d</text>`, width, height-5, len(m.FrameSNR)-1)
	if m.Limit > 0 {
		fmt.Fprintf(&s, `<path class="limit" d="M%d %.1fH%d"/>`, left, y(m.Limit), width)
	}
	var points strings.Builder
	for i, v := range m.FrameSNR {
		fmt.Fprintf(&points, "%.1f,%.1f ", x(i), y(v))
	}
	fmt.Fprintf(&s, `<polyline class="curve" points="%s"/>`, strings.TrimSpace(points.String()))
	return s.svg("plot", "signal-to-noise ratio by frame", width, height)
}
