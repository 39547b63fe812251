package ceiling

import "testing"

// TestMeasure holds that both kernels give a rate, whatever else the machine does.
func TestMeasure(t *testing.T) {
	a := [64]float64{}
	c := Measure("test", 1, func() float64 {
		for i := range 200000 {
			a[i%64] = a[i%64]*0.5 + 1
		}
		return 400000
	}, 4<<20)
	if c.FLOPPerSecond < 1e6 || c.BytesPerSecond < 1e7 || c.BufferBytes != 4<<20 || c.Units != "cpu" {
		t.Errorf("%+v", c)
	}
}

func TestExceeds(t *testing.T) {
	for _, c := range []struct {
		work, seconds, peak float64
		want                bool
	}{{100, 1, 60, false}, {100, 1, 49, true}, {100, 0, 1e9, true}, {100, 1, 0, false}, {0, 0, 5, false}} {
		if got := Exceeds(c.work, c.seconds, c.peak, 2); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
