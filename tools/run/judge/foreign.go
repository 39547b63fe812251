package judge

import (
	"fmt"
	"regexp"
)

// foreign are lines of programs around a gate (Bazel, Apple's tools, pip) that say why there was no run.
// They are looked for only in a log that holds no run of whisper-cli.
var foreign = []struct {
	pattern        *regexp.Regexp
	code, expected string
}{
	{regexp.MustCompile(`Checksum was \S+ but wanted \S+`), "SOURCE_DIGEST_MISMATCH", "an archive or file with the pinned digest"},
	{regexp.MustCompile(`\bpatch: (?:command )?not found\b|command not found: patch\b`), "TOOLCHAIN_NO_PATCH", "the program patch, or rules that need none"},
	{regexp.MustCompile(`Error applying patch|Hunk #\d+ FAILED|patch does not apply`), "PATCH_NOT_APPLIED", "a patch that applies to the pinned source"},
	{regexp.MustCompile(`xcode-locator \S+' failed|xcode-locator .* failed with code`), "TOOLCHAIN_DRIFT", "the Xcode that the configuration names"},
	{regexp.MustCompile(`unable to find utility "coremlc"|coremlc: (?:command )?not found`), "COREMLC_MISSING", "coremlc, from a full Xcode"},
	{regexp.MustCompile(`ResolutionImpossible`), "CONVERTER_UNPINNED", "a hash-pinned encoder, not a conversion at build time"},
	{regexp.MustCompile(`\(cached\) PASSED|Executed 0 out of \d+ tests?\b`), "NOT_EXECUTED", "a run"},
	{regexp.MustCompile(`(?i)\bANE(?: power)?:? 0 ?mW`), "POWER_SAYS_NOTHING", "a compute plan or a trace"},
}

// judgeForeign names why a log without a run of whisper-cli holds none, and says whether it could.
func judgeForeign(f *findings, stderr []string) bool {
	seen := map[string]bool{}
	for i, line := range stderr {
		for _, k := range foreign {
			if !seen[k.code] && k.pattern.MatchString(line) {
				seen[k.code] = true
				f.add(k.code, k.expected, "none of it: "+quote(line), fmt.Sprintf("line %d", i+1))
			}
		}
	}
	// A patch that could not be tried for want of the program did not fail to apply.
	if seen["TOOLCHAIN_NO_PATCH"] {
		f.drop("PATCH_NOT_APPLIED")
	}
	return len(seen) > 0
}

// quote shortens a line for a reader.
func quote(line string) string {
	if runes := []rune(line); len(runes) > 120 {
		return string(runes[:120]) + "…"
	}
	return line
}
