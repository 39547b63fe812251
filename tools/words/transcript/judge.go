package transcript

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// Judgement is the answer on a set of fixtures.
type Judgement struct {
	verdict.Findings
	// Provisional says that the evidence is thinner than the policy wants; the notes say where.
	Provisional bool
	Totals      Totals
}

// Totals are the counts over all fixtures that could be compared.
type Totals struct {
	Fixtures     int
	CoreMLSource Counts // over fixtures with a source
	GGMLSource   Counts // over the same
	CoreMLGGML   Counts // over all
	// The same of the strict form.
	StrictCoreMLSource Counts
	StrictCoreMLGGML   Counts
}

// Rate is the error rate of c, see the function [Rate].
func (c Counts) Rate() float64 { return Rate(editdist.Counts(c)) }

// Edits is the number of substitutions, insertions and deletions.
func (c Counts) Edits() int { return editdist.Counts(c).Edits() }

// Reference is the number of units of the reference.
func (c Counts) Reference() int { return editdist.Counts(c).Reference() }

func (c *Counts) add(more Counts) {
	*c = Counts(editdist.Counts(*c).Add(editdist.Counts(more)))
}

// Judge applies a policy to comparisons. It is a pure function of them.
func Judge(comparisons []Comparison, p Policy) Judgement {
	j := judging{Judgement: Judgement{Findings: verdict.New()}, policy: p}
	if len(comparisons) == 0 {
		j.Add(reason.WordsNoFixtures, "fixtures", "at least one fixture", "none")
	}
	probes := 0
	seen := map[[2]string]string{}
	for i := range comparisons {
		c := &comparisons[i]
		if first, again := seen[c.heard()]; again && c.AudioSHA256 != "" {
			j.Add(reason.WordsDuplicate, c.Fixture, "each recording once", "the audio of "+first)
		}
		seen[c.heard()] = c.Fixture
		// That all sides hear nothing where nothing is said tells nothing of them.
		if c.Probe && (!c.Silence || c.CoreML != nil && c.CoreML.Units > 0) {
			probes++
		}
		j.fixture(c)
	}
	j.corpus(probes)
	for _, n := range j.Notes {
		j.Provisional = j.Provisional || strings.HasPrefix(n.Code, "WORDS_PROVISIONAL")
	}
	return j.Judgement
}

// heard is what makes a recording one of its own.
func (c *Comparison) heard() [2]string { return [2]string{c.AudioSHA256, languageCode(c.Language)} }

// judging collects what is found while fixtures are read.
type judging struct {
	Judgement
	policy Policy
}

// fixture judges one fixture and adds it to the totals if it could be compared.
func (j *judging) fixture(c *Comparison) {
	if c.GGML == nil || c.CoreML == nil {
		j.Add(reason.WordsSideMissing, c.Fixture, "a ggml run and a Core ML run", missing(c))
		return
	}
	for _, u := range c.Unlike {
		j.Add(reason.WordsSidesUnlike, c.Fixture, "the same on all sides", u)
	}
	for _, n := range c.Nondeterminism {
		j.Add(reason.WordsNondeterministic, c.Fixture, "decoding that repeats itself", n)
	}
	for _, d := range c.Decoding {
		j.Add(reason.WordsDecodingDiffers, c.Fixture, "the same setting in source and run", d)
	}
	if c.Source == nil {
		j.Add(reason.WordsProvisionalSource, c.Fixture, "a transcript of the source model", "none")
	}
	whole := j.sides(c)
	if len(c.Unlike) > 0 {
		return
	}
	j.emptiness(c)
	j.loops(c)
	if !whole || c.CoreMLGGML == nil {
		return
	}
	j.Totals.Fixtures++
	j.Totals.CoreMLGGML.add(c.CoreMLGGML.Units)
	j.Totals.StrictCoreMLGGML.add(c.CoreMLGGML.Strict)
	if c.CoreMLSource != nil && c.GGMLSource != nil {
		j.Totals.CoreMLSource.add(c.CoreMLSource.Units)
		j.Totals.StrictCoreMLSource.add(c.CoreMLSource.Strict)
		j.Totals.GGMLSource.add(c.GGMLSource.Units)
	}
	j.probe(c)
	j.rates(c)
	j.strictRates(c)
}

func missing(c *Comparison) string {
	switch {
	case c.GGML == nil && c.CoreML == nil:
		return "neither"
	case c.GGML == nil:
		return "no ggml run"
	}
	return "no Core ML run"
}

type namedSide struct {
	name string
	side *Side
}

