// Package power reads the Neural Engine's power from what powermetrics prints as text.
//
// powermetrics needs root, which no gate asks for: a person runs it beside a run and hands its output over,
//
//	sudo powermetrics --samplers ane_power -i 200 > power.txt
//
// Each sample begins with a line "*** Sampled system activity (DATE) (N ms elapsed) ***" and has at most one line
// "ANE Power: N mW" (or W). Its figures are estimates for the whole system ("Average power values reported by powermetrics are
// estimated and may be inaccurate", powermetrics(1)), so they corroborate a placement and decide none. Zero refutes nothing:
// some systems were seen to report zero while the Neural Engine was busy (tlkh/asitop#14, metaspartan/mactop#72).
package power

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// MaxBytes bounds an output.
const MaxBytes = 256 << 20

// Bounds of what is in it: a day at five samples a second.
const (
	maxLine    = 1 << 20
	maxSamples = 500_000
)

// maxWatts is more than a whole machine draws.
const maxWatts = 1000

// Reading is the Neural Engine's power over the samples of one output.
type Reading struct {
	// Samples of the output, and how many of them name the Neural Engine's power.
	Samples, Named int
	// NonZero samples have power above zero.
	NonZero int
	// Mean over the named samples, and the largest, in watts.
	MeanWatts, MaxWatts float64
}

var (
	sampleLine = regexp.MustCompile(`^\*\*\* Sampled system activity \(`)
	powerLine  = regexp.MustCompile(`^ANE Power: ([0-9]+(?:\.[0-9]+)?) (m?W)$`)
	// A line that speaks of this power in another form is no reading that can be skipped.
	speaksOf = regexp.MustCompile(`(?i)^\s*ANE\s+power\b`)
)

// Parse reads the text output of powermetrics. An output without a sample is an error.
func Parse(data []byte) (*Reading, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("powermetrics: %d bytes, expected at most %d", len(data), MaxBytes)
	}
	r := &Reading{}
	total, named := 0.0, false
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimRight(lines.Bytes(), " \t\r")
		m := powerLine.FindSubmatch(line)
		switch {
		case sampleLine.Match(line):
			if r.Samples++; r.Samples > maxSamples {
				return nil, fmt.Errorf("powermetrics: line %d: more than %d samples", n, maxSamples)
			}
			named = false
			continue
		case m == nil && speaksOf.Match(line):
			return nil, fmt.Errorf("powermetrics: line %d: %.80q, expected ANE Power: N mW", n, line)
		case m == nil:
			continue
		case r.Samples == 0:
			return nil, fmt.Errorf("powermetrics: line %d: power before the first sample", n)
		case named:
			return nil, fmt.Errorf("powermetrics: line %d: sample %d has a second ANE power", n, r.Samples)
		}
		watts, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return nil, fmt.Errorf("powermetrics: line %d: %w", n, err)
		}
		if string(m[2]) == "mW" {
			watts /= 1000
		}
		if watts > maxWatts {
			return nil, fmt.Errorf("powermetrics: line %d: %g W, expected at most %d", n, watts, maxWatts)
		}
		named = true
		r.Named++
		total += watts
		r.MaxWatts = math.Max(r.MaxWatts, watts)
		if watts > 0 {
			r.NonZero++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("powermetrics: %w", err)
	}
	if r.Samples == 0 {
		return nil, fmt.Errorf("powermetrics: no line %q: expected the text output of powermetrics", "*** Sampled system activity (…")
	}
	if r.Named > 0 {
		r.MeanWatts = total / float64(r.Named)
	}
	return r, nil
}

// String is the reading in a few words.
func (r *Reading) String() string {
	if r.Named == 0 {
		return fmt.Sprintf("no Neural Engine power in %d samples", r.Samples)
	}
	return fmt.Sprintf("Neural Engine power above zero in %d of %d samples, mean %.3f W, largest %.3f W", r.NonZero, r.Named, r.MeanWatts, r.MaxWatts)
}
