package power_test

import (
	"math"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/power"
)

// air is how powermetrics prints a sample, after one that was published of an M2 Air (philipturner/applegpuinfo#6): header, rails and
// values are its own, and other lines are left out.
const air = `*** Sampled system activity (Fri Mar 22 14:54:38 2024 -0500) (5024.83ms elapsed) ***

**** Processor usage ****

CPU 7 frequency: 2486 MHz
CPU 7 active residency:   0.48% (660 MHz: .00% 924 MHz:   0%)

CPU Power: 85 mW
GPU Power: 4 mW
ANE Power: 0 mW
Combined Power (CPU + GPU + ANE): 89 mW

**** GPU usage ****

GPU HW active frequency: 444 MHz
GPU Power: 4 mW
`

// busy has the figure that was published of a Mac mini with an M1 under load (tlkh/asitop#20).
var busy = strings.Replace(air, "ANE Power: 0 mW", "ANE Power: 5655 mW", 1)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text           string
		samples, named, some int
		mean, most           float64
		why                  string
	}{
		{"an idle sample", air, 1, 1, 0, 0, 0, ""},
		{"a busy one", busy, 1, 1, 1, 5.655, 5.655, ""},
		{"both", air + busy, 2, 2, 1, 2.8275, 5.655, ""},
		{"lines that end in CR LF", strings.ReplaceAll(busy, "\n", "\r\n"), 1, 1, 1, 5.655, 5.655, ""},
		{"watts", strings.Replace(air, "ANE Power: 0 mW", "ANE Power: 0.75 W", 1), 1, 1, 1, 0.75, 0.75, ""},
		{"no such rail", strings.Replace(air, "ANE Power: 0 mW\n", "", 1), 1, 0, 0, 0, 0, ""},
		{"nothing", "", 0, 0, 0, 0, 0, "no line"},
		{"another program's output", "ANE Power: 5 mW\n", 0, 0, 0, 0, 0, "before the first sample"},
		{"a rail twice", strings.Replace(air, "ANE Power: 0 mW", "ANE Power: 0 mW\nANE Power: 9 mW", 1), 0, 0, 0, 0, 0, "a second ANE power"},
		{"another form", strings.Replace(air, "ANE Power: 0 mW", "ANE Power: n/a", 1), 0, 0, 0, 0, 0, "expected ANE Power"},
		{"an exponent", strings.Replace(air, "ANE Power: 0 mW", "ANE Power: 1e9 mW", 1), 0, 0, 0, 0, 0, "expected ANE Power"},
		{"a decimal comma", strings.Replace(air, "ANE Power: 0 mW", "ANE Power: 0,5 W", 1), 0, 0, 0, 0, 0, "expected ANE Power"},
		{"more than a machine draws", strings.Replace(air, "ANE Power: 0 mW", "ANE Power: 2000 W", 1), 0, 0, 0, 0, 0, "at most"},
	} {
		r, err := power.Parse([]byte(c.text))
		if c.why != "" {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", c.name, err, c.why)
			}
			continue
		}
		if err != nil || r.Samples != c.samples || r.Named != c.named || r.NonZero != c.some || math.Abs(r.MeanWatts-c.mean) > 1e-9 || math.Abs(r.MaxWatts-c.most) > 1e-9 {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(air))
	f.Add([]byte(air + busy))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := power.Parse(data)
		if err != nil {
			return
		}
		if r.NonZero > r.Named || r.Named > r.Samples || r.MeanWatts > r.MaxWatts*(1+1e-9) || math.IsNaN(r.MeanWatts) || r.String() == "" {
			t.Fatalf("%+v", r)
		}
	})
}
