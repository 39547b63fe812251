package agreement

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// Facts of the judgement.
const (
	factReferenceWords = "reference_words"
	factReferenceRate  = "reference_rate"
	factEncodersEdits  = "encoders_edits"
)

// wordsFact and editsFact are the facts of one side, "coreml" or "contrast".
func wordsFact(side string) string { return side + "_words" }
func editsFact(side string) string { return side + "_edits" }

// Limits are the thresholds of a policy of kind "gate".
type Limits struct {
	// EncodersEditsFree and EncodersRateMax bound the edits between the two encoders: edits that are free, and a rate
	// of ggml's words beyond.
	EncodersEditsFree int
	EncodersRateMax   float64
	// ReferenceRateMax bounds the rate of the Core ML run's edits against the reference words.
	ReferenceRateMax float64
}

// EncodersEditsMax is how many edits may lie between the encoders where ggml's wrote so many words.
func (l Limits) EncodersEditsMax(words int) int {
	return l.EncodersEditsFree + int(l.EncodersRateMax*float64(words)+1e-9)
}

// ReferenceRate is the error rate of edits against a reference of at least one word, and whether it is within the limit.
func (l Limits) ReferenceRate(edits, words int) (rate float64, within bool) {
	rate = float64(edits) / float64(words)
	return rate, rate <= l.ReferenceRateMax
}

// LimitsOf reads a policy, which must be of kind "gate" and have every threshold.
func LimitsOf(p *policy.Policy) (l Limits, err error) {
	if p.Kind != judge.PolicyKind {
		return l, fmt.Errorf("policy %s is of kind %s, expected %s", p.Name, p.Kind, judge.PolicyKind)
	}
	free := 0.0
	for _, t := range []struct {
		name  string
		value *float64
		most  float64
	}{{"encoders_rate_max", &l.EncodersRateMax, 1}, {"encoders_edits_free", &free, 1000}, {"reference_rate_max", &l.ReferenceRateMax, 1}} {
		if *t.value, err = p.Threshold(t.name); err != nil {
			return l, err
		}
		if !(*t.value >= 0 && *t.value <= t.most) {
			return l, fmt.Errorf("policy %s: %s is %g, expected 0 to %g", p.Name, t.name, *t.value, t.most)
		}
	}
	l.EncodersEditsFree = int(free)
	return l, nil
}

// Judge judges the words of the Core ML run and of the contrast run under a policy of kind "gate". reference is the text
// that a person wrote down.
func Judge(coreml, contrast *evidence.Evidence, reference string, p *policy.Policy) (*verdict.Judgement, error) {
	l, err := LimitsOf(p)
	if err != nil {
		return nil, err
	}
	j := verdict.NewJudgement(judge.Transcript)
	language := ""
	for _, side := range []struct {
		name string
		e    *evidence.Evidence
	}{{"coreml", coreml}, {"contrast", contrast}} {
		if side.e == nil {
			j.Add(reason.EvidenceMissing, side.name, "evidence of the "+side.name+" run", "none")
			continue
		}
		if side.e.Stdout.Truncated {
			j.Add(reason.LogTruncated, side.name+" stdout", "stdout to its end", "a cut stream")
		}
		d, err := whispercpp.ReadDecoding(side.e.Argv[min(1, len(side.e.Argv)):])
		if err != nil {
			j.Add(reason.NondeterministicDecode, side.name+" argv", "a command line that can be read", err.Error())
			continue
		}
		for _, cause := range d.Nondeterminism() {
			j.Add(reason.NondeterministicDecode, side.name+" argv", "decoding that repeats itself", cause)
		}
		if side.name == "coreml" {
			language = d.Language
		}
	}
	profile := transcript.ProfileFor(language)
	want := profile.Units(reference)
	j.Facts[factReferenceWords] = len(want)
	switch found := notPlain(reference); {
	case found != "":
		j.Add(reason.ReferenceText, "reference", "the words of the recording and nothing else, in UTF-8", found)
	case len(want) == 0:
		j.Add(reason.EvidenceMissing, "reference", "reference words", "none")
	}
	if j.Verdict != reason.Failed {
		heard := sideOf(j, "coreml", coreml, profile, want, reference)
		ggml := sideOf(j, "contrast", contrast, profile, want, reference)
		if heard != nil && ggml != nil {
			l.between(j, heard, ggml)
			l.reference(j, heard, ggml, want)
		}
	}
	// After all else, so that a test of a double that misbehaves sees what its words gave away.
	if coreml != nil && coreml.Fault != "none" {
		j.Add(reason.FaultInjected, "fault", "no fault", coreml.Fault)
	}
	return j, nil
}

