package judge

import (
	"fmt"
	"regexp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// foreign are lines of programs around a gate (Bazel, Apple's tools, pip) that say why there was no run.
// They are looked for only in a log that holds no run of whisper-cli.
var foreign = []struct {
	pattern        *regexp.Regexp
	code, expected string
}{
	{regexp.MustCompile(`Checksum was \S+ but wanted \S+`), reason.SourceDigestMismatch, "an archive or file with the pinned digest"},
	{regexp.MustCompile(`\bpatch: (?:command )?not found\b|command not found: patch\b`), reason.ToolchainNoPatch, "the program patch, or rules that need none"},
	{regexp.MustCompile(`Error applying patch|Hunk #\d+ FAILED|patch does not apply`), reason.PatchNotApplied, "a patch that applies to the pinned source"},
	{regexp.MustCompile(`xcode-locator \S+' failed|xcode-locator .* failed with code`), reason.ToolchainDrift, "the Xcode that the configuration names"},
	{regexp.MustCompile(`unable to find utility "coremlc"|coremlc: (?:command )?not found`), reason.CoremlcMissing, "coremlc, from a full Xcode"},
	{regexp.MustCompile(`ResolutionImpossible`), reason.ConverterUnpinned, "a hash-pinned encoder, not a conversion at build time"},
	{regexp.MustCompile(`\(cached\) PASSED|Executed 0 out of \d+ tests?\b`), reason.NotExecuted, "a run"},
	{regexp.MustCompile(`(?i)\bANE(?: power)?:? 0 ?mW`), reason.PowerSaysNothing, "a compute plan or a trace"},
}

// judgeForeign names why a log without a run of whisper-cli holds none, and says whether it could.
func judgeForeign(f *verdict.Judgement, stderr []string) bool {
	seen := map[string]bool{}
	var found []reason.Reason
	for i, line := range stderr {
		for _, k := range foreign {
			if !seen[k.code] && k.pattern.MatchString(line) {
				seen[k.code] = true
				found = append(found, reason.Reason{Code: k.code, Where: fmt.Sprintf("line %d", i+1), Expected: k.expected, Found: "none of it: " + quote(line)})
			}
		}
	}
	for _, r := range found {
		// A patch that could not be tried, because the program is missing, did not fail to apply.
		if r.Code != reason.PatchNotApplied || !seen[reason.ToolchainNoPatch] {
			f.AddReason(r)
		}
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
