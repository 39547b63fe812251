package judgements

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// Type is the type of a fact.
type Type string

// The types. JSON has one type for both kinds of numbers; a whole number has no part behind the point.
const (
	Text   Type = "text"
	Count  Type = "whole number"
	Number Type = "number"
	Truth  Type = "truth value"
)

// Presence says which passes have a fact.
type Presence string

// The presences. A judgement that does not pass may lack any fact: it ends where it finds something wrong.
const (
	Must     Presence = "always"
	May      Presence = "optional"
	Emulated Presence = "on the emulated lane"
	Physical Presence = "on the physical lane"
	// Never is a fact of judgements that do not pass.
	Never Presence = "in no pass"
)

// MaxText is the greatest length of a text that a judgement says, in characters.
const MaxText = 2048

// Form is what a text looks like.
type Form struct {
	// Says describes it for readers.
	Says string
	re   *regexp.Regexp
}

// Fact is one thing that a judgement says: what it may be in a pass. Two facts that must agree, or that a policy bounds, are
// compared by the CheckFacts of the package that judges; Also says so.
type Fact struct {
	Key  string
	Type Type
	In   Presence
	// Values are the only texts or truth values of a pass; none where Form, or the range, says it.
	Values []string
	Form   *Form
	// Least and Most are the range of a number.
	Least, Most float64
	// Says is what it means, and Also how it belongs together with other facts, with the policy, or with the receipt.
	Says, Also string
}

// Expected describes the values of a pass.
func (f *Fact) Expected() string {
	switch {
	case len(f.Values) > 0:
		return strings.Join(f.Values, " or ")
	case f.Form != nil:
		return f.Form.Says
	case f.Type == Count || f.Type == Number:
		return fmt.Sprintf("a %s from %s to %s", f.Type, bound(f.Least), bound(f.Most))
	case f.Type == Truth:
		return "true or false"
	}
	return "a text"
}

func bound(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%g", v)
}

// typed says whether a value has the fact's type.
func (f *Fact) typed(v any) bool {
	switch f.Type {
	case Text:
		text, ok := v.(string)
		return ok && utf8.ValidString(text) && utf8.RuneCountInString(text) <= MaxText
	case Truth:
		_, ok := v.(bool)
		return ok
	}
	n, ok := verdict.Number(v)
	return ok && !math.IsNaN(n) && !math.IsInf(n, 0) && (f.Type == Number || n == math.Trunc(n))
}

// allows says whether a pass may have a value, which has the fact's type.
func (f *Fact) allows(v any) bool {
	switch {
	case len(f.Values) > 0:
		return slices.Contains(f.Values, fmt.Sprint(v))
	case f.Form != nil:
		return f.Form.re.MatchString(v.(string))
	case f.Type == Count || f.Type == Number:
		n, _ := verdict.Number(v)
		return n >= f.Least && n <= f.Most && !(n == 0 && math.Signbit(n))
	}
	return true
}

// on says whether a pass on a lane must have the fact, and whether it may.
func (f *Fact) on(lane string) (must, may bool) {
	switch f.In {
	case Must:
		return true, true
	case May:
		return false, true
	case Emulated, Physical:
		own := string(f.In) == "on the "+lane+" lane"
		return own, own
	}
	return false, false
}

// Fact finds a fact of a judgement by its key; nil for one that is not in the list.
func (k Kind) Fact(key string) *Fact { return find(k.Facts, key) }

func find(list []Fact, key string) *Fact {
	i := slices.IndexFunc(list, func(f Fact) bool { return f.Key == key })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// CheckFacts compares the facts of a judgement, and the codes of its notes, with its lists and returns what is wrong, in the order of keys. Of any verdict:
// a fact that the list does not have, or one of another type. Of a pass also one that is missing, that a pass on this lane
// does not have, or that is outside its values.
func (k Kind) CheckFacts(j *verdict.Judgement, lane string) []reason.Reason {
	r := verdict.ReadFacts(j)
	pass := j.Verdict == reason.Pass
	keys := slices.Collect(maps.Keys(j.Facts))
	if pass {
		for i := range k.Facts {
			if must, _ := k.Facts[i].on(lane); must {
				keys = append(keys, k.Facts[i].Key)
			}
		}
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		f := k.Fact(key)
		v, given := j.Facts[key]
		if f == nil {
			r.Fail(key, "no such fact: docs/facts.md lists those of "+k.Name, Shown(v))
			continue
		}
		_, may := f.on(lane)
		switch {
		case !given:
			r.Fail(key, f.Expected(), "no such fact")
		case !f.typed(v):
			r.Fail(key, f.kind(), Shown(v))
		case pass && !may:
			r.Fail(key, "no such fact in a pass of this lane: "+string(f.In), Shown(v))
		case pass && !f.allows(v):
			r.Fail(key, f.Expected(), Shown(v))
		}
	}
	for _, n := range j.Notes {
		if !slices.Contains(k.Notes, n.Code) {
			r.Fail("notes", "no note but those that docs/facts.md lists for "+k.Name, n.Code)
			continue
		}
		for _, text := range []string{n.Where, n.Expected, n.Found} {
			if utf8.RuneCountInString(text) > MaxText {
				r.Fail("notes", fmt.Sprintf("texts of at most %d characters", MaxText), n.Code+" with "+Shown(text))
			}
		}
	}
	return r.Wrong
}

// kind describes the type for a value of another one.
func (f *Fact) kind() string {
	if f.Type == Text {
		return fmt.Sprintf("a text of at most %d characters", MaxText)
	}
	return "a " + string(f.Type)
}

// Shown is a value for a message: its type, where that is not seen, and no more of it than a reader takes in.
func Shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return "an empty text"
		}
		if runes := []rune(v); len(runes) > 160 {
			return fmt.Sprintf("%q… of %d characters", string(runes[:160]), len(runes))
		}
		return fmt.Sprintf("%q", v)
	case bool, float64, int, int64:
		return fmt.Sprint(v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return fmt.Sprintf("a value of type %T", v)
}

// CheckMembers compares members of a receipt that are texts by key (lane_identity, toolchain) with their list: the first of
// them, by key, that is missing, unknown or outside its values, as an error that names it.
func CheckMembers(list []Fact, where string, members map[string]string) error {
	keys := slices.Collect(maps.Keys(members))
	for i := range list {
		if list[i].In == Must {
			keys = append(keys, list[i].Key)
		}
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		f, found := find(list, key), "nothing"
		v, given := members[key]
		if given {
			found = Shown(v)
		}
		switch {
		case f == nil:
			return fmt.Errorf("%s has the member %s (%s), expected those that docs/facts.md lists", where, key, found)
		case !given, !f.typed(v), !f.allows(v):
			return fmt.Errorf("%s.%s is %s, expected %s", where, key, found, f.Expected())
		}
	}
	return nil
}
