package evidence

import "github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"

// Recognise says whether a line is kept in the evidence of a fixture that is not public: the markers,
// and the lines that name a fault and quote nothing but staged names.
func Recognise(line string) bool {
	l, ok := whispercpp.ReadLine(line)
	if !ok || l.Quotes {
		return false
	}
	return l.Kind != whispercpp.LineProcessError || line == "whisper-cli: failed to process audio"
}