func (c *Comparison) sides() []namedSide {
	all := []namedSide{{"source", c.Source}, {"ggml", c.GGML}, {"coreml", c.CoreML}}
	present := all[:0]
	for _, s := range all {
		if s.side != nil {
			present = append(present, s)
		}
	}
	return present
}

// sides reports whether every side is whole, that is: processed its audio and was not cut.
func (j *judging) sides(c *Comparison) bool {
	whole := true
	for _, s := range c.sides() {
		where := c.Fixture + ", " + s.name
		switch {
		case !s.side.Processed:
			j.Add(reason.WordsNoAudio, where, "audio that was processed", "no sign of it in the log")
		case s.side.TooLong:
			j.Add(reason.WordsTooLong, where, fmt.Sprintf("at most %d bytes", MaxTextBytes), "more")
		case s.side.Truncated:
			j.Add(reason.WordsTruncated, where, "the whole text", "a text that was cut")
		default:
			continue
		}
		whole = false
	}
	return whole
}

// emptiness judges texts without words, where rates say little.
func (j *judging) emptiness(c *Comparison) {
	most, least := 0, c.CoreML.Units // over the other sides
	first := true
	for _, s := range c.sides() {
		if s.name == "coreml" || s.side.TooLong {
			continue
		}
		if first {
			most, least, first = s.side.Units, s.side.Units, false
		}
		most, least = max(most, s.side.Units), min(least, s.side.Units)
	}
	switch {
	case c.CoreML.Units == 0 && !c.Silence && !c.CoreML.TooLong:
		j.Add(reason.WordsCoreMLEmpty, c.Fixture, "words, as in a recording that is not declared silent", noneBut(most, c.Unit))
	case c.Silence && c.CoreML.Units > 0 && least == 0:
		j.Add(reason.WordsInSilence, c.Fixture, "no words, as another side has it", plural(c.CoreML.Units, string(c.Unit)))
	case c.Silence && c.CoreML.Units > 0:
		j.Add(reason.WordsSilenceUpstream, c.Fixture, "no words", "words on all sides")
	}
}

// noneBut says that one side is empty, and what the others have.
func noneBut(most int, unit Unit) string {
	if most == 0 {
		return "none on any side"
	}
	return fmt.Sprintf("none, where another side has %s", plural(most, string(unit)))
}

// loops names repetition loops. The Core ML side's are a fault if it repeats more than each other side does.
func (j *judging) loops(c *Comparison) {
	others := 0
	for _, s := range c.sides() {
		if s.name == "coreml" || len(s.side.Loops) == 0 {
			continue
		}
		others = max(others, loopUnitsIn(s.side.Loops))
		j.Add(reason.WordsLoop, c.Fixture+", "+s.name, "no phrase without end", describeLoops(s.side.Loops, c.Unit))
	}
	if loopUnitsIn(c.CoreML.Loops) > others {
		j.Add(reason.WordsCoreMLLoop, c.Fixture+", coreml", "no phrase without end", describeLoops(c.CoreML.Loops, c.Unit))
	}
}

func describeLoops(loops []Loop, unit Unit) string {
	var parts []string
	for i, l := range loops {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(loops)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d times from %s %d on", plural(l.Period, string(unit)), l.Repeats, unit, l.Start+1))
	}
	return strings.Join(parts, "; ")
}

// probe demands the same words from all sides.
func (j *judging) probe(c *Comparison) {
	if !c.Probe {
		return
	}
	if c.GGMLSource != nil && c.GGMLSource.Units.Edits() > 0 {
		j.Add(reason.WordsProbeSides, c.Fixture, "ggml and source agree on the probe item", describe(c.GGMLSource.Units))
		return
	}
	if c.CoreMLGGML.Units.Edits() > 0 {
		j.Add(reason.WordsProbeCoreML, c.Fixture, "the words of ggml and source", describe(c.CoreMLGGML.Units))
	}
}

// rates compares one fixture's edits with the ceilings and says which side made them.
func (j *judging) rates(c *Comparison) {
	over := func(d *Delta, rate float64) bool {
		return d != nil && d.Units.Edits() > j.policy.fileEditsMax(rate, d.Units.Reference())
	}
	allowed := func(d *Delta, rate float64) string {
		return fmt.Sprintf("at most %s", plural(j.policy.fileEditsMax(rate, d.Units.Reference()), "edit"))
	}
	if over(c.CoreMLSource, j.policy.FileRateMax) {
		j.Add(reason.WordsFileRate, c.Fixture, allowed(c.CoreMLSource, j.policy.FileRateMax), describe(c.CoreMLSource.Units)+"; "+c.cause())
	}
	if over(c.CoreMLGGML, j.policy.FileVsGGMLMax) {
		j.Add(reason.WordsCoreMLChanged, c.Fixture, allowed(c.CoreMLGGML, j.policy.FileVsGGMLMax), describe(c.CoreMLGGML.Units))
	}
	if over(c.GGMLSource, j.policy.FileRateMax) {
		j.Add(reason.WordsConversionChanged, c.Fixture, allowed(c.GGMLSource, j.policy.FileRateMax), describe(c.GGMLSource.Units))
	}
}

