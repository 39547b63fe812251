package runner

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestMemoryEmergency holds that a run is stopped as the memory ends, with its reason, and that one is left alone that has some.
func TestMemoryEmergency(t *testing.T) {
	real := available
	defer func() { available = real }()
	var reads atomic.Int64
	available = func() *int64 {
		left := int64(1) << 50
		if reads.Add(1) > 2 {
			left = 1
		}
		return &left
	}
	r := mustRun(t, newSpec(t, evidence.KindCanary, "sleep"))
	if got := r.Evidence.Exit; got != (evidence.Exit{Kind: evidence.ExitMemory}) {
		t.Errorf("exit %+v, want a stop for want of memory", got)
	}
	available = real
	if got := mustRun(t, newSpec(t, evidence.KindCoreML, "words")).Evidence.Exit; got != (evidence.Exit{Kind: evidence.ExitCode}) {
		t.Errorf("exit %+v of a run with memory to spare", got)
	}
}

// TestFitRefusal holds that a model which cannot fit is refused before anything starts, by name, and that what was known of a run
// that started is in its observations.
func TestFitRefusal(t *testing.T) {
	header := func(state, layers uint32) string {
		var b []byte
		for _, v := range []uint32{0x67676d6c, 51864, 1500, state, state / 64, layers, 448, state, state / 64, layers, 80, 1} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return string(b)
	}
	s := newSpec(t, evidence.KindCanary, header(1<<18, 1<<12))
	_, err := Run(t.Context(), s)
	var refused *reason.Error
	if !errors.As(err, &refused) || refused.Code != reason.FitExceeded {
		t.Errorf("%v, want %s", err, reason.FitExceeded)
	}
	r := mustRun(t, newSpec(t, evidence.KindCanary, header(384, 4)))
	if f := r.Observations.Fit; f == nil || f.Status != "cannot tell" || f.NeedBytes < 1<<20 || f.AvailableBytes == nil || f.Measured {
		t.Errorf("observations say %+v of the memory", f)
	}
	data, err := evidence.EncodeObservations(r.Observations)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.DecodeObservations(data); err != nil {
		t.Error(err)
	}
	if f := mustRun(t, newSpec(t, evidence.KindCoreML, "words")).Observations.Fit; f != nil {
		t.Errorf("a model without a header has %+v", f)
	}
}
