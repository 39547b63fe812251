package kernel

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// Everything is prepared and done once, in this order, by workers that are started for each call or kept, however many.
func TestRunAfterDoesEverythingOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 7} {
		for _, kept := range []bool{false, true} {
			p := NewPool(threads)
			if kept {
				stop := p.Start()
				defer stop()
			}
			for _, s := range [][2]int{{0, 1}, {1, 0}, {0, 5}, {3, 1}, {40, 17}, {1, 100}} {
				for range 50 {
					prepared, done := make([]atomic.Int32, s[0]), make([]atomic.Int32, s[1])
					var unprepared, early atomic.Int32
					unprepared.Store(int32(s[0]))
					busy := make([]atomic.Int32, threads)
					p.RunAfter(s[0], func(w, i int) {
						prepared[i].Add(1)
						unprepared.Add(-1)
					}, s[1], func(w, i int) {
						if busy[w].Add(1) != 1 || unprepared.Load() != 0 {
							early.Add(1)
						}
						done[i].Add(1)
						busy[w].Add(-1)
					})
					once := func(c []atomic.Int32) bool {
						for i := range c {
							if c[i].Load() != 1 {
								return false
							}
						}
						return true
					}
					if !once(prepared) || !once(done) || early.Load() != 0 {
						t.Fatalf("%d threads, kept %v, %v: prepared %v, done %v, too early or twice at a time %d", threads, kept, s, prepared, done, early.Load())
					}
				}
			}
		}
	}
}

func TestPlaceMeetsEveryBlockOnce(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {1, 7, 4}, {16, 3, 2}, {5, 2, 3}, {3, 4, 8}, {17, 1, 5}} {
		rows, cols, workers := s[0], s[1], s[2]
		var met []int
		for i := range rows * cols {
			row, col := place(i, rows, cols, workers)
			if row < 0 || row >= rows || col < 0 || col >= cols {
				t.Fatalf("%v: unit %d is at %d, %d", s, i, row, col)
			}
			met = append(met, row*cols+col)
		}
		slices.Sort(met)
		for i, at := range met {
			if at != i {
				t.Fatalf("%v: blocks %v, expected each once", s, met)
			}
		}
	}
}

// Workers that were kept leave when they are stopped; a second Start in between changes nothing.
func TestStopLetsWorkersGo(t *testing.T) {
	before := runtime.NumGoroutine()
	p := NewPool(5)
	for range 20 {
		stop := p.Start()
		p.Start()()
		var done atomic.Int32
		p.Run(30, func(_, _ int) { done.Add(1) })
		if stop(); done.Load() != 30 || p.crew != nil {
			t.Fatalf("%d of 30 done, crew %v", done.Load(), p.crew)
		}
	}
	for runtime.NumGoroutine() > before { // or the test never ends
		runtime.Gosched()
	}
}
