package transcript

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// Report is the evidence of a transcript gate: one comparison a fixture. Its file is canonical JSON (RFC 8785).
type Report struct {
	Schema      int          `json:"schema"` // 1
	Comparisons []Comparison `json:"comparisons"`
}

// Encode gives the canonical bytes of a report, which must pass [Report.Check].
func (r *Report) Encode() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return strictjson.Canonical(r)
}

// DecodeReport reads the canonical bytes of a report and checks it.
func DecodeReport(data []byte) (*Report, error) {
	r := &Report{}
	if err := strictjson.DecodeCanonical(data, r); err != nil {
		return nil, fmt.Errorf("transcript report: %w", err)
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return r, nil
}

// Check compares the parts of a report: every count fits the sides that it is of, a private fixture shows nothing, and
// a public one's counts are those of its words, recounted.
func (r *Report) Check() error {
	if r.Schema != 1 {
		return fmt.Errorf("transcript report: schema is %d, expected 1", r.Schema)
	}
	probe := 0
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if err := c.check(); err != nil {
			return fmt.Errorf("transcript report: comparison %d: %w", i+1, err)
		}
		if c.Probe && probe > 0 {
			return fmt.Errorf("transcript report: comparisons %d and %d are both of the probe item, expected one at most", probe, i+1)
		}
		if c.Probe {
			probe = i + 1
		}
	}
	return nil
}

// maxName bounds the name of a public fixture, in bytes.
const maxName = 200

// NameError says what is wrong with a public fixture's name: it is printed, and must be one line of plain characters
// that leads to no place on a machine.
func NameError(name string) error {
	switch {
	case name == "":
		return errors.New("no fixture name")
	case len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }):
		return fmt.Errorf("fixture name %.*q: expected at most %d bytes of printable characters", maxName, name, maxName)
	case strings.ContainsAny(name[:1], `/\~`) || strings.Contains(name, "..") || len(name) > 1 && name[1] == ':':
		return fmt.Errorf("fixture name %q: expected a name, not a path", name)
	}
	return nil
}

