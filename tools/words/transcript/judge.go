package transcript

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// Judgement is the answer on a set of fixtures.
type Judgement struct {
	Verdict reason.Verdict
	// Provisional says that the evidence is thinner than the policy wants; the notes say where.
	Provisional bool
	Reasons     []reason.Reason
	Notes       []reason.Reason
	Totals      Totals
}

// Totals are the counts over all fixtures that could be compared.
type Totals struct {
	Fixtures     int
	CoreMLSource Counts // over fixtures with a source
	GGMLSource   Counts // over the same
	CoreMLGGML   Counts // over all
}

// Rate is the error rate of c, see the function [Rate].
func (c Counts) Rate() float64 { return Rate(editdist.Counts(c)) }

// Edits is the number of substitutions, insertions and deletions.
func (c Counts) Edits() int { return editdist.Counts(c).Edits() }

// Reference is the number of units of the reference.
func (c Counts) Reference() int { return editdist.Counts(c).Reference() }

func (c *Counts) add(d *Delta) {
	*c = Counts(editdist.Counts(*c).Add(editdist.Counts(d.Units)))
}

// Judge applies a policy to comparisons. It is a pure function of them.
func Judge(comparisons []Comparison, p Policy) Judgement {
	j := judging{policy: p}
	if len(comparisons) == 0 {
		j.add("WORDS_NO_FIXTURES", "at least one fixture", "none", "fixtures")
	}
	probes := 0
	seen := map[[2]string]string{}
	for i := range comparisons {
		c := &comparisons[i]
		if first, again := seen[c.heard()]; again && c.AudioSHA256 != "" {
			j.add("WORDS_DUPLICATE", "each recording once", "the audio of "+first, c.Fixture)
		}
		seen[c.heard()] = c.Fixture
		// That all sides hear nothing where nothing is said tells nothing of them.
		if c.Probe && (!c.Silence || c.CoreML != nil && c.CoreML.Units > 0) {
			probes++
		}
		j.fixture(c)
	}
	j.corpus(probes)
	return Judgement{
		Verdict: Reasons.Verdict(j.reasons), Provisional: j.provisional,
		Reasons: append([]reason.Reason{}, j.reasons...), Notes: append([]reason.Reason{}, j.notes...), Totals: j.totals,
	}
}

// heard is what makes a recording one of its own.
func (c *Comparison) heard() [2]string { return [2]string{c.AudioSHA256, languageCode(c.Language)} }

// judging collects what is found while fixtures are read.
type judging struct {
	policy      Policy
	reasons     []reason.Reason
	notes       []reason.Reason
	provisional bool
	totals      Totals
}

func (j *judging) add(code, expected, found, where string) {
	r := reason.Reason{Code: code, Expected: expected, Found: found, Where: where}
	d, _ := Reasons.Lookup(code)
	if d.Class != reason.Note {
		j.reasons = append(j.reasons, r)
		return
	}
	j.notes = append(j.notes, r)
	if strings.HasPrefix(code, "WORDS_PROVISIONAL") {
		j.provisional = true
	}
}

