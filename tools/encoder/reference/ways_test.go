package reference

import "testing"

// TestWays holds that each way of this processor is taken when it is asked for, that the widest is taken otherwise, and that no other is.
func TestWays(t *testing.T) {
	ways := Ways()
	if len(ways) == 0 || ways[0].width != 1 || ways[len(ways)-1].width != widest || width != widest {
		t.Fatalf("ways %v, width %d, and the widest is %d", ways, width, widest)
	}
	last := ways[len(ways)-1]
	for _, w := range ways {
		before, err := w.Use()
		if err != nil || width != w.width || before != last {
			t.Errorf("%v: %v, width %d, before it %v", w, err, width, before)
		}
		if _, err := before.Use(); err != nil || width != widest {
			t.Errorf("back to %v: %v, width %d", before, err, width)
		}
	}
	for _, w := range []Way{{}, {"1024 bits", 16}} {
		if _, err := w.Use(); err == nil || width != widest {
			t.Errorf("%v: %v, width %d", w, err, width)
		}
	}
}
