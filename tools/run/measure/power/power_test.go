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
	r, ok := parsePowermetrics(string(text))
	want := (1.172*1.0029 + 0.445*1.01009) / 2.01299
	if !ok || r.Samples != 2 || math.Abs(r.MeanWatts-want) > 1e-9 || math.Abs(r.Seconds-2.01299) > 1e-9 {
		t.Errorf("%+v, %v, want %.6f W over 2.01299 s", r, ok, want)
	}
	for _, bad := range []string{"", "Combined Power (CPU + GPU + ANE): 5 mW\n", "*** Sampled system activity (x) (10.0ms elapsed) ***\n"} {
		if r, ok := parsePowermetrics(bad); ok {
			t.Errorf("%q: %+v, want nothing", bad, r)
		}
	}
}
