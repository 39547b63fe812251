package governor

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// TestSteps holds when each step fires, that it fires once, and when it is armed again.
func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		left []int64
		want []Step
	}{
		"plenty":                         {[]int64{1000, 500, 120}, nil},
		"one step":                       {[]int64{119}, []Step{Warn}},
		"once":                           {[]int64{119, 118, 117, 119}, []Step{Warn}},
		"not again below 1.5 times":      {[]int64{119, 179, 119}, []Step{Warn}},
		"again from 1.5 times on":        {[]int64{119, 180, 119}, []Step{Warn, Warn}},
		"all at once":                    {[]int64{29}, []Step{Warn, Pressure, Critical, Emergency}},
		"the bounds themselves are kept": {[]int64{120, 80, 50, 30}, []Step{Warn, Pressure, Critical}},
		"slowly":                         {[]int64{119, 79, 49, 29}, []Step{Warn, Pressure, Critical, Emergency}},
		"emergency again":                {[]int64{29, 44, 29, 45, 29}, []Step{Warn, Pressure, Critical, Emergency, Emergency}},
		"unknown fires nothing":          {[]int64{-1, -1}, nil},
	} {
		var got []Step
		at := 0
		g := New(1000, func() *int64 {
			v := c.left[at]
			if v < 0 {
				return nil
			}
			return &v
		}, func(e Event) { got = append(got, e.Step) })
		for at = range c.left {
			g.Poll()
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFourHertz holds how often the memory is read.
func TestFourHertz(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		plenty := int64(1000)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			New(1000, func() *int64 { reads++; return &plenty }, func(Event) {}).Run(ctx)
			close(done)
		}()
		time.Sleep(2*time.Second + time.Millisecond)
		cancel()
		<-done
		if reads != 9 {
			t.Errorf("%d readings in two seconds, want one at once and eight after it", reads)
		}
	})
}

func TestReason(t *testing.T) {
	r := Event{Emergency, 20 << 20, 1000 << 20}.Reason()
	if r.Code != reason.MemoryEmergency || reason.VerdictOf([]reason.Reason{r}) != reason.Unknown {
		t.Errorf("%s is %s, want an inconclusive verdict", r.Code, reason.VerdictOf([]reason.Reason{r}))
	}
}
