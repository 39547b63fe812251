// Package processor says what instructions the processor of this machine has, so that a program built for more is
// refused by name and does not die of an illegal instruction; and how much of the processors this process has taken.
package processor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sets are the instruction sets that whisper-cli is built for (//third_party/whisper_cpp:instruction_set), with the
// features that a processor must have beyond what every one of its architecture has.
var sets = map[string]struct {
	arch     string
	features []string
}{
	"avx2":     {"amd64", []string{"sse4.2", "avx", "avx2", "bmi2", "f16c", "fma"}},
	"baseline": {"amd64", []string{"sse4.2"}},
	"armv8":    {"arm64", nil},
}

// Missing is what this machine lacks of an instruction set, in order. A set that has no name here is an error.
func Missing(set string) ([]string, error) { return missing(set, arch, features()) }

func missing(set, arch string, found map[string]bool) ([]string, error) {
	s, ok := sets[set]
	if !ok {
		return nil, fmt.Errorf("instruction set %q: expected one of %s", set, strings.Join(slices.Sorted(maps.Keys(sets)), ", "))
	}
	if s.arch != arch {
		return []string{"the architecture " + s.arch}, nil
	}
	var out []string
	for _, f := range s.features {
		if !found[f] {
			out = append(out, f)
		}
	}
	return out, nil
}

// Lacks is what this machine lacks of features, sorted. A feature that this package does not know here counts as lacking; known
// says whether it can ask this machine's processor at all.
func Lacks(want []string) (lacking []string, known bool) {
	found := features()
	for _, f := range want {
		if !found[f] {
			lacking = append(lacking, f)
		}
	}
	slices.Sort(lacking)
	return lacking, found != nil
}

// Has says whether this machine has a feature.
func Has(feature string) bool { return features()[feature] }
