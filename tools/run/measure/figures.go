package measure

import (
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Spread is a median with the lowest and highest of what it is of.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
}

// SpreadOf is the spread of what is finite; N is 0 if nothing is.
func SpreadOf(values []float64) Spread {
	v := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if len(v) == 0 {
		return Spread{}
	}
	slices.Sort(v)
	median := v[len(v)/2]
	if len(v)%2 == 0 {
		median = (v[len(v)/2-1] + median) / 2
	}
	return Spread{median, v[0], v[len(v)-1], len(v)}
}

// Metric is one figure of a run.
type Metric string

// The metrics.
const (
	Encode    Metric = "encode_seconds"
	Decode    Metric = "decode_tokens_per_second"
	Wall      Metric = "wall_seconds"
	Resident  Metric = "peak_resident_bytes"
	Footprint Metric = "peak_footprint_bytes"
	Joules    Metric = "joules_per_inference"
	// JoulesAfterLoad are without what the load took.
	JoulesAfterLoad Metric = "joules_per_inference_after_load"
)

// Metrics are all of them, in the order of tables: never a time without its memory.
var Metrics = []Metric{Encode, Decode, Wall, Resident, Footprint}

// Of is a metric's value of a run; NaN where the run has none.
func (m Metric) Of(r *Run) float64 {
	switch m {
	case Encode:
		return r.Timings.Encode.each()
	case Decode:
		if n, seconds := r.Timings.Tokens(); n > 0 && seconds > 0 {
			return float64(n) / seconds
		}
	case Wall:
		return r.WallSeconds
	case Resident:
		return bytesOf(r.Memory.PeakResidentBytes)
	case Footprint:
		return bytesOf(r.Memory.PeakFootprintBytes)
	case Joules:
		if r.Power != nil && r.Power.Inferences > 0 {
			return r.Power.MeanWatts * r.Power.Seconds / float64(r.Power.Inferences)
		}
	case JoulesAfterLoad:
		if r.Power != nil && r.Power.Inferences > 0 && r.Power.AfterLoad != nil {
			return r.Power.AfterLoad.MeanWatts * r.Power.AfterLoad.Seconds / float64(r.Power.Inferences)
		}
	}
	return math.NaN()
}

func bytesOf(b *int64) float64 {
	if b == nil {
		return math.NaN()
	}
	return float64(*b)
}

// values are a metric's values of the runs of a kind that did their work.
func values(a *Arm, k Kind, m Metric) []float64 {
	var out []float64
	for i := range a.Runs {
		if r := &a.Runs[i]; r.Kind == k && a.Worked(r) {
			out = append(out, m.Of(r))
		}
	}
	return out
}

// Entry is one arm of one submission, with what it gave.
type Entry struct {
	Submission *Submission
	Arm        *Arm
	// Warm and Cold are never averaged into one.
	Warm, Cold map[Metric]Spread
	// Excluded are the reasons for which the entry makes no figure.
	Excluded []reason.Reason
}

// Cell is the figure of one artifact over its submissions.
type Cell struct {
	Name    string
	Entries []Entry
	// Accepted counts the entries that make the figure; the others are shown and counted.
	Accepted, Excluded int
	Provisional        bool
	Warm, Cold         map[Metric]Spread
}

// Cells are the figures over submissions of one protocol, an artifact and name each, in order of first appearance.
func (p *Protocol) Cells(subs []*Submission) []*Cell {
	var out []*Cell
	at := map[string]*Cell{}
	for _, s := range subs {
		for i := range s.Arms {
			a := &s.Arms[i]
			key := rowKey(s, a)
			c := at[key]
			if c == nil {
				c = &Cell{Name: a.Name}
				at[key] = c
				out = append(out, c)
			}
			c.Entries = append(c.Entries, p.entry(s, a))
		}
	}
	for _, c := range out {
		p.sum(c)
	}
	return out
}

// rowKey is what one figure is of: artifact, units, machine's kind and build of the system.
func rowKey(s *Submission, a *Arm) string {
	return a.Name + "\n" + a.Artifact.ModelSHA256 + a.Artifact.EncoderDigest + a.Artifact.Units + a.Program.Flavour + "\n" + s.Machine.Hardware + s.Machine.Chip + s.Machine.OSBuild
}

func (p *Protocol) entry(s *Submission, a *Arm) Entry {
	e := Entry{Submission: s, Arm: a, Warm: map[Metric]Spread{}, Cold: map[Metric]Spread{}, Excluded: p.excludedArm(s, a)}
	for _, m := range Metrics {
		e.Warm[m], e.Cold[m] = SpreadOf(values(a, Warm, m)), SpreadOf(values(a, Cold, m))
	}
	return e
}

// sum makes the figure: the median over the accepted entries of each one's warm median.
func (p *Protocol) sum(c *Cell) {
	c.Warm, c.Cold = map[Metric]Spread{}, map[Metric]Spread{}
	for _, m := range Metrics {
		var warm, cold []float64
		for _, e := range c.Entries {
			if len(e.Excluded) > 0 {
				continue
			}
			if e.Warm[m].N > 0 {
				warm = append(warm, e.Warm[m].Median)
			}
			if e.Cold[m].N > 0 {
				cold = append(cold, e.Cold[m].Median)
			}
		}
		c.Warm[m], c.Cold[m] = SpreadOf(warm), SpreadOf(cold)
	}
	for _, e := range c.Entries {
		if len(e.Excluded) == 0 {
			c.Accepted++
		} else {
			c.Excluded++
		}
	}
	c.Provisional = c.Accepted < p.Submissions
}
