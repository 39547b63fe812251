package measure

import (
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Comparison is two arms of one session, pair by pair.
type Comparison struct {
	Metric Metric
	Of     string
	Than   string
	// Ratio is Of over Than, over the pairs that passed the filter; AllRatio over all pairs that ended well. Only Ratio is a
	// comparison; AllRatio is shown as what it is.
	Ratio, AllRatio Spread
	// Difference is "none", "lower", "higher", or "" where there is no comparison.
	Difference string
	Reasons    []reason.Reason
}

// Compare compares two arms of a submission by a metric.
func (p *Protocol) Compare(s *Submission, of, than string, m Metric) Comparison {
	c := Comparison{Metric: m, Of: of, Than: than}
	a, b := s.arm(of), s.arm(than)
	if a == nil || b == nil {
		c.Reasons = append(c.Reasons, reason.Reason{Code: reason.ComparisonSessions, Where: s.Session, Expected: "both " + of + " and " + than + " in one session", Found: fmt.Sprint(s.names())})
		return c
	}
	x, y := pairsOf(a), pairsOf(b)
	var accepted, all []float64
	for n, r := range x {
		other := y[n]
		if other == nil || !a.Worked(r) || !b.Worked(other) {
			continue
		}
		ratio := m.Of(r) / m.Of(other)
		all = append(all, ratio)
		if p.PassesEnvironmentFilter(s.Machine, a.Program, r) && p.PassesEnvironmentFilter(s.Machine, b.Program, other) {
			accepted = append(accepted, ratio)
		}
	}
	c.Ratio, c.AllRatio = SpreadOf(accepted), SpreadOf(all)
	c.Reasons = append(c.Reasons, p.comparable(s, a, b, c, len(x))...)
	if len(c.Reasons) == 0 {
		c.Difference = p.differs(accepted)
	}
	return c
}

// comparable lists why there is no comparison.
func (p *Protocol) comparable(s *Submission, a, b *Arm, c Comparison, measured int) []reason.Reason {
	var out []reason.Reason
	where := fmt.Sprintf("%s %s : %s", s.Session, a.Name, b.Name)
	if s.Status != Complete {
		out = append(out, reason.Reason{Code: reason.MeasurementInterrupted, Where: where, Expected: string(Complete), Found: string(s.Status)})
	}
	for _, arm := range []*Arm{a, b} {
		if found := variation(arm); found != "" {
			out = append(out, reason.Reason{Code: reason.WorkVaries, Where: s.Session + " " + arm.Name, Expected: "every run of an arm to do the same", Found: found})
		}
	}
	if !interleaved(a, b) {
		out = append(out, reason.Reason{Code: reason.ComparisonPairs, Where: where, Expected: "pairs of neighbouring runs whose order alternates", Found: "runs in another order"})
	}
	if c.Ratio.N < p.Pairs {
		out = append(out, reason.Reason{Code: reason.ComparisonPairs, Where: where, Expected: fmt.Sprintf("%d pairs that pass the filter of %s", p.Pairs, p.Ref.Name), Found: fmt.Sprintf("%d of %d measured", c.Ratio.N, measured)})
	}
	return out
}

// differs says what ratios mean: "none" below the floor, or where chance alone would often enough put as many pairs on one
// side of equal.
func (p *Protocol) differs(ratios []float64) string {
	spread := SpreadOf(ratios)
	above := 0
	for _, r := range ratios {
		if r > 1 {
			above++
		}
	}
	switch {
	case spread.N == 0 || math.Abs(math.Log(spread.Median)) < math.Log(1+p.Difference) || signTest(above, len(ratios)) > p.SignTest:
		return "none"
	case spread.Median < 1:
		return "lower"
	}
	return "higher"
}

// signTest is how often fair coins would fall as unevenly as k of n, to either side.
func signTest(k, n int) float64 {
	k = min(k, n-k)
	sum, term := 0.0, math.Pow(0.5, float64(n))
	for i := 0; i <= k; i++ {
		sum += term
		term = term * float64(n-i) / float64(i+1)
	}
	return math.Min(1, 2*sum)
}

func (s *Submission) arm(name string) *Arm {
	for i := range s.Arms {
		if s.Arms[i].Name == name {
			return &s.Arms[i]
		}
	}
	return nil
}

func (s *Submission) names() []string {
	var out []string
	for i := range s.Arms {
		out = append(out, s.Arms[i].Name)
	}
	return out
}

func pairsOf(a *Arm) map[int]*Run {
	out := map[int]*Run{}
	for i := range a.Runs {
		if r := &a.Runs[i]; r.Kind == Paired && r.Pair > 0 {
			out[r.Pair] = r
		}
	}
	return out
}

// interleaved says whether the two sides of every pair ran in one round, and whether who ran first alternates: as often
// the one as the other, but for one.
func interleaved(a, b *Arm) bool {
	x, y := pairsOf(a), pairsOf(b)
	first := 0
	for n, r := range x {
		other := y[n]
		if other == nil {
			continue
		}
		for m, s := range x {
			// A run of another pair must not lie between the two of this one.
			if m != n && between(s.Index, r.Index, other.Index) {
				return false
			}
		}
		if r.Index < other.Index {
			first++
		} else {
			first--
		}
	}
	return first >= -1 && first <= 1
}

func between(x, a, b int) bool { return min(a, b) < x && x < max(a, b) }
