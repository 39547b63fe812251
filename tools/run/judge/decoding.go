package judge

import "github.com/coreml-gate/rules_coreml_gate/tools/upstream/argv"

// repeatable says that a command line turns temperature fallback off.
func repeatable(arguments []string) bool {
	for _, a := range arguments {
		if a == "-nf" || a == "--no-fallback" {
			return true
		}
	}
	value, ok := argv.Last(arguments, "-tpi", "--temperature-inc")
	return ok && (value == "0" || value == "0.0")
}
