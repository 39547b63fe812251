package report

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
)

// AddPlacement adds the record of a compute plan, which must be the one that the receipt's judgement names.
func (d *Data) AddPlacement(data []byte) error {
	r, err := placement.ParseRecord(data)
	if err != nil {
		return err
	}
	if want := d.Receipt.Digest(statement.SubjectEncoder); r.EncoderDigest != want {
		return fmt.Errorf("placement: the plan is of encoder %s, but the receipt is about %s", r.EncoderDigest, want)
	}
	if r.Plan == nil || r.Plan.Result != computeplan.Observed {
		return fmt.Errorf("placement: the record has no compute plan to draw")
	}
	j := d.Receipt.Predicate.Judgement(statement.Placement)
	if j == nil {
		return fmt.Errorf("placement: the receipt has no judgement of that name")
	}
	canonical, err := r.Encode()
	if err != nil {
		return err
	}
	if sum := evidence.SHA256(canonical); j.Facts[placement.FactPlan] != sum {
		return fmt.Errorf("placement: the record is %s, but the receipt's judgement names %v", sum, j.Facts[placement.FactPlan])
	}
	d.Plan = r.Plan
	return nil
}

// placed is what the page shows of a placement.
type placed struct {
	// Bars are the shares of the devices, from the judgement's facts.
	Bars template.HTML
	// Operations is the picture of a plan, operation by operation, and Breaks lists where its chain is broken.
	Operations template.HTML
	Breaks     []breakRow
	// Instrument is the one that a pass names; Of names the framework whose plan it is where it is not Apple's.
	Instrument, Of string
}

// breakRow is one break of a chain, with layers as the model names them.
type breakRow struct{ After, Operations, Before string }

// placement collects what there is to show.
func (d *Data) placement() placed {
	var out placed
	j := d.Receipt.Predicate.Judgement(statement.Placement)
	if j == nil {
		return out
	}
	out.Bars = shares(j)
	out.Instrument, _ = j.Facts[verdict.FactInstrument].(string)
	if framework, ok := j.Facts[placement.FactFramework].(string); ok && framework != computeplan.FrameworkApple {
		out.Of = framework
	}
	if d.Plan == nil {
		return out
	}
	device := computeplan.NeuralEngine
	if demanded, ok := j.Facts[placement.FactDevice].(string); ok {
		device = computeplan.Device(demanded)
	}
	breaks := d.Plan.Breaks(device)
	out.Operations = operations(d.Plan, breaks)
	for _, b := range breaks {
		var names []string
		for _, o := range b.Operations {
			names = append(names, fmt.Sprintf("%s (%s) on %s", reason.Visible(o.Layer()), reason.Visible(o.Operator), o.Preferred.Title()))
		}
		out.Breaks = append(out.Breaks, breakRow{reason.Visible(b.After), strings.Join(names, ", "), reason.Visible(b.Before)})
	}
	return out
}

// deviceClass is how a device looks.
var deviceClass = map[computeplan.Device]string{computeplan.NeuralEngine: "ne", computeplan.GPU: "gpu", computeplan.CPU: "cpu", computeplan.Unknown: "other"}

// shares draws the share of each device, or nothing where a judgement has none.
func shares(j *verdict.Judgement) template.HTML {
	var s drawing
	y := 0
	for _, d := range computeplan.Devices {
		share, ok := verdict.Number(j.Facts["share_"+string(d)])
		if !ok || !(share >= 0 && share <= 1) || d == computeplan.Unknown && share == 0 {
			continue
		}
		fmt.Fprintf(&s, `<text x="0" y="%d" font-size="13">%s</text>`, y+15, d.Title())
		fmt.Fprintf(&s, `<rect class="device %s" x="110" y="%d" width="%.1f" height="14"/>`, deviceClass[d], y+4, share*190)
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" font-size="13">%.1f %%</text>`, 116+share*190, y+15, share*100)
		y += 26
	}
	if y == 0 {
		return ""
	}
	return s.svg("bars", "placement by device", 370, y)
}

// The picture of operations: a page wide, one cell an operation, in rows.
const (
	cell, cellGap = 12, 2
	cellsInRow    = 26
	pictureWidth  = cellsInRow * (cell + cellGap)
	maxDrawn      = 4000
	legendHeight  = 22
	rowHeight     = cell + 8
	breakMark     = 4
)

// operations draws the operations that have a device, in program order, each in the colour of its device and named when pointed
// at. A break of the chain is marked under its cells.
func operations(p *computeplan.Plan, breaks []computeplan.Break) template.HTML {
	broken := map[*computeplan.Operation]bool{}
	for _, b := range breaks {
		for _, o := range b.Operations {
			broken[o] = true
		}
	}
	all := p.Placed()
	drawn := all[:min(len(all), maxDrawn)]
	var s drawing
	x := 0
	for _, d := range computeplan.Devices {
		if !slices.ContainsFunc(all, func(o *computeplan.Operation) bool { return *o.Preferred == d }) {
			continue
		}
		fmt.Fprintf(&s, `<rect class="device %s" x="%d" y="2" width="%d" height="%d"/><text x="%d" y="13" font-size="12">%s</text>`, deviceClass[d], x, cell, cell, x+cell+4, d.Title())
		x += 110
	}
	for i, o := range drawn {
		x, y := i%cellsInRow*(cell+cellGap), legendHeight+i/cellsInRow*rowHeight
		weight := "no estimated cost"
		if o.Weight != nil {
			weight = fmt.Sprintf("%.2f %% of the estimated cost", 100**o.Weight)
		}
		fmt.Fprintf(&s, `<rect class="device %s" x="%d" y="%d" width="%d" height="%d"><title>%s: %s on %s, %s</title></rect>`, deviceClass[*o.Preferred], x, y, cell, cell,
			html.EscapeString(reason.Visible(o.Layer())), html.EscapeString(reason.Visible(o.Operator)), o.Preferred.Title(), weight)
		if broken[o] {
			fmt.Fprintf(&s, `<rect class="break" x="%d" y="%d" width="%d" height="%d"/>`, x, y+cell+1, cell, breakMark)
		}
	}
	height := legendHeight + (len(drawn)+cellsInRow-1)/cellsInRow*rowHeight
	if more := len(all) - len(drawn); more > 0 {
		fmt.Fprintf(&s, `<text x="0" y="%d" font-size="12">and %d more</text>`, height+12, more)
		height += 18
	}
	return s.svg("operations", "operations by device", pictureWidth, height)
}
