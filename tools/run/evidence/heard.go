package evidence

import (
	"fmt"
	"regexp"
)

// Heard says how the words on stdout differ from reference words, where the words themselves may not be kept. It holds
// counts, positions and keyed digests: who has neither the recording nor the reference learns no word from it.
// Package tools/words/agreement writes and reads it.
type Heard struct {
	// ReferenceSHA256 is of the reference text's bytes.
	ReferenceSHA256 string `json:"reference_sha256"`
	// Profile names the normalisation, e.g. "english/2".
	Profile string `json:"profile"`
	// ReferenceUnits and Units count the reference's units and the run's: words, or grapheme clusters.
	ReferenceUnits int `json:"reference_units"`
	Units          int `json:"units"`
	// Edits turn the reference into what was heard, from left to right; nil where TooMany.
	Edits []HeardEdit `json:"edits"`
	// TooMany says that there are more than MaxHeardEdits.
	TooMany bool `json:"too_many"`
}

// MaxHeardEdits bounds the edits that evidence keeps.
const MaxHeardEdits = 1000

// HeardEdit is one place at which a run differs from the reference.
type HeardEdit struct {
	// Start and End are the units of the reference that are not there: Start = End where units were only added.
	Start int `json:"start"`
	End   int `json:"end"`
	// Heard has a digest for each unit that is there instead: the first 16 hexadecimal digits of an HMAC-SHA-256
	// whose key is derived from the recording's bytes.
	Heard []string `json:"heard"`
}

var heardDigest = regexp.MustCompile(`^[0-9a-f]{16}$`)

// check says what is wrong with a Heard that was read.
func (h *Heard) check() error {
	if !hexDigest.MatchString(h.ReferenceSHA256) {
		return fmt.Errorf("heard: reference_sha256 is %q, expected a SHA-256 in lower-case hexadecimal", h.ReferenceSHA256)
	}
	if h.ReferenceUnits < 0 || h.Units < 0 || h.TooMany && len(h.Edits) > 0 || len(h.Edits) > MaxHeardEdits {
		return fmt.Errorf("heard: %d units against %d with %d edits, too_many %t, is not possible", h.Units, h.ReferenceUnits, len(h.Edits), h.TooMany)
	}
	last, units := 0, h.ReferenceUnits
	for i, e := range h.Edits {
		if e.Start < last || e.End < e.Start || e.End > h.ReferenceUnits || e.Start == e.End && len(e.Heard) == 0 {
			return fmt.Errorf("heard: edit %d is of units %d to %d with %d in their place, after unit %d of %d", i+1, e.Start, e.End, len(e.Heard), last, h.ReferenceUnits)
		}
		for _, d := range e.Heard {
			if !heardDigest.MatchString(d) {
				return fmt.Errorf("heard: edit %d has the digest %q, expected 16 hexadecimal digits", i+1, d)
			}
		}
		last, units = e.End, units-(e.End-e.Start)+len(e.Heard)
	}
	if !h.TooMany && units != h.Units {
		return fmt.Errorf("heard: the edits give %d units, but units is %d", units, h.Units)
	}
	return nil
}
