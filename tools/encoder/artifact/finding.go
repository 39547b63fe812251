package artifact

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// effect is what a finding keeps from being looked at. It is stated where the finding is made: what comes next follows
// from it, and not from a finding's code or words.
type effect uint8

const (
	// closed: the contents are not opened.
	closed effect = 1 << iota
	// unread: the artifact cannot be read whole.
	unread
	// unpaired: its program and weights cannot be held against the model's.
	unpaired
	// unfed: its interface is another, so that the program cannot be fed a mel.
	unfed
)

// finding is a reason and its effect.
type finding struct {
	reason.Reason
	effect effect
}

// findings are what was found wrong, in order.
type findings []finding

func (f *findings) add(effect effect, code, where, expected, found string) {
	*f = append(*f, finding{reason.Reason{Code: code, Where: where, Expected: expected, Found: found}, effect})
}

// fault adds a finding that keeps nothing from being looked at.
func (f *findings) fault(code, where, expected, found string) { f.add(0, code, where, expected, found) }

// stop adds a finding with an effect.
func (f *findings) stop(effect effect, code, where, expected, found string) {
	f.add(effect, code, where, expected, found)
}

// has reports whether a finding has one of the effects.
func (f findings) has(effects effect) bool {
	return slices.ContainsFunc(f, func(x finding) bool { return x.effect&effects != 0 })
}

// reasons are the findings of one of the effects; 0 stands for all.
func (f findings) reasons(effects effect) []reason.Reason {
	var list []reason.Reason
	for _, x := range f {
		if effects == 0 || x.effect&effects != 0 {
			list = append(list, x.Reason)
		}
	}
	return list
}
