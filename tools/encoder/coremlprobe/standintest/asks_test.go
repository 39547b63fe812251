package standintest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/probe"
)

// asked is what a log says that the framework was asked for.
func asked(log string) []string {
	var lines []string
	for line := range strings.Lines(log) {
		if rest, ok := strings.CutPrefix(line, "coreml_stand_in: asked to "); ok {
			lines = append(lines, strings.TrimSpace(rest))
		}
	}
	return lines
}

// byBridge is what upstream's own bridge asks for when it loads a model and encodes bands by frames of mel once.
func byBridge(t *testing.T, model string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "UPSTREAM_HARNESS"), "load="+model, "encode=5,3,60", "free")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "COREML_GATE_EVALUATOR=" + program(t, "EVALUATOR"), "COREML_GATE_STAND_IN=tells"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The harness encodes once for each of two patterns of its destination.
	return slices.Compact(asked(string(out)))
}

func byProbe(t *testing.T, model string, shape []int) []string {
	t.Helper()
	q := probe.Request{Model: model, Inputs: []probe.Input{{Name: "logmel_data", DType: "float32", Shape: shape, Data: make([]byte, 60)}}, Outputs: []string{"output"}}
	o, err := probe.Run(t.Context(), withEnvironment(t, "none", "tells"), q, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return asked(o.Stderr)
}

// TestAsksWhatTheBridgeAsks: the same configuration, field by field, and the same input, by type, shape and strides.
func TestAsksWhatTheBridgeAsks(t *testing.T) {
	model := compiled(t)
	bridge := byBridge(t, model)
	if len(bridge) != 2 || !strings.Contains(bridge[0], "load for units 2, ") || bridge[1] != "predict logmel_data: type 65568, shape 1,3,5, strides 15,5,1" {
		t.Fatalf("upstream's bridge asks to %q", bridge)
	}
	if got := byProbe(t, model, []int{1, 3, 5}); !slices.Equal(got, bridge) {
		t.Errorf("coremlprobe asks to\n%s\nand upstream's bridge to\n%s", strings.Join(got, "\n"), strings.Join(bridge, "\n"))
	}
	if got := byProbe(t, model, []int{1, 5, 3}); slices.Equal(got, bridge) {
		t.Errorf("another shape shows no difference: %q", got)
	}
}
