package power

import (
	"math"
	"os"
	"testing"
	"testing/fstest"
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

func rail(value, limit string) fstest.MapFS {
	return fstest.MapFS{
		"sys/class/powercap/intel-rapl:0/energy_uj": {Data: []byte(value + "\n")}, "sys/class/powercap/intel-rapl:0/max_energy_range_uj": {Data: []byte(limit + "\n")},
		"sys/class/powercap/intel-rapl:0:0/energy_uj": {Data: []byte("7\n")}, "sys/class/powercap/intel-rapl:0:0/max_energy_range_uj": {Data: []byte("7\n")},
	}
}

// TestRAPL holds that packages count and their parts do not, and that a counter may begin again.
func TestRAPL(t *testing.T) {
	before, ok := packages(rail("9000000", "10000000"))
	if !ok || len(before) != 1 {
		t.Fatalf("%v, %v", before, ok)
	}
	after, _ := packages(rail("1000000", "10000000"))
	if joules, ok := between(before, after); !ok || joules != 2 {
		t.Errorf("%v, %v, want 2 J over the counter's end", joules, ok)
	}
	if _, err := find(fstest.MapFS{}); err == nil {
		t.Error("a machine without counters has an instrument")
	}
	if _, ok := packages(rail("permission denied", "1")); ok {
		t.Error("a counter that cannot be read is one")
	}
}
