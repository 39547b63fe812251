package measure

import (
	"fmt"
	"math"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/specialised"
)

// Notes are what a reader of an entry should see beside its figures.
func (p *Protocol) Notes(e Entry) []reason.Reason {
	var out []reason.Reason
	where := e.Submission.Session + " " + e.Arm.Name
	if e.Submission.Lane == "physical" {
		out = append(out, reason.Reason{Code: reason.MemoryElsewhere, Where: where, Expected: "peaks of whisper-cli and what it starts", Found: "Core ML's own processes are in neither peak"})
	}
	if found := warmed(e); found != "" {
		out = append(out, reason.Reason{Code: reason.ColdUnsure, Where: where, Expected: "nothing that macOS had compiled for whisper-cli before the cold run", Found: found})
	}
	lost := 0
	for i := range e.Arm.Runs {
		if r := e.Arm.Runs[i].Memory.Recovery; r != memory.Recovered && r != memory.Unchanged {
			lost++
		}
	}
	if lost > 0 {
		out = append(out, reason.Reason{Code: reason.MemoryNotRecovered, Where: where, Expected: "memory back after every run", Found: fmt.Sprintf("%d of %d runs after which it was not, or nothing tells", lost, len(e.Arm.Runs))})
	}
	return out
}

// warmed says why a cold run of Core ML may have found what was compiled before, or "".
func warmed(e Entry) string {
	if e.Submission.Lane != "physical" || e.Arm.Program.Flavour == "ggml" {
		return ""
	}
	for i := range e.Arm.Runs {
		switch r := &e.Arm.Runs[i]; {
		case r.Kind != Cold || r.Specialised.Cold():
		case r.Specialised == nil || r.Specialised.Before.State != specialised.Found:
			return "what was kept could not be read"
		default:
			return fmt.Sprintf("%d models, %s", r.Specialised.Before.Entries, memory.Show(r.Specialised.Before.Bytes))
		}
	}
	return ""
}

// Standing says how much stands behind a figure: nothing, or less than the protocol asks for.
func (p *Protocol) Standing(c *Cell) []reason.Reason {
	expected := fmt.Sprintf("%d accepted submissions", p.Submissions)
	found := fmt.Sprintf("%d accepted, %d excluded", c.Accepted, c.Excluded)
	switch {
	case c.Accepted == 0:
		return []reason.Reason{{Code: reason.NothingAccepted, Where: c.Name, Expected: expected, Found: found}}
	case c.Provisional:
		return []reason.Reason{{Code: reason.MeasurementProvisional, Where: c.Name, Expected: expected, Found: found}}
	}
	return nil
}

// Energy says what an inference of an energy session took, with the load and after it, cold and warm apart; "" of any other session.
func (e Entry) Energy() string {
	var parts []string
	for _, k := range []Kind{Cold, Warm} {
		all, after := SpreadOf(values(e.Arm, k, Joules)), SpreadOf(values(e.Arm, k, JoulesAfterLoad))
		if all.N > 0 {
			parts = append(parts, fmt.Sprintf("%s %s with the load, %s after it", k, all.Show(2, "J"), after.Show(2, "J")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s, joules an inference: %s", e.Submission.Session, e.Arm.Name, strings.Join(parts, "; "))
}

// Line writes figures for people: encode and decode apart, with the two peaks beside them.
func Line(m map[Metric]Spread) string {
	return fmt.Sprintf("encode %s, decode %s, peak %s resident, %s footprint", m[Encode].Show(3, "s"), m[Decode].Show(1, "tokens/s"), m[Resident].MiB(), m[Footprint].MiB())
}

// Show writes a spread with so many decimals: the median, then the lowest to the highest.
func (s Spread) Show(decimals int, unit string) string {
	if s.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%.*f %s (%.*f to %.*f, n = %d)", decimals, s.Median, unit, decimals, s.Low, decimals, s.High, s.N)
}

// MiB writes a spread of bytes.
func (s Spread) MiB() string {
	if s.N == 0 {
		return "none"
	}
	return memory.Show(int64(math.Round(s.Median)))
}

// String writes a comparison: what it is, or why there is none.
func (c Comparison) String() string {
	switch {
	case c.Difference != "":
		return fmt.Sprintf("%s: %.3f (%.3f to %.3f) over %d pairs", map[string]string{"none": "no difference", "lower": "lower", "higher": "higher"}[c.Difference], c.Ratio.Median, c.Ratio.Low, c.Ratio.High, c.Ratio.N)
	case c.AllRatio.N > 0:
		return fmt.Sprintf("no comparison; the %d pairs that were measured, excluded ones among them, gave %.3f (%.3f to %.3f)", c.AllRatio.N, c.AllRatio.Median, c.AllRatio.Low, c.AllRatio.High)
	}
	return "no comparison"
}
