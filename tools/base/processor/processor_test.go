package processor

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	haswell := map[string]bool{"sse4.2": true, "avx": true, "avx2": true, "bmi2": true, "f16c": true, "fma": true}
	sandy := map[string]bool{"sse4.2": true, "avx": true}
	for _, c := range []struct {
		set, arch string
		found     map[string]bool
		want      []string
	}{
		{"avx2", "amd64", haswell, nil},
		{"avx2", "amd64", sandy, []string{"avx2", "bmi2", "f16c", "fma"}},
		{"baseline", "amd64", sandy, nil},
		{"baseline", "amd64", nil, []string{"sse4.2"}},
		{"avx2", "arm64", nil, []string{"the architecture amd64"}},
		{"armv8", "arm64", nil, nil},
		{"armv8", "amd64", haswell, []string{"the architecture arm64"}},
	} {
		got, err := missing(c.set, c.arch, c.found)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s on %s with %v: %v, %v; want %v", c.set, c.arch, c.found, got, err, c.want)
		}
	}
	for _, set := range []string{"", "AVX2", "avx512", "portable"} {
		if _, err := missing(set, "amd64", haswell); err == nil || !strings.Contains(err.Error(), "armv8, avx2, baseline") {
			t.Errorf("set %q: %v, want an error with the sets that there are", set, err)
		}
	}
}

// What the kernel reads from the same instruction. An emulator of one program shows the host's file: it sets EMULATED.
func TestFeaturesAreTheKernels(t *testing.T) {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" || os.Getenv("EMULATED") != "" {
		return
	}
	flags := strings.Fields(regexp.MustCompile(`(?m)^flags\s*:(.*)$`).FindString(string(data)))
	for _, f := range sets["avx2"].features {
		if want := slices.Contains(flags, strings.ReplaceAll(f, ".", "_")); Has(f) != want {
			t.Errorf("%s: %v here, %v in /proc/cpuinfo", f, Has(f), want)
		}
	}
}
