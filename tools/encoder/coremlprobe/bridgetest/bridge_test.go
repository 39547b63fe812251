package bridgetest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read reads a source that the environment names: under Bazel by its place among the runfiles.
func read(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s must name the file; under Bazel the build names it", variable)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(os.Getenv("TEST_SRCDIR"), filepath.FromSlash(path))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return code(string(b))
}

var comment = regexp.MustCompile(`//[^\n]*|/\*(?s:.*?)\*/`)

// code is a source without comments.
func code(s string) string { return comment.ReplaceAllString(s, "") }

var assignment = regexp.MustCompile(`\bconfig\.(\w+)\s*=\s*(\w+)\s*;`)

// settings are the fields of the configuration that a source sets.
func settings(source string) map[string]string {
	m := map[string]string{}
	for _, a := range assignment.FindAllStringSubmatch(source, -1) {
		m[a[1]] = a[2]
	}
	return m
}

// words is a source with runs of white space as one space, so that layout does not count.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestProbeAsksWhatTheBridgeAsks(t *testing.T) {
	bridge, impl, probe := read(t, "BRIDGE"), read(t, "BRIDGE_IMPL"), read(t, "PROBE_CONFIGURATION")+read(t, "PROBE_PREDICT")
	upstream := settings(bridge)
	if len(upstream) != 1 || upstream["computeUnits"] != "MLComputeUnitsAll" {
		t.Errorf("upstream's bridge sets %v: coremlprobe's bridgeConfiguration and tools/encoder/probe know only computeUnits, all", upstream)
	}
	if ours := settings(probe); !slices.Equal(slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(upstream))) {
		t.Errorf("coremlprobe sets %v, upstream's bridge %v", ours, upstream)
	}
	if !strings.Contains(words(probe), `kUnits[] = { {"all", MLComputeUnitsAll},`) {
		t.Error("coremlprobe does not ask for all compute units first")
	}
	for name, source := range map[string]string{"upstream": impl, "coremlprobe": probe} {
		if !regexp.MustCompile(`\[MLModel modelWithContentsOfURL:\w+ configuration:`).MatchString(source) {
			t.Errorf("%s does not load by modelWithContentsOfURL:configuration:error:", name)
		}
	}
	for name, source := range map[string]string{"upstream": bridge, "coremlprobe": probe} {
		if !regexp.MustCompile(`\[MLMultiArray alloc\] initWithDataPointer: ?\S+ .*shape: ?.*dataType: ?.*strides: ?.*deallocator: ?nil`).MatchString(words(source)) {
			t.Errorf("%s does not hand its own memory to MLMultiArray", name)
		}
	}
	if !strings.Contains(words(bridge), "count * sizeof(float)") {
		t.Error("upstream's bridge no longer copies count * sizeof(float): judge types and strides anew")
	}
}

func TestSettings(t *testing.T) {
	got := settings(code("// config.computeUnits = MLComputeUnitsCPUAndGPU;\n/* config.a = b; */\n config.computeUnits = MLComputeUnitsAll;\nconfig.allowLowPrecisionAccumulationOnGPU = YES;"))
	if !maps.Equal(got, map[string]string{"computeUnits": "MLComputeUnitsAll", "allowLowPrecisionAccumulationOnGPU": "YES"}) {
		t.Errorf("%v", got)
	}
}
