// Package governor watches the memory that is left while a program runs, and stops the program before the system would kill it: a
// run that was stopped has a reason, a run that was killed may have none.
//
// The budget is frozen when watching starts, so that the share has one denominator. Each step fires once as the share that is
// left falls below it, and is armed again only when the share has risen to one and a half times it: without that, freeing a
// little and using it again would fire for ever.
package governor

import (
	"context"
	"fmt"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// Step is a level of pressure.
type Step int

// The steps, in order.
const (
	Comfortable Step = iota
	Warn
	Pressure
	Critical
	Emergency
)

// String is the step's name.
func (s Step) String() string {
	return [...]string{"comfortable", "warn", "pressure", "critical", "emergency"}[s]
}

// shares of the budget that are left, below which a step fires.
var shares = map[Step]float64{Warn: 0.12, Pressure: 0.08, Critical: 0.05, Emergency: 0.03}

const (
	// rearm is how far above its share what is left must be before a step can fire again.
	rearm = 1.5
	// Interval is 4 Hz.
	Interval = 250 * time.Millisecond
)

// Event is a step that fired.
type Event struct {
	Step           Step  `json:"step"`
	AvailableBytes int64 `json:"available_bytes"`
	BudgetBytes    int64 `json:"budget_bytes"`
}

// Reason says why the run was stopped, for an emergency.
func (e Event) Reason() reason.Reason {
	return reason.Reason{Code: reason.MemoryEmergency, Where: "memory", Expected: fmt.Sprintf("at least %.0f %% of %s left", 100*shares[Emergency], memory.Show(e.BudgetBytes)),
		Found: fmt.Sprintf("%s, %.1f %%", memory.Show(e.AvailableBytes), 100*float64(e.AvailableBytes)/float64(e.BudgetBytes))}
}

// Governor watches one run.
type Governor struct {
	budget int64
	// available is nil where the system says nothing.
	available func() *int64
	fired     map[Step]bool
	act       func(Event)
}

// New freezes the budget. What is available is asked for through a function, so that a test can answer.
func New(budget int64, available func() *int64, act func(Event)) *Governor {
	return &Governor{budget: budget, available: available, fired: map[Step]bool{}, act: act}
}

// Poll reads once. Every step that was passed since the last reading fires, mildest first.
func (g *Governor) Poll() {
	bytes := g.available()
	if bytes == nil || g.budget <= 0 {
		return
	}
	left := float64(*bytes) / float64(g.budget)
	for step := Warn; step <= Emergency; step++ {
		switch limit := shares[step]; {
		case left < limit && !g.fired[step]:
			g.fired[step] = true
			g.act(Event{step, *bytes, g.budget})
		case left >= limit*rearm:
			g.fired[step] = false
		}
	}
}

// Run polls four times a second until the context ends.
func (g *Governor) Run(ctx context.Context) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		g.Poll()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
