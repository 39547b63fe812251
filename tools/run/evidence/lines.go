package evidence

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// The emulated lane's two ways to stand for Apple's Core ML, as lane_identity.core_ml and every line of theirs name them.
const (
	CoreMLDouble  = "coreml_double"   // our double of upstream's bridge
	CoreMLStandIn = "coreml_stand_in" // upstream's own bridge over a stand-in for the framework
)

// EmulatedBy is which of the two a line is of; empty if neither's.
func EmulatedBy(line string) string {
	if name, _, ok := strings.Cut(line, ": "); ok && (name == CoreMLDouble || name == CoreMLStandIn) {
		return name
	}
	return ""
}

// Recognise says whether a line is kept in the evidence of a fixture that is not public: the markers,
// and the lines that name a fault and quote nothing but staged names.
func Recognise(line string) bool {
	l, ok := whispercpp.ReadLine(line)
	if !ok || l.Quotes {
		return false
	}
	return l.Kind != whispercpp.LineProcessError || line == "whisper-cli: failed to process audio"
}
