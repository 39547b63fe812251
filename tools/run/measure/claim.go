package measure

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Claim is what someone wants to say of an arm.
type Claim string

// The claims. Where the model ran is not among them: no time, no memory and no power tells that.
const (
	Faster    Claim = "faster"
	Smaller   Claim = "smaller"
	Efficient Claim = "efficient"
	Lasting   Claim = "sustained"
)

// Claims are all of them.
var Claims = []Claim{Faster, Smaller, Efficient, Lasting}

// Judge compares a claim about one arm and another with submissions: no reasons, or notes alone, is a claim that holds.
func (p *Protocol) Judge(subs []*Submission, claim Claim, of, than string) []reason.Reason {
	var out []reason.Reason
	for _, s := range subs {
		out = append(out, p.Implausible(s)...)
	}
	sessions := together(subs, of, than)
	if len(sessions) == 0 {
		return append(out, reason.Reason{Code: reason.ComparisonSessions, Where: of + " : " + than, Expected: "one session with both arms", Found: fmt.Sprintf("%d submissions, none with both", len(subs))})
	}
	// Every session that has both arms must carry the claim: whoever picks one of them picks its answer.
	for _, s := range sessions {
		for _, name := range []string{of, than} {
			if found := unlikeArms(sessions[0].arm(name), s.arm(name)); found != "" {
				return append(out, reason.Reason{Code: reason.NotMergeable, Where: s.Session + " " + name, Expected: "one name for one artifact and program", Found: found})
			}
		}
		out = append(out, p.judgeOne(s, claim, of, than)...)
	}
	return out
}

// judgeOne compares a claim with one session that has both arms.
func (p *Protocol) judgeOne(s *Submission, claim Claim, of, than string) []reason.Reason {
	switch claim {
	case Faster:
		return p.lower(s, of, than, Encode)
	case Smaller:
		// Either figure alone misleads: the one leaves mapped files out, the other has them.
		return append(p.lower(s, of, than, Resident), p.notHigher(s, of, than, Footprint)...)
	case Efficient:
		return p.efficient(s, of, than)
	case Lasting:
		return p.lasting(s, of)
	}
	return []reason.Reason{{Code: reason.MeasurementRefused, Where: string(claim), Expected: fmt.Sprintf("one of %v", Claims), Found: string(claim)}}
}

// together are the sessions that have both arms.
func together(subs []*Submission, of, than string) []*Submission {
	var out []*Submission
	for _, s := range subs {
		if s.arm(of) != nil && s.arm(than) != nil {
			out = append(out, s)
		}
	}
	return out
}

// lower demands that a metric is lower, beyond the floor.
func (p *Protocol) lower(s *Submission, of, than string, m Metric) []reason.Reason {
	c := p.Compare(s, of, than, m)
	if len(c.Reasons) > 0 {
		return c.Reasons
	}
	where := fmt.Sprintf("%s %s : %s, %s", s.Session, of, than, m)
	expected := fmt.Sprintf("a ratio below 1 by at least %.0f %%", 100*p.Difference)
	found := fmt.Sprintf("%.3f (%.3f to %.3f, %d pairs)", c.Ratio.Median, c.Ratio.Low, c.Ratio.High, c.Ratio.N)
	switch c.Difference {
	case "none":
		return []reason.Reason{{Code: reason.DifferenceNone, Where: where, Expected: expected, Found: found}}
	case "higher":
		return []reason.Reason{{Code: reason.ClaimContradicted, Where: where, Expected: expected, Found: found}}
	}
	return nil
}

// notHigher demands that a metric does not rise by more than the floor.
func (p *Protocol) notHigher(s *Submission, of, than string, m Metric) []reason.Reason {
	c := p.Compare(s, of, than, m)
	if len(c.Reasons) > 0 {
		return c.Reasons
	}
	if c.Difference == "higher" {
		return []reason.Reason{{Code: reason.ClaimContradicted, Where: fmt.Sprintf("%s %s : %s, %s", s.Session, of, than, m), Expected: "both peaks lower, or one of them equal",
			Found: fmt.Sprintf("%.3f (%.3f to %.3f, %d pairs)", c.Ratio.Median, c.Ratio.Low, c.Ratio.High, c.Ratio.N)}}
	}
	return nil
}

