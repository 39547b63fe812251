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

func TestLacks(t *testing.T) {
	lacking, known := Lacks([]string{"zmm9", "avx9"})
	if !slices.Equal(lacking, []string{"avx9", "zmm9"}) {
		t.Errorf("lacking %v, want both", lacking)
	}
	if known != (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") && os.Getenv("EMULATED") == "" {
		t.Errorf("known %v on %s", known, runtime.GOARCH)
	}
	if lacking, _ := Lacks(nil); len(lacking) > 0 {
		t.Errorf("a program that needs nothing lacks %v", lacking)
	}
}

// What the kernel reads from the same instruction. An emulator of one program shows the host's file: it sets EMULATED.
func TestFeaturesAreTheKernels(t *testing.T) {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" || os.Getenv("EMULATED") != "" {
		return
	}
	flags := strings.Fields(regexp.MustCompile(`(?m)^flags\s*:(.*)$`).FindString(string(data)))
	kernels := map[string]string{"sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2", "lzcnt": "abm", "avx512_vbmi": "avx512vbmi"}
	for f, has := range features() {
		name := kernels[f]
		if name == "" {
			name = f
		}
		if want := slices.Contains(flags, name); has != want {
			t.Errorf("%s: %v here, %v in /proc/cpuinfo", f, has, want)
		}
	}
}

// Lines of a Graviton 2, a Raspberry Pi 4 and an x86-64 machine.
func TestParseFeatures(t *testing.T) {
	for line, want := range map[string][]string{
		"processor\t: 0\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs\n": {"dotprod", "fma", "fp16", "neon"},
		"processor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\n":                                                                            {"fma", "neon"},
		"processor\t: 0\nflags\t\t: fpu avx\n":                                                                                                  nil,
	} {
		var got []string
		for f, has := range parseFeatures(line) {
			if has {
				got = append(got, f)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
