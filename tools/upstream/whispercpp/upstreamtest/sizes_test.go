package upstreamtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// sizeFormat is a log line of the source whose figure is in megabytes.
var sizeFormat = regexp.MustCompile(`WHISPER_LOG_INFO\("(%s: [^"]* MB)\\n", __func__`)

// TestSizesAreTheSources holds that what the pin's source prints of its sizes while it loads a model is what is read.
func TestSizesAreTheSources(t *testing.T) {
	text := string(source(t))
	load, state, ok := strings.Cut(text, "struct whisper_state * whisper_init_state(")
	if !ok {
		t.Fatal("the source has no whisper_init_state")
	}
	state, _, ok = strings.Cut(state, "\n}\n")
	if !ok {
		t.Fatal("whisper_init_state has no end")
	}
	var lines []string
	for name, part := range map[string]string{"whisper_model_load": load, "whisper_init_state": state} {
		for _, m := range sizeFormat.FindAllStringSubmatch(part, -1) {
			lines = append(lines, strings.NewReplacer("%s: ", name+": ", "%12s", "         CPU", "%7.2f", "   4.25", "%8.2f", "    4.25").Replace(m[1]))
		}
	}
	sizes, err := whispercpp.ReadSizes(lines)
	if err != nil || !sizes.OwnEncoder() {
		t.Fatalf("%v, %v of\n%s", sizes, err, strings.Join(lines, "\n"))
	}
	for name, bytes := range sizes {
		if bytes != 4250000 {
			t.Errorf("%s: %d bytes, want 4250000", name, bytes)
		}
	}
	// Only the sum of the weights, which their buffers are, is passed over.
	if others := slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, ": model size ") }); len(others) != len(sizes) {
		t.Errorf("%d sizes read of the %d that are printed:\n%s", len(sizes), len(others), strings.Join(others, "\n"))
	}
}
