package measure

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

// Round is one pair of a race between two programs that are not encoders of a session: what each took, and which ran first.
type Round struct {
	Ours      float64 `json:"ours"`
	Theirs    float64 `json:"theirs"`
	OursFirst bool    `json:"ours_first"`
}

// Race is what a race leaves: the same protocol as a session's pairs, on programs that stay warm.
type Race struct {
	Schema   int                 `json:"schema"`
	Protocol ProtocolRef         `json:"protocol"`
	Name     string              `json:"name"`
	Machine  environment.Machine `json:"machine"`
	After    environment.State   `json:"after"`
	Rounds   []Round             `json:"rounds"`
	// Peaks are resident sets in bytes; a time is not given without them.
	OursPeakBytes   int64 `json:"ours_peak_bytes"`
	TheirsPeakBytes int64 `json:"theirs_peak_bytes"`
}

// CheckPairs refuses fewer pairs than make a comparison.
func (p *Protocol) CheckPairs(pairs int) error {
	if pairs < p.Pairs {
		return reason.Errorf(reason.ComparisonPairs, "pairs", fmt.Sprintf("at least %d", p.Pairs), "%d", pairs)
	}
	return nil
}

// JudgeRace says how ours compares: the spread of ours over theirs, and "none", "lower" or "higher". The filter is not held: what a race
// ran on stands in it, for who reads it.
func (p *Protocol) JudgeRace(r *Race) (Spread, string, error) {
	if err := p.CheckPairs(len(r.Rounds)); err != nil {
		return Spread{}, "", err
	}
	if r.OursPeakBytes <= 0 || r.TheirsPeakBytes <= 0 {
		return Spread{}, "", refuse(r.Name, "the peaks beside the times", "%d and %d bytes", r.OursPeakBytes, r.TheirsPeakBytes)
	}
	first := 0
	for i, round := range r.Rounds {
		if round.Ours <= 0 || round.Theirs <= 0 {
			return Spread{}, "", refuse(fmt.Sprintf("%s, round %d", r.Name, i), "times above zero", "%v and %v", round.Ours, round.Theirs)
		}
		if round.OursFirst {
			first++
		} else {
			first--
		}
	}
	if first < -1 || first > 1 {
		return Spread{}, "", reason.Errorf(reason.ComparisonPairs, r.Name, "sides that run first as often as the other", "ours %d times more often", first)
	}
	ratios := r.Ratios()
	return SpreadOf(ratios), p.differs(ratios), nil
}

// Ratios are ours over theirs, pair by pair.
func (r *Race) Ratios() []float64 {
	var out []float64
	for _, round := range r.Rounds {
		out = append(out, round.Ours/round.Theirs)
	}
	return out
}
