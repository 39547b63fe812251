// Package power reads how much the machine draws: the whole of it, beside which there must be an idle baseline. On macOS the
// instrument is powermetrics, which needs root; on Linux the processor's energy counters (RAPL). Where there is neither,
// there is no figure, and a published one takes no one's place.
package power

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// Reading is the mean over a window.
type Reading struct {
	MeanWatts float64
	Seconds   float64
	Samples   int
}

// Instrument reads power over windows, one at a time.
type Instrument interface {
	// Name is what a submission calls it.
	Name() string
	// Begin starts a window.
	Begin() (Window, error)
}

// Window is a reading under way. Its methods are not called side by side.
type Window interface {
	// Mark begins a part of the window, which lasts as long as the window; the first mark counts.
	Mark()
	// End ends the window. after is the part since the mark, with no sample where there is none.
	End() (all, after Reading, err error)
}

// ErrNone says that the machine has no instrument.
var ErrNone = errors.New("no instrument for power: expected powermetrics, as root, or RAPL counters below /sys/class/powercap that this user may read")

var (
	combined = regexp.MustCompile(`(?m)^(?:Combined Power \(CPU \+ GPU \+ ANE\)|Package Power): ([0-9.]+) ?(mW|W)$`)
	elapsed  = regexp.MustCompile(`(?m)^\*+ Sampled system activity \(.*\) \(([0-9.]+)ms elapsed\) \*+$`)
)

// sample is one of powermetrics's.
type sample struct{ watts, seconds float64 }

// parsePowermetrics reads the samples of powermetrics, the combined power and how long each sample was. A sample without one of
// its two lines makes the whole unreadable.
func parsePowermetrics(text string) ([]sample, bool) {
	watts, times := combined.FindAllStringSubmatch(text, -1), elapsed.FindAllStringSubmatch(text, -1)
	if len(watts) == 0 || len(watts) != len(times) {
		return nil, false
	}
	var out []sample
	for i := range watts {
		w, err1 := strconv.ParseFloat(watts[i][1], 64)
		ms, err2 := strconv.ParseFloat(times[i][1], 64)
		if err1 != nil || err2 != nil || ms <= 0 {
			return nil, false
		}
		if watts[i][2] == "mW" {
			w /= 1000
		}
		out = append(out, sample{w, ms / 1000})
	}
	return out, true
}

// meanOf is the mean of samples, weighted by how long each was.
func meanOf(samples []sample) Reading {
	var joules, seconds float64
	for _, s := range samples {
		joules, seconds = joules+s.watts*s.seconds, seconds+s.seconds
	}
	if seconds <= 0 {
		return Reading{}
	}
	return Reading{joules / seconds, seconds, len(samples)}
}

// lastOf are the samples that lie whole within so many seconds before the end of the last one: one that began before is of both sides.
func lastOf(samples []sample, seconds float64) []sample {
	i := len(samples)
	for ; i > 0 && samples[i-1].seconds <= seconds; i-- {
		seconds -= samples[i-1].seconds
	}
	return samples[i:]
}

// counter is one RAPL counter in microjoules, which begins again from zero above limit.
type counter struct{ value, limit int64 }

// between is how many joules lie between two readings of the same counters.
func between(before, after []counter) (float64, bool) {
	if len(before) == 0 || len(before) != len(after) {
		return 0, false
	}
	var sum float64
	for i := range before {
		if after[i].limit != before[i].limit {
			return 0, false
		}
		d := after[i].value - before[i].value
		if d < 0 {
			d += before[i].limit
		}
		if d < 0 {
			return 0, false
		}
		sum += float64(d) / 1e6
	}
	return sum, true
}

func whole(text string) (int64, bool) {
	v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return v, err == nil && v >= 0
}