// efficient demands measured energy on both sides: joules, not watts.
func (p *Protocol) efficient(s *Submission, of, than string) []reason.Reason {
	var out []reason.Reason
	for _, name := range []string{of, than} {
		out = append(out, p.power(s, s.arm(name))...)
	}
	if len(out) > 0 {
		return out
	}
	return p.lower(s, of, than, Joules)
}

// instruments are those that read power beside the runs.
var instruments = map[string]bool{"powermetrics": true, "rapl": true}

// power lists what is wrong with an arm's power: readings beside every run, an idle baseline, and long enough in all.
func (p *Protocol) power(s *Submission, a *Arm) []reason.Reason {
	where := s.Session + " " + a.Name
	var seconds, joules, idle float64
	for i := range a.Runs {
		r := &a.Runs[i]
		w := r.Power
		switch {
		case r.Kind == WarmUp || r.Kind == Cold || !a.Worked(r):
			continue
		case w == nil:
			return []reason.Reason{{Code: reason.EnergyUnmeasured, Where: where, Expected: "readings beside every run", Found: fmt.Sprintf("none beside run %d", r.Index)}}
		case !instruments[w.Instrument]:
			return []reason.Reason{{Code: reason.EnergyPublished, Where: where, Expected: "power read by powermetrics or RAPL beside the runs", Found: fmt.Sprintf("%q", w.Instrument)}}
		case w.Samples < 2 || w.IdleWatts <= 0:
			return []reason.Reason{{Code: reason.EnergyUnmeasured, Where: where, Expected: "readings over each run, and an idle baseline", Found: fmt.Sprintf("%d readings, idle %.2f W", w.Samples, w.IdleWatts)}}
		}
		seconds, joules, idle = seconds+w.Seconds, joules+w.MeanWatts*w.Seconds, idle+w.IdleWatts*w.Seconds
	}
	switch {
	case seconds < p.EnergyTime:
		return []reason.Reason{{Code: reason.EnergyUnmeasured, Where: where, Expected: fmt.Sprintf("at least %.0f s of measured power (coregate bench --mode energy)", p.EnergyTime), Found: fmt.Sprintf("%.1f s", seconds)}}
	case joules <= idle:
		return []reason.Reason{{Code: reason.PowerZero, Where: where, Expected: fmt.Sprintf("more than the idle %.2f W", idle/seconds), Found: fmt.Sprintf("%.2f W", joules/seconds)}}
	}
	return nil
}

// lasting demands a whole sustained session.
func (p *Protocol) lasting(s *Submission, of string) []reason.Reason {
	a := s.arm(of)
	if out := p.Short(s, a); len(out) > 0 {
		return out
	}
	return p.excludedArm(s, a)
}

// Short says why an arm of a session has no sustained figure, whatever the filter says: another mode, or too little time.
func (p *Protocol) Short(s *Submission, a *Arm) []reason.Reason {
	if l := p.Retained(a); s.Mode != Sustained || !l.Whole {
		return []reason.Reason{{Code: reason.SustainedShort, Where: s.Session + " " + a.Name, Expected: fmt.Sprintf("a sustained session of %.0f s", p.SustainedTime), Found: fmt.Sprintf("a session of mode %s: %s", s.Mode, l)}}
	}
	return nil
}

// Implausible lists the runs whose rate exceeds the machine's peak.
func (p *Protocol) Implausible(s *Submission) []reason.Reason {
	var out []reason.Reason
	for i := range s.Arms {
		out = append(out, implausible(s, &s.Arms[i])...)
	}
	return out
}
