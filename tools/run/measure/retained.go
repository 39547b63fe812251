package measure

import (
	"fmt"
	"math"
)

// Lasted is what a sustained session of an arm gave.
type Lasted struct {
	// Share is the encode rate of the last window over that of the first; NaN where there is none.
	Share float64
	// Seconds is from the beginning of the first run to the end of the last, and Running the share of it in which the program ran: between
	// two runs the machine's state is captured, which is a rest.
	Seconds, Running float64
	// Whole says that the session was as long as the protocol demands. Without that there is no sustained figure.
	Whole    bool
	demanded float64
}

// String writes the figure, or what it is in place of one.
func (l Lasted) String() string {
	if math.IsNaN(l.Share) {
		return "no sustained run"
	}
	text := fmt.Sprintf("%.0f %% retained over %.0f s, running %.0f %% of the time", 100*l.Share, l.Seconds, 100*l.Running)
	if !l.Whole {
		text += fmt.Sprintf(": no sustained figure, which takes %.0f s", l.demanded)
	}
	return text
}

// Retained is a sustained session's figure: the encode rate of its last window over that of its first. The windows of a session that is
// shorter than the protocol demands are as much shorter, so that they do not overlap.
func (p *Protocol) Retained(a *Arm) Lasted {
	out := Lasted{Share: math.NaN(), demanded: p.SustainedTime}
	var first, last []float64
	begin, end, ran := math.Inf(1), math.Inf(-1), 0.0
	for i := range a.Runs {
		if r := &a.Runs[i]; r.Kind == Steady {
			begin, end = math.Min(begin, r.SecondsIn), math.Max(end, r.SecondsIn+r.WallSeconds)
			ran += r.WallSeconds
		}
	}
	if end <= begin {
		return out
	}
	out.Seconds, out.Running = end-begin, ran/(end-begin)
	window := p.SustainedWindow * math.Min(1, out.Seconds/p.SustainedTime)
	for i := range a.Runs {
		r := &a.Runs[i]
		if r.Kind != Steady || !a.Worked(r) {
			continue
		}
		if r.SecondsIn < begin+window {
			first = append(first, 1/Encode.Of(r))
		}
		if r.SecondsIn+r.WallSeconds > end-window {
			last = append(last, 1/Encode.Of(r))
		}
	}
	f, l := SpreadOf(first), SpreadOf(last)
	if f.N == 0 || l.N == 0 || f.Median <= 0 {
		return out
	}
	out.Share, out.Whole = l.Median/f.Median, out.Seconds >= p.SustainedTime
	return out
}