func (c *Comparison) check() error {
	profile := ProfileFor(c.Language)
	if err := NameError(c.Fixture); err != nil {
		return err
	}
	switch {
	case c.Language != "unknown" && !languageName.MatchString(c.Language):
		return fmt.Errorf("language is %q, expected a code or name in lower case", c.Language)
	case c.Profile != profile.Name || c.Unit != profile.Unit:
		return fmt.Errorf("profile %q by %q, expected %q by %q for language %s", c.Profile, c.Unit, profile.Name, profile.Unit, c.Language)
	case c.Public != (c.Words != nil):
		return fmt.Errorf("public is %t, but words are kept is %t", c.Public, c.Words != nil)
	case (c.Origin == nil) != (c.Source == nil):
		return errors.New("a source side without its origin, or an origin without a side")
	}
	for _, d := range []struct{ name, value string }{{"audio_sha256", c.AudioSHA256}, {"model_sha256", c.ModelSHA256}} {
		if d.value != "" && !hexDigest.MatchString(d.value) {
			return fmt.Errorf("%s is %q, expected a SHA-256 in lower-case hexadecimal", d.name, d.value)
		}
	}
	if !c.Public && c.Fixture != neutralName(c.AudioSHA256) {
		return errors.New("a private fixture is called other than by its audio's digest")
	}
	for _, s := range []namedSide{{"source", c.Source}, {"ggml", c.GGML}, {"coreml", c.CoreML}, {"human", c.Human}} {
		if err := s.side.check(); err != nil {
			return fmt.Errorf("side %s: %w", s.name, err)
		}
	}
	for _, d := range c.deltas() {
		if err := d.check(c.Unit); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	if c.Words == nil {
		return nil
	}
	return c.recount()
}

func (s *Side) check() error {
	switch {
	case s == nil:
		return nil
	case !hexDigest.MatchString(s.TextSHA256), s.TooLong != (s.NormalizedSHA256 == ""), !s.TooLong && !hexDigest.MatchString(s.NormalizedSHA256):
		return errors.New("a digest is missing or no SHA-256 in lower-case hexadecimal")
	case s.StdoutSHA256 != "" && !hexDigest.MatchString(s.StdoutSHA256):
		return fmt.Errorf("stdout_sha256 is %q, expected a SHA-256 in lower-case hexadecimal", s.StdoutSHA256)
	case s.Units < 0, s.Characters < s.Units, s.TooLong && s.Characters > 0:
		return fmt.Errorf("%d units of %d characters", s.Units, s.Characters)
	case s.TooLong != (s.StrictSHA256 == ""), !s.TooLong && !hexDigest.MatchString(s.StrictSHA256), s.StrictUnits < 0:
		return errors.New("the strict form's digest or units are missing")
	}
	for _, l := range s.Loops {
		if l.Start < 0 || l.Period < 1 || l.Repeats < loopRepeats || l.Period > loopMaxPeriod || l.Repeats > s.Units || l.Start+l.Period*l.Repeats > s.Units {
			return fmt.Errorf("loop %+v in %d units", l, s.Units)
		}
	}
	return nil
}

// namedDelta is a delta with what it is of.
type namedDelta struct {
	name             string
	delta            *Delta
	ref, hyp         *Side
	refText, hypText func(*PublicWords) texts
}

func (c *Comparison) deltas() []namedDelta {
	source := func(w *PublicWords) texts { return texts{w.Source, w.Strict.Source} }
	ggml := func(w *PublicWords) texts { return texts{w.GGML, w.Strict.GGML} }
	coreml := func(w *PublicWords) texts { return texts{w.CoreML, w.Strict.CoreML} }
	human := func(w *PublicWords) texts { return texts{w.Human, w.Strict.Human} }
	return []namedDelta{
		{"coreml_source", c.CoreMLSource, c.Source, c.CoreML, source, coreml},
		{"coreml_ggml", c.CoreMLGGML, c.GGML, c.CoreML, ggml, coreml},
		{"ggml_source", c.GGMLSource, c.Source, c.GGML, source, ggml},
		{"coreml_human", c.CoreMLHuman, c.Human, c.CoreML, human, coreml},
		{"source_human", c.SourceHuman, c.Human, c.Source, human, source},
	}
}

func (d namedDelta) check(unit Unit) error {
	if d.ref == nil || d.hyp == nil || d.ref.TooLong || d.hyp.TooLong {
		if d.delta != nil {
			return errors.New("counts of a side that is not there")
		}
		return nil
	}
	if d.delta == nil {
		return errors.New("no counts, though both sides are there")
	}
	if err := d.delta.Units.check(d.ref.Units, d.hyp.Units); err != nil {
		return fmt.Errorf("units: %w", err)
	}
	if err := d.delta.Strict.check(d.ref.StrictUnits, d.hyp.StrictUnits); err != nil {
		return fmt.Errorf("strict: %w", err)
	}
	if most := max(d.ref.StrictUnits, d.hyp.StrictUnits); d.delta.Merged < 0 || d.delta.Merged > most {
		return fmt.Errorf("merged is %d, expected 0 to %d", d.delta.Merged, most)
	}
	if (d.delta.Characters != nil) != (unit == WordUnit) {
		return fmt.Errorf("characters are counted is %t for units of %ss", d.delta.Characters != nil, unit)
	}
	if d.delta.Characters != nil {
		if err := d.delta.Characters.check(d.ref.Characters, d.hyp.Characters); err != nil {
			return fmt.Errorf("characters: %w", err)
		}
	}
	return nil
}

func (c Counts) check(ref, hyp int) error {
	if min(c.Hits, c.Substitutions, c.Insertions, c.Deletions) < 0 {
		return fmt.Errorf("a negative count in %+v", c)
	}
	if e := editdist.Counts(c); e.Reference() != ref || e.Hypothesis() != hyp {
		return fmt.Errorf("%+v is of %d against %d, but the sides have %d and %d", c, e.Reference(), e.Hypothesis(), ref, hyp)
	}
	return nil
}

// recount compares a public fixture's digests and counts with its words.
func (c *Comparison) recount() error {
	w := c.Words
	for _, s := range []struct {
		name         string
		side         *Side
		text, strict string
	}{
		{"source", c.Source, w.Source, w.Strict.Source}, {"ggml", c.GGML, w.GGML, w.Strict.GGML},
		{"coreml", c.CoreML, w.CoreML, w.Strict.CoreML}, {"human", c.Human, w.Human, w.Strict.Human},
	} {
		switch {
		case s.side == nil || s.side.TooLong:
			if s.text != "" || s.strict != "" {
				return fmt.Errorf("words of side %s, which is not there", s.name)
			}
		case digest(s.text) != s.side.NormalizedSHA256, digest(s.strict) != s.side.StrictSHA256:
			return fmt.Errorf("words of side %s do not have its digest", s.name)
		case len(strings.Fields(s.text)) != s.side.Units, len(strings.Fields(s.strict)) != s.side.StrictUnits:
			return fmt.Errorf("side %s has %d units and %d in the strict form, its words are %d and %d", s.name, s.side.Units, s.side.StrictUnits, len(strings.Fields(s.text)), len(strings.Fields(s.strict)))
		}
	}
	profile, list, merged := ProfileFor(c.Language), []Aligned{}, [][2]string{}
	for i, d := range c.deltas() {
		got, shown := delta(profile, d.ref, d.hyp, d.refText(w), d.hypText(w))
		if !reflect.DeepEqual(got, d.delta) {
			return fmt.Errorf("%s is not what its words give", d.name)
		}
		if i == 0 && got != nil || i == 1 && c.CoreMLSource == nil && got != nil {
			list, merged = aligned(shown.published), append(merged, shown.merged...)
		}
	}
	if !reflect.DeepEqual(merged, w.Merged) {
		return errors.New("the merged words are not what the words give")
	}
	if !reflect.DeepEqual(list, w.Aligned) {
		return errors.New("the alignment is not what the words give")
	}
	return nil
}
