package governor

import (
	"context"
	"sync"
)

// Guard watches the memory that is left beside one run, and says when the run has to end.
type Guard struct {
	// Stop closes when the run has to end.
	Stop chan struct{}
	end  func()
}

// Watch begins to watch, against a budget that is frozen now; nil, where the system does not say, watches nothing. available is asked
// four times a second until [Guard.End] is called.
func Watch(budget *int64, available func() *int64) *Guard {
	g := &Guard{Stop: make(chan struct{}), end: func() {}}
	if budget == nil {
		return g
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	g.end = func() { cancel(); <-done }
	var once sync.Once
	go func() {
		defer close(done)
		New(*budget, available, func(e Event) {
			if e.Step == Emergency {
				once.Do(func() { close(g.Stop) })
			}
		}).Run(ctx)
	}()
	return g
}

// End ends watching.
func (g *Guard) End() { g.end() }

// Stopped says whether the run had to end.
func (g *Guard) Stopped() bool {
	select {
	case <-g.Stop:
		return true
	default:
		return false
	}
}
