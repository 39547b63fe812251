package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// JudgeTranscript holds the words of both runs against the reference words, after the smallest
// normalisation that is of use ([evidence.Words]); of a fixture that is not public, by their digest. It
// is the first, simple transcript gate; error rates and thresholds are the transcript package's.
func JudgeTranscript(coreml, contrast *evidence.Evidence, reference string) *verdict.Judgement {
	f := verdict.NewJudgement(Transcript)
	want := evidence.Words(reference)
	f.Facts[factReferenceWords] = len(want)
	for _, side := range []struct {
		name, fact string
		e          *evidence.Evidence
	}{{"coreml", factCoreMLWords, coreml}, {"contrast", factContrastWords, contrast}} {
		if side.e == nil {
			f.Add(reason.EvidenceMissing, side.name, "evidence of the "+side.name+" run", "none")
			continue
		}
		where := side.name + " stdout"
		if side.e.Stdout.Truncated {
			f.Add(reason.LogTruncated, where, "stdout to its end", "a cut stream")
		}
		if !repeatable(side.e.Argv) {
			f.Add(reason.NondeterministicDecode, side.name+" argv", "--temperature-inc 0 or --no-fallback", "neither")
		}
		if !side.e.Stdout.Complete {
			withheld(f, side.e.Words, evidence.CountWords(reference), side.name, side.fact)
			continue
		}
		got := evidence.Words(strings.Join(side.e.Stdout.Lines, "\n"))
		f.Facts[side.fact] = len(got)
		switch {
		case len(got) == 0 && len(want) > 0:
			f.Add(reason.TranscriptEmpty, where, plural(len(want), "word"), "none")
		case !slices.Equal(got, want):
			f.Add(reason.TranscriptDiffers, where, plural(len(want), "word")+" of the reference", difference(got, want))
		}
	}
	if coreml != nil {
		fault(f, coreml.Fault)
	}
	if len(want) == 0 {
		f.Add(reason.EvidenceMissing, "reference", "reference words", "none")
	}
	return f
}

// withheld compares the words of a run that may not be kept, by their digest.
func withheld(f *verdict.Judgement, got *evidence.WordCount, want evidence.WordCount, side, fact string) {
	where := side + " words"
	if got == nil {
		f.Add(reason.TranscriptWithheld, where, "the words of a public fixture, or their digest", "neither")
		return
	}
	f.Facts[fact] = got.Count
	switch {
	case got.Count == 0 && want.Count > 0:
		f.Add(reason.TranscriptEmpty, where, plural(want.Count, "word"), "none")
	case *got != want:
		f.Add(reason.TranscriptDiffers, where, plural(want.Count, "word")+" of the reference", plural(got.Count, "word")+" of another digest")
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
