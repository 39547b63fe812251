package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// JudgeTranscript holds the words of both runs against the reference words, after the smallest
// normalisation that is of use ([evidence.Words]); of a fixture that is not public, by their digest. It
// is the first, simple transcript gate; error rates and thresholds are the transcript package's.
func JudgeTranscript(coreml, contrast *evidence.Evidence, reference string) *Judgement {
	f := newFindings(Transcript)
	want := evidence.Words(reference)
	f.facts["reference_words"] = len(want)
	for _, side := range []struct {
		name string
		e    *evidence.Evidence
	}{{"coreml", coreml}, {"contrast", contrast}} {
		if side.e == nil {
			f.add("EVIDENCE_MISSING", "evidence of the "+side.name+" run", "none", side.name)
			continue
		}
		where := side.name + " stdout"
		if side.e.Stdout.Truncated {
			f.add("LOG_TRUNCATED", "stdout to its end", "a cut stream", where)
		}
		if !repeatable(side.e.Argv) {
			f.add("NONDETERMINISTIC_DECODE", "--temperature-inc 0 or --no-fallback", "neither", side.name+" argv")
		}
		if !side.e.Stdout.Complete {
			withheld(f, side.e.Words, evidence.CountWords(reference), side.name)
			continue
		}
		got := evidence.Words(strings.Join(side.e.Stdout.Lines, "\n"))
		f.facts[side.name+"_words"] = len(got)
		switch {
		case len(got) == 0 && len(want) > 0:
			f.add("TRANSCRIPT_EMPTY", plural(len(want), "word"), "none", where)
		case !slices.Equal(got, want):
			f.add("TRANSCRIPT_DIFFERS", plural(len(want), "word")+" of the reference", difference(got, want), where)
		}
	}
	if coreml != nil {
		fault(f, coreml.Fault)
	}
	if len(want) == 0 {
		f.add("EVIDENCE_MISSING", "reference words", "none", "reference")
	}
	return f.judgement()
}

// withheld compares the words of a run that may not be kept, by their digest.
func withheld(f *findings, got *evidence.WordCount, want evidence.WordCount, side string) {
	where := side + " words"
	if got == nil {
		f.add("TRANSCRIPT_WITHHELD", "the words of a public fixture, or their digest", "neither", where)
		return
	}
	f.facts[side+"_words"] = got.Count
	switch {
	case got.Count == 0 && want.Count > 0:
		f.add("TRANSCRIPT_EMPTY", plural(want.Count, "word"), "none", where)
	case *got != want:
		f.add("TRANSCRIPT_DIFFERS", plural(want.Count, "word")+" of the reference", plural(got.Count, "word")+" of another digest", where)
	}
}

// difference names the first place at which two word lists part, without quoting either.
func difference(got, want []string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("%s, other from word %d on", plural(len(got), "word"), i+1)
}
