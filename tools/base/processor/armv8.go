package processor

import (
	"regexp"
	"slices"
	"strings"
)

// kernels are what a system calls the features beyond ARMv8.0: Linux in /proc/cpuinfo (arch/arm64/kernel/cpuinfo.c), macOS behind
// hw.optional.arm. in sysctl. Both systems demand what ARMv8.0 has, neon and fma.
var kernels = map[string]struct{ linux, macos string }{
	"fp16": {"asimdhp", "FEAT_FP16"}, "dotprod": {"asimddp", "FEAT_DotProd"}, "i8mm": {"i8mm", "FEAT_I8MM"}, "sve": {"sve", "FEAT_SVE"}, "sme": {"sme", "FEAT_SME"},
}

// parseFeatures reads Linux's /proc/cpuinfo of an arm64 machine: the first processor's features, or nil if it has no such line.
func parseFeatures(cpuinfo string) map[string]bool {
	line := regexp.MustCompile(`(?m)^Features\s*:(.*)$`).FindStringSubmatch(cpuinfo)
	if line == nil {
		return nil
	}
	words, f := strings.Fields(line[1]), map[string]bool{"neon": true, "fma": true}
	for name, k := range kernels {
		f[name] = slices.Contains(words, k.linux)
	}
	return f
}
