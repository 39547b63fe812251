package judge

import "github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"

// repeatable says that a command line turns temperature fallback off.
func repeatable(arguments []string) bool {
	d, err := whispercpp.ReadDecoding(arguments)
	return err == nil && d.TemperatureIncrement == 0
}
