package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Policy holds the thresholds of a judgement. Rates are edits over units of the reference. It is made from a frozen
// policy file before anything is measured; no flag changes it.
type Policy struct {
	// CorpusRateMax bounds hybrid against source, all fixtures together.
	CorpusRateMax float64
	// FileRateMax bounds hybrid against source in each fixture, FileEditsFree edits apart, which a short fixture may have.
	FileRateMax   float64
	FileEditsFree int
	// WorseThanGGMLMax bounds by how much the hybrid's corpus rate may exceed that of ggml's own encoder.
	WorseThanGGMLMax float64
	// CorpusVsGGMLMax and FileVsGGMLMax bound hybrid against ggml, all together and in each fixture.
	CorpusVsGGMLMax float64
	FileVsGGMLMax   float64
	// Strict are the limits on the strict form of the words; nil where a policy has none (words_v1).
	Strict *StrictPolicy
	// With fewer fixtures or fewer units in them than these, a result is provisional.
	FixturesMin int
	UnitsMin    int
}

// StrictPolicy bounds edits of the strict form, as the limits of [Policy] of the same names bound the published one's.
type StrictPolicy struct {
	CorpusRateMax   float64
	FileRateMax     float64
	CorpusVsGGMLMax float64
	FileVsGGMLMax   float64
}

// strictThresholds are a policy's limits on the strict form: it has all or none of them.
var strictThresholds = []string{"strict_corpus_rate_max", "strict_corpus_vs_ggml_max", "strict_file_rate_max", "strict_file_vs_ggml_max"}

// PolicyFrom makes a policy from the thresholds of a policy file. Every threshold must be there and none that is
// unknown: a limit that is misspelled is not a limit.
func PolicyFrom(thresholds map[string]float64) (Policy, error) {
	var p Policy
	left := maps.Clone(thresholds)
	take := func(name string, most float64) float64 {
		v, ok := left[name]
		if !ok {
			left["no "+name] = 0
			return 0
		}
		if !(v >= 0 && v <= most) {
			left[fmt.Sprintf("%s = %g, not within 0 to %g", name, v, most)] = 0
		}
		delete(left, name)
		return v
	}
	const most = 1 << 30
	p.CorpusRateMax = take("corpus_rate_max", 1)
	p.FileRateMax = take("file_rate_max", 1)
	p.FileEditsFree = int(take("file_edits_free", most))
	p.WorseThanGGMLMax = take("worse_than_ggml_max", 1)
	p.CorpusVsGGMLMax = take("corpus_vs_ggml_max", 1)
	p.FileVsGGMLMax = take("file_vs_ggml_max", 1)
	p.FixturesMin = int(take("fixtures_min", most))
	p.UnitsMin = int(take("units_min", most))
	if slices.ContainsFunc(strictThresholds, func(name string) bool { _, ok := thresholds[name]; return ok }) {
		p.Strict = &StrictPolicy{
			CorpusRateMax: take("strict_corpus_rate_max", 1), FileRateMax: take("strict_file_rate_max", 1),
			CorpusVsGGMLMax: take("strict_corpus_vs_ggml_max", 1), FileVsGGMLMax: take("strict_file_vs_ggml_max", 1),
		}
	}
	if len(left) > 0 {
		return Policy{}, fmt.Errorf("thresholds of a transcript policy: %s: expected exactly corpus_rate_max, file_rate_max, "+
			"file_edits_free, worse_than_ggml_max, corpus_vs_ggml_max, file_vs_ggml_max, fixtures_min, units_min, and all or none of %s",
			strings.Join(slices.Sorted(maps.Keys(left)), "; "), strings.Join(strictThresholds, ", "))
	}
	return p, nil
}

// fileEditsMax is the number of edits that a fixture of so many units may have.
func (p Policy) fileEditsMax(rate float64, units int) int {
	return p.FileEditsFree + int(rate*float64(units)+1e-9)
}
