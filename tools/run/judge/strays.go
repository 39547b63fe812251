package judge

import (
	"fmt"
	"strconv"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/logtext"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// strays refuses a log that would pass and holds more than one run's lines in their places: a marker beside other text, in a
// face that is not seen, or said twice with two meanings. Whatever else fails is said first.
func (m markers) strays(f *verdict.Judgement, r *Run) {
	if f.Verdict != reason.Pass {
		return
	}
	for i, text := range r.Stderr {
		_, whole := whispercpp.ReadLine(text)
		for j, face := range logtext.Faces(text) {
			what := whispercpp.Stray(face)
			if _, marker := whispercpp.ReadLine(face); j > 0 && marker && !whole && what == "" {
				what = "a line of the program among characters that are not seen"
			}
			if what != "" {
				f.Add(reason.LogGarbled, fmt.Sprintf("stderr line %d", r.number(i)), "each line whole, as the program writes it, or a prefix that every line has", what+": "+quoteWhole(text))
				return
			}
		}
	}
	m.twice(f, r)
	m.emulated(f)
}

// twice refuses a second value of one name, and a count of samples that is none of the seconds beside it.
func (m markers) twice(f *verdict.Judgement, r *Run) {
	seen := map[string]bool{}
	for i, text := range r.Stderr {
		name := whispercpp.Setting(text)
		if name != "" && seen[name] {
			f.Add(reason.StaleLog, fmt.Sprintf("stderr line %d", r.number(i)), "one line "+strconv.Quote(name), "a second one: "+quote(text))
			return
		}
		seen[name] = true
	}
	for _, a := range m.exact[whispercpp.LineProcessing] {
		if p, ok := whispercpp.ReadProcessing(a.Text); ok && !p.Agree() {
			f.Add(reason.StaleLog, a.where(), "seconds that are the samples divided by 16000", quote(a.Text))
			return
		}
	}
}

// emulated refuses lines of what stands for Core ML that one loaded encoder, or one that failed to load, cannot leave: two
// that greet, of two kinds, a refusal beside a load marker, a greeting outside of the load.
func (m markers) emulated(f *verdict.Judgement) {
	var greeted *at
	name := ""
	for i, a := range m.exact[whispercpp.LineDouble] {
		if a.Value(0) == "" {
			continue
		}
		if greeted != nil {
			f.Add(reason.StaleLog, a.where(), "one greeting of what stands for Core ML", "a second one: "+quote(a.Text))
			return
		}
		greeted = &m.exact[whispercpp.LineDouble][i]
	}
	for _, kind := range []whispercpp.LineKind{whispercpp.LineDouble, whispercpp.LineDoubleCount, whispercpp.LineDoubleRefused} {
		for _, a := range m.exact[kind] {
			by := whispercpp.EmulatedBy(a.Text)
			if name != "" && by != name {
				f.Add(reason.StaleLog, a.where(), "lines of "+name+" alone", quote(a.Text))
				return
			}
			name = by
		}
	}
	if m.has(whispercpp.LineDoubleRefused) && m.has(whispercpp.LineLoaded) {
		f.Add(reason.StaleLog, m.where(whispercpp.LineDoubleRefused), "no refusal of an encoder that was loaded", m.quote(whispercpp.LineDoubleRefused))
		return
	}
	for _, a := range m.told[whispercpp.LinePredictionFailed] {
		if whispercpp.EmulatedBy(a.Text) != "" && m.has(whispercpp.LineContextError) {
			f.Add(reason.StaleLog, a.where(), "no prediction of an encoder that was not loaded", quote(a.Text))
			return
		}
	}
	if greeted == nil {
		return
	}
	loading, begun := m.first(whispercpp.LineLoading)
	for _, end := range []whispercpp.LineKind{whispercpp.LineLoaded, whispercpp.LineLoadFailed} {
		if ended, ok := m.first(end); ok && (greeted.index > ended.index || begun && greeted.index < loading.index) {
			f.Add(reason.StaleLog, greeted.where(), "a greeting between the lines that say that the encoder is being loaded and that it was, or was not", quote(greeted.Text))
			return
		}
	}
}