// fixture judges one fixture and adds it to the totals if it could be compared.
func (j *judging) fixture(c *Comparison) {
	if c.GGML == nil || c.CoreML == nil {
		j.add("WORDS_SIDE_MISSING", "a ggml run and a Core ML run", missing(c), c.Fixture)
		return
	}
	for _, u := range c.Unlike {
		j.add("WORDS_SIDES_UNLIKE", "the same on all sides", u, c.Fixture)
	}
	for _, n := range c.Nondeterminism {
		j.add("WORDS_NONDETERMINISTIC", "decoding that repeats itself", n, c.Fixture)
	}
	for _, d := range c.Decoding {
		j.add("WORDS_DECODING_DIFFERS", "the same setting in source and run", d, c.Fixture)
	}
	if c.Source == nil {
		j.add("WORDS_PROVISIONAL_SOURCE", "a transcript of the source model", "none", c.Fixture)
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
	j.totals.Fixtures++
	j.totals.CoreMLGGML.add(c.CoreMLGGML)
	if c.CoreMLSource != nil && c.GGMLSource != nil {
		j.totals.CoreMLSource.add(c.CoreMLSource)
		j.totals.GGMLSource.add(c.GGMLSource)
	}
	j.probe(c)
	j.rates(c)
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
			j.add("WORDS_NO_AUDIO", "audio that was processed", "no sign of it in the log", where)
		case s.side.TooLong:
			j.add("WORDS_TOO_LONG", fmt.Sprintf("at most %d bytes", MaxTextBytes), "more", where)
		case s.side.Truncated:
			j.add("WORDS_TRUNCATED", "the whole text", "a text that was cut", where)
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
		j.add("WORDS_COREML_EMPTY", "words, as in a recording that is not declared silent", noneBut(most, c.Unit), c.Fixture)
	case c.Silence && c.CoreML.Units > 0 && least == 0:
		j.add("WORDS_IN_SILENCE", "no words, as another side has it", plural(c.CoreML.Units, string(c.Unit)), c.Fixture)
	case c.Silence && c.CoreML.Units > 0:
		j.add("WORDS_SILENCE_UPSTREAM", "no words", "words on all sides", c.Fixture)
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
		j.add("WORDS_LOOP", "no phrase without end", describeLoops(s.side.Loops, c.Unit), c.Fixture+", "+s.name)
	}
	if loopUnitsIn(c.CoreML.Loops) > others {
		j.add("WORDS_COREML_LOOP", "no phrase without end", describeLoops(c.CoreML.Loops, c.Unit), c.Fixture+", coreml")
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
		j.add("WORDS_PROBE_SIDES", "ggml and source agree on the probe item", describe(c.GGMLSource.Units), c.Fixture)
		return
	}
	if c.CoreMLGGML.Units.Edits() > 0 {
		j.add("WORDS_PROBE_COREML", "the words of ggml and source", describe(c.CoreMLGGML.Units), c.Fixture)
	}
}

// rates holds one fixture's edits against the ceilings and says which side made them.
func (j *judging) rates(c *Comparison) {
	over := func(d *Delta, rate float64) bool {
		return d != nil && d.Units.Edits() > j.policy.fileEditsMax(rate, d.Units.Reference())
	}
	allowed := func(d *Delta, rate float64) string {
		return fmt.Sprintf("at most %s", plural(j.policy.fileEditsMax(rate, d.Units.Reference()), "edit"))
	}
	if over(c.CoreMLSource, j.policy.FileRateMax) {
		j.add("WORDS_FILE_RATE", allowed(c.CoreMLSource, j.policy.FileRateMax), describe(c.CoreMLSource.Units)+"; "+c.cause(), c.Fixture)
	}
	if over(c.CoreMLGGML, j.policy.FileVsGGMLMax) {
		j.add("WORDS_COREML_CHANGED", allowed(c.CoreMLGGML, j.policy.FileVsGGMLMax), describe(c.CoreMLGGML.Units), c.Fixture)
	}
	if over(c.GGMLSource, j.policy.FileRateMax) {
		j.add("WORDS_CONVERSION_CHANGED", allowed(c.GGMLSource, j.policy.FileRateMax), describe(c.GGMLSource.Units), c.Fixture)
	}
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

// corpus holds the totals against the policy.
func (j *judging) corpus(probes int) {
	p, t := j.policy, j.totals
	if probes == 0 {
		j.add("WORDS_PROVISIONAL_PROBE", "a fixture with speech, marked as probe", "none", "fixtures")
	}
	if units := t.CoreMLGGML.Reference(); t.Fixtures < p.FixturesMin || units < p.UnitsMin {
		j.add("WORDS_PROVISIONAL_FEW", fmt.Sprintf("%s with %s", plural(p.FixturesMin, "fixture"), plural(p.UnitsMin, "unit")),
			fmt.Sprintf("%d with %d", t.Fixtures, units), "fixtures")
	}
	if r := t.CoreMLSource.Rate(); r > p.CorpusRateMax {
		j.add("WORDS_CORPUS_RATE", fmt.Sprintf("a rate of at most %g", p.CorpusRateMax), describe(t.CoreMLSource), "all fixtures")
	}
	if worse := t.CoreMLSource.Rate() - t.GGMLSource.Rate(); worse > p.WorseThanGGMLMax {
		j.add("WORDS_WORSE_THAN_GGML", fmt.Sprintf("a rate at most %g above ggml's", p.WorseThanGGMLMax),
			fmt.Sprintf("%.4f above: hybrid %s, ggml %s", worse, describe(t.CoreMLSource), describe(t.GGMLSource)), "all fixtures")
	}
	if r := t.CoreMLGGML.Rate(); r > p.CorpusVsGGMLMax {
		j.add("WORDS_COREML_CHANGED_CORPUS", fmt.Sprintf("a rate of at most %g", p.CorpusVsGGMLMax), describe(t.CoreMLGGML), "all fixtures")
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
