package hardvalues

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// needs is the macOS that brought each operation set (coremltools' table of deployment targets).
var needs = map[string]int{"ios15": 12, "ios16": 13, "ios17": 14, "ios18": 15, "ios26": 26}

// On gives the cases as a Mac of a version such as 15.5 has to answer them: it must refuse what its Core ML does not have yet.
func On(cases []Case, macOS string) ([]Case, error) {
	first, _, _ := strings.Cut(macOS, ".")
	major, err := strconv.Atoi(first)
	if err != nil || major < 10 {
		return nil, fmt.Errorf("macOS: expected a version such as 15.5, found %q", macOS)
	}
	out := slices.Clone(cases)
	for i := range out {
		out[i].Refused = out[i].Refused || major < needs[out[i].Opset]
	}
	return out, nil
}
