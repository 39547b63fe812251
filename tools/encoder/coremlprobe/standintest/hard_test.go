package standintest

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/hardvalues"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
)

// hardCase has an encoder's one feature, which is all that the stand-in takes, with values that a careless copy changes.
func hardCase() hardvalues.Case {
	var data []byte
	for _, bits := range []uint32{0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7fffffff, 0x33800001} {
		data = binary.LittleEndian.AppendUint32(data, bits)
	}
	of := func(name string) []hardvalues.Tensor {
		return []hardvalues.Tensor{{Name: name, DType: "fp32", Shape: []int{1, 3, 5}, Data: data}}
	}
	return hardvalues.Case{Name: "identity of an encoder's input keeps all bits", Opset: "ios16", Bits: true,
		Body:   `        tensor<fp32, [1, 3, 5]> output = identity(x = logmel_data)[name = string("output")];`,
		Inputs: of("logmel_data"), Want: of("output")}
}

// TestHardValues runs a case through the probe, once, and again and again from memory that stays.
func TestHardValues(t *testing.T) {
	compile := func(_ context.Context, pkg, compiled string) error {
		a, err := bundle.Open(pkg)
		if err != nil {
			return err
		}
		return errors.Join(bundle.Compile(a, compiled), a.Close())
	}
	sides := map[string]func(string, hardvalues.Compiler, time.Duration) hardvalues.Predict{"once": hardvalues.Probe, "persistent": hardvalues.Persistent}
	for name, c := range map[string]struct {
		fault, standIn string
		// once and persistent are what is found there, "" for nothing.
		once, persistent string
	}{
		"as it should be":  {},
		"fewer units":      {standIn: refusesAll, once: "not loaded at all units", persistent: "LOAD_FAILED"},
		"drifts":           {standIn: "drifts", persistent: "REPEAT_DIFFERS"},
		"writes its input": {standIn: "writes-input", persistent: "PARITY_INPUT_CHANGED"},
		"never predicts":   {fault: "prediction-fails", once: "refused", persistent: "REPEAT_FAILED"},
	} {
		program := withEnvironment(t, c.fault, c.standIn)
		for side, found := range map[string]string{"once": c.once, "persistent": c.persistent} {
			r, err := hardvalues.Run(t.Context(), hardvalues.CoreML, []hardvalues.Case{hardCase()}, nil, sides[side](program, compile, time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if found == "" && len(r.Reasons) > 0 || found != "" && (len(r.Reasons) != 1 || !strings.Contains(r.Reasons[0].Found, found)) {
				t.Errorf("%s, %s: %v, want %q", name, side, r.Reasons, found)
			}
		}
	}
}