// sideOf reads a run's words, or says in j why they cannot be compared.
func sideOf(j *verdict.Judgement, name string, e *evidence.Evidence, p transcript.Profile, want []string, reference string) *side {
	where := name + " stdout"
	var s *side
	switch {
	case e.Stdout.Complete:
		s = publicSide(name, p, want, strings.Join(e.Stdout.Lines, "\n"))
	case e.Heard == nil:
		j.Add(reason.TranscriptWithheld, where, "the words of a public fixture, or their comparison with the reference", "neither")
		return nil
	case e.Heard.ReferenceSHA256 != evidence.SHA256([]byte(reference)):
		j.Add(reason.TranscriptWithheld, where, "a comparison with this reference, "+evidence.SHA256([]byte(reference)), "one with "+e.Heard.ReferenceSHA256)
		return nil
	case e.Heard.Profile != p.Name || e.Heard.ReferenceUnits != len(want):
		j.Add(reason.TranscriptWithheld, where, fmt.Sprintf("%d units by %s", len(want), p.Name), fmt.Sprintf("%d by %s", e.Heard.ReferenceUnits, e.Heard.Profile))
		return nil
	case e.Heard.TooMany:
		j.Add(reason.TranscriptReference, where, fmt.Sprintf("at most %d places that differ from the reference", evidence.MaxHeardEdits), "more")
		return nil
	default:
		s = privateSide(name, want, e.Heard)
	}
	j.Facts[wordsFact(name)], j.Facts[editsFact(name)] = len(s.units), s.edits()
	if len(s.units) == 0 || e.Stdout.Complete && !evidence.Said(strings.Join(e.Stdout.Lines, "\n")) {
		j.Add(reason.TranscriptEmpty, where, plural(len(want), "word"), "none")
		return nil
	}
	return s
}

// between bounds the edits from ggml's words to the Core ML run's.
func (l Limits) between(j *verdict.Judgement, coreml, ggml *side) {
	chunks := editdist.Align(ggml.units, coreml.units)
	c := editdist.Count(chunks)
	most := l.EncodersEditsMax(len(ggml.units))
	j.Facts[factEncodersEdits] = c.Edits()
	if c.Edits() > most {
		j.Add(reason.TranscriptDiffers, "coreml stdout against contrast stdout",
			fmt.Sprintf("at most %s in %d words between the encoders", plural(most, "edit"), len(ggml.units)),
			fmt.Sprintf("%s: %s", describe(c), places(ggml.units, coreml, chunks)))
	}
}

// reference bounds the Core ML run's edits against the reference and says whether ggml's run has them too.
func (l Limits) reference(j *verdict.Judgement, coreml, ggml *side, want []string) {
	c := editdist.Count(coreml.chunks)
	rate, within := l.ReferenceRate(c.Edits(), len(want))
	j.Facts[factReferenceRate] = rate
	if within {
		return
	}
	other := editdist.Count(ggml.chunks)
	j.Add(reason.TranscriptReference, "coreml stdout against the reference",
		fmt.Sprintf("an error rate of at most %g in %d words", l.ReferenceRateMax, len(want)),
		fmt.Sprintf("%.3f, %s: %s; the contrast run has %s", rate, describe(c), places(want, coreml, coreml.chunks), plural(other.Edits(), "edit")))
}

func describe(c editdist.Counts) string {
	return fmt.Sprintf("%s (%d substituted, %d inserted, %d deleted)", plural(c.Edits(), "edit"), c.Substitutions, c.Insertions, c.Deletions)
}

// shownPlaces is how many differing places a reason lists.
const shownPlaces = 5

// places lists where texts differ: with the words of public runs, and by position alone of private ones.
func places(from []string, s *side, chunks []editdist.Chunk) string {
	var list []string
	for _, c := range chunks {
		if c.Op == editdist.Equal {
			continue
		}
		if len(list) == shownPlaces {
			return strings.Join(append(list, "…"), "; ")
		}
		at := fmt.Sprintf("word %d", c.RefStart+1)
		if !s.public {
			list = append(list, fmt.Sprintf("%s %s", at, c.Op))
			continue
		}
		list = append(list, fmt.Sprintf("%s %q became %q", at, strings.Join(from[c.RefStart:c.RefEnd], " "), strings.Join(s.units[c.HypStart:c.HypEnd], " ")))
	}
	return strings.Join(list, "; ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