// strictRates bounds one fixture's edits in the strict form and names what the published rules hide.
func (j *judging) strictRates(c *Comparison) {
	for _, d := range []struct {
		delta *Delta
		code  string
		with  string
		rate  func(*StrictPolicy) float64
	}{
		{c.CoreMLSource, reason.WordsStrictRate, "the source", func(p *StrictPolicy) float64 { return p.FileRateMax }},
		{c.CoreMLGGML, reason.WordsStrictChanged, "ggml", func(p *StrictPolicy) float64 { return p.FileVsGGMLMax }},
	} {
		if d.delta == nil {
			continue
		}
		if d.delta.Merged > 0 {
			j.Add(reason.WordsMerged, c.Fixture, "no different words under one published form",
				fmt.Sprintf("%s against %s%s", plural(d.delta.Merged, string(c.Unit)), d.with, c.mergedShown(d.delta)))
		}
		if j.policy.Strict == nil {
			continue
		}
		most := j.policy.fileEditsMax(d.rate(j.policy.Strict), d.delta.Strict.Reference())
		if d.delta.Strict.Edits() > most {
			j.Add(d.code, c.Fixture, fmt.Sprintf("at most %s in the strict form", plural(most, "edit")), describe(d.delta.Strict))
		}
	}
}

// mergedShown lists the words that the published rules merge, of a public fixture and of the delta that its words show.
func (c *Comparison) mergedShown(d *Delta) string {
	shown := c.CoreMLSource
	if shown == nil {
		shown = c.CoreMLGGML
	}
	if c.Words == nil || d != shown {
		return ""
	}
	var pairs []string
	for _, pair := range c.Words.Merged[:min(len(c.Words.Merged), 3)] {
		pairs = append(pairs, fmt.Sprintf("%q and %q", pair[0], pair[1]))
	}
	return ": " + strings.Join(pairs, ", ")
}

// cause tells "Core ML changed the answer" from "conversion was already wrong".
func (c *Comparison) cause() string {
	conversion, core := c.GGMLSource.Units.Edits() > 0, c.CoreMLGGML.Units.Edits() > 0
	switch {
	case core && !conversion:
		return "ggml agrees with the source: Core ML changed the answer"
	case conversion && !core:
		return "ggml wrote the same: the conversion was already wrong"
	}
	return fmt.Sprintf("ggml has %s against the source and %s against Core ML: both changed it",
		plural(c.GGMLSource.Units.Edits(), "edit"), plural(c.CoreMLGGML.Units.Edits(), "edit"))
}

// corpus compares the totals with the policy.
func (j *judging) corpus(probes int) {
	if probes == 0 {
		j.Add(reason.WordsProvisionalProbe, "fixtures", "a fixture with speech, marked as probe", "none")
	}
	t := Corpus{
		Recordings: j.Totals.Fixtures, Units: j.Totals.CoreMLGGML.Reference(),
		CoreMLSource: j.Totals.CoreMLSource.Rate(), GGMLSource: j.Totals.GGMLSource.Rate(), CoreMLGGML: j.Totals.CoreMLGGML.Rate(),
		StrictCoreMLSource: j.Totals.StrictCoreMLSource.Rate(), StrictCoreMLGGML: j.Totals.StrictCoreMLGGML.Rate(),
	}
	for _, r := range t.Judge(j.policy) {
		switch r.Code {
		case reason.WordsCorpusRate:
			r.Found = describe(j.Totals.CoreMLSource)
		case reason.WordsWorseThanGGML:
			r.Found += fmt.Sprintf(": hybrid %s, ggml %s", describe(j.Totals.CoreMLSource), describe(j.Totals.GGMLSource))
		case reason.WordsCoreMLChangedCorpus:
			r.Found = describe(j.Totals.CoreMLGGML)
		case reason.WordsStrictRate:
			r.Found = describe(j.Totals.StrictCoreMLSource)
		case reason.WordsStrictChanged:
			r.Found = describe(j.Totals.StrictCoreMLGGML)
		}
		j.AddReason(r)
	}
}

func describe(c Counts) string {
	return fmt.Sprintf("%s in %d units (rate %.4f)", plural(c.Edits(), "edit"), c.Reference(), c.Rate())
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
