package measure_test

import (
	"errors"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
)

func race(pairs int, ratio float64) *measure.Race {
	r := &measure.Race{Schema: 1, Name: "race", OursPeakBytes: 1, TheirsPeakBytes: 1}
	for i := range pairs {
		r.Rounds = append(r.Rounds, measure.Round{Ours: ratio * float64(i+1), Theirs: float64(i + 1), OursFirst: i%2 == 0})
	}
	return r
}

// TestRace holds that a race goes by the pairs' protocol: eight at least, sides by turns, and no difference below the floor.
func TestRace(t *testing.T) {
	p := protocol(t)
	for ratio, want := range map[float64]string{0.8: "lower", 0.96: "none", 1.04: "none", 1.3: "higher"} {
		if spread, difference, err := p.JudgeRace(race(8, ratio)); err != nil || difference != want || spread.N != 8 {
			t.Errorf("ratio %v: %+v, %s, %v, want %s", ratio, spread, difference, err, want)
		}
	}
	firstAlways := race(8, 0.5)
	for i := range firstAlways.Rounds {
		firstAlways.Rounds[i].OursFirst = true
	}
	noPeak := race(8, 0.5)
	noPeak.TheirsPeakBytes = 0
	for name, c := range map[string]struct {
		r    *measure.Race
		code string
	}{
		"one pair": {race(1, 0.5), reason.ComparisonPairs}, "seven": {race(7, 0.5), reason.ComparisonPairs}, "ours always first": {firstAlways, reason.ComparisonPairs},
		"a time without its memory": {noPeak, reason.MeasurementRefused}, "no time": {race(8, 0), reason.MeasurementRefused},
	} {
		_, _, err := p.JudgeRace(c.r)
		var refused *reason.Error
		if !errors.As(err, &refused) || refused.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}
