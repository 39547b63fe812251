package power

import (
	"math"
	"os"
	"testing"
)

// TestPowermetrics reads what a Mac printed: the mean over two samples of nearly a second each.
func TestPowermetrics(t *testing.T) {
	text, err := os.ReadFile("testdata/powermetrics-mac14.txt")
	if err != nil {
		t.Fatal(err)
	}
	samples, ok := parsePowermetrics(string(text))
	r := meanOf(samples)
	want := (1.172*1.0029 + 0.445*1.01009) / 2.01299
	if !ok || r.Samples != 2 || math.Abs(r.MeanWatts-want) > 1e-9 || math.Abs(r.Seconds-2.01299) > 1e-9 {
		t.Errorf("%+v, %v, want %.6f W over 2.01299 s", r, ok, want)
	}
	// What was marked is made of whole samples, the last ones.
	for seconds, want := range map[float64]Reading{2.02: r, 2.0: {0.445, 1.01009, 1}, 1.0101: {0.445, 1.01009, 1}, 1.0: {}, 0: {}} {
		if got := meanOf(lastOf(samples, seconds)); math.Abs(got.MeanWatts-want.MeanWatts) > 1e-9 || math.Abs(got.Seconds-want.Seconds) > 1e-9 || got.Samples != want.Samples {
			t.Errorf("the last %v s: %+v, want %+v", seconds, got, want)
		}
	}
	for _, bad := range []string{"", "Combined Power (CPU + GPU + ANE): 5 mW\n", "*** Sampled system activity (x) (10.0ms elapsed) ***\n"} {
		if r, ok := parsePowermetrics(bad); ok {
			t.Errorf("%q: %+v, want nothing", bad, r)
		}
	}
}
