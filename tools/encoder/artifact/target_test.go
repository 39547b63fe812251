package artifact

import (
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Whatever the window and the order of what is asked for, the values are the tensor's; a failure to read is kept, and no values follow.
func TestWindows(t *testing.T) {
	all := make([]float32, fewValues+100)
	for i := range all {
		all[i] = float32(i)
	}
	fault := errors.New("disk")
	for _, c := range []struct{ n, size int64 }{{100, 1}, {100, 7}, {100, 100}, {100, 1000}, {fewValues, 7}, {fewValues + 100, 7}, {fewValues + 100, 1 << 20}} {
		w := &windows{n: c.n, size: c.size, load: func(first, n int64, r *room) ([]float32, []float32, error) {
			if first+n > c.n {
				return nil, nil, fault
			}
			v := take(&r.values, n)
			copy(v, all[first:])
			return v, nil, nil
		}}
		for _, i := range []int64{0, 1, 2, 50, 49, c.n - 1, 3} {
			if v, _ := w.at(i); v != float32(i) || w.one(i) != float32(i) {
				t.Errorf("%+v: value %d is %v", c, i, v)
			}
		}
		for _, i := range []int64{50, 3, c.n - 1, 49} {
			if v := w.one(i); v != float32(i) {
				t.Errorf("%+v: value %d alone is %v", c, i, v)
			}
		}
		w.n = 2 * c.n
		if v, _ := w.at(c.n + 50); v != 0 || !errors.Is(w.err, fault) {
			t.Errorf("%+v: %v and %v past the end", c, v, w.err)
		}
		if v, _ := w.at(3); v != 0 {
			t.Errorf("%+v: %v after a failure", c, v)
		}
	}
	short := &windows{n: 4, size: 4, load: func(first, n int64, _ *room) ([]float32, []float32, error) { return all[first : first+n-1], nil, nil }}
	if short.at(0); short.err == nil {
		t.Error("fewer values than asked for were taken")
	}
}

// Every view of a weight gives in stretches what its index gives, wherever a stretch begins and ends.
func TestElements(t *testing.T) {
	s := newStores(t)
	values := make([]float32, 96*64)
	for i := range values {
		values[i] = float32(i % 2048)
	}
	w := &weight{name: "w", shape: []int64{96, 64}, typ: mil.Float16, value: halves([]int64{96, 64}, values...)}
	p := lookingThrough(s.m, []*weight{w}, newDecompressor(&mil.Block{}, nil))
	views := 0
	for _, shape := range [][]int64{{96, 64}, {64, 96}, {32, 64}, {64, 32}, {96, 32}, {32, 96}} {
		for _, v := range viewsOf(w, shape) {
			views++
			for _, c := range [][2]int64{{0, v.n}, {0, 1}, {5, 3}, {v.cols - 1, 2}, {v.cols, v.cols}, {v.n/2 + 3, v.n / 3}, {v.n - 1, 1}} {
				if c[0]+c[1] > v.n {
					continue
				}
				got, err := p.elements(v, c[0], c[1], &room{})
				var want []float32
				for i := range c[1] {
					want = append(want, values[v.index(c[0]+i)])
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("view %v at %d, columns every %d: %d values from %d on: %v, or other values", shape, v.offset, v.col, c[1], c[0], err)
				}
			}
		}
	}
	if views < 12 {
		t.Errorf("%d views were looked at", views)
	}
}

// A process's memory is bounded while weights are compared that are not compressed, and as before when they have been.
func TestFrugal(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer debug.SetGCPercent(percent)
	defer debug.SetMemoryLimit(limit)
	for name, c := range map[string]struct {
		list []*weight
		want int64
	}{"plain": {[]*weight{{}}, keepBelow}, "compressed": {[]*weight{{}, {op: &mil.Op{}}}, math.MaxInt64}} {
		debug.SetMemoryLimit(math.MaxInt64)
		restore := frugal(c.list)
		if got := debug.SetMemoryLimit(-1); got != c.want {
			t.Errorf("%s: the limit is %d, want %d", name, got, c.want)
		}
		restore()
		if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
			t.Errorf("%s: the limit remains %d", name, got)
		}
	}
}
