package judge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/coreml-gate/rules_coreml_gate/tools/evidence"
)

// JudgeTranscript holds the words of both runs against the reference words, after the smallest
// normalisation that is of use: letters and digits in lower case, apostrophes kept, everything else a
// gap. It is the first, simple transcript gate; error rates and thresholds are the transcript
// package's.
func JudgeTranscript(coreml, contrast *evidence.Evidence, reference string) *Judgement {
	f := newFindings(Transcript)
	want := Words(reference)
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
		if !side.e.Stdout.Complete {
			f.add("TRANSCRIPT_WITHHELD", "the words of a public fixture", "a digest", where)
			continue
		}
		got := Words(strings.Join(side.e.Stdout.Lines, "\n"))
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

// Words splits text into lower-case words of letters, digits and inner apostrophes.
func Words(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
	out := fields[:0]
	for _, w := range fields {
		if w = strings.Trim(strings.ReplaceAll(w, "’", "'"), "'"); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// difference names the first place at which two word lists part, without quoting either.
func difference(got, want []string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("%s, other from word %d on", plural(len(got), "word"), i+1)
}
