package report

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// side is one run's words against the reference.
type side struct {
	Name  string
	Spans []span
}

// span is a stretch of words: "" (right), "sub", "ins" or "del".
type span struct{ Class, Text string }

// words aligns the words of the runs with the reference, where both may be shown.
func (d *Data) words() []side {
	reference := evidence.Words(d.Reference)
	if len(reference) == 0 {
		return nil
	}
	var out []side
	for _, s := range []struct {
		kind evidence.Kind
		name string
	}{{evidence.KindCoreML, "Core ML encoder"}, {evidence.KindContrast, "ggml's own encoder"}} {
		e := d.Evidence[s.kind]
		if e == nil || !e.Public || !e.Stdout.Complete {
			continue
		}
		out = append(out, side{s.name, spans(reference, evidence.Words(strings.Join(e.Stdout.Lines, "\n")))})
	}
	return out
}

func spans(reference, got []string) []span {
	var out []span
	add := func(class string, words []string) {
		if len(words) > 0 {
			out = append(out, span{class, strings.Join(words, " ")})
		}
	}
	for _, c := range editdist.Align(reference, got) {
		switch c.Op {
		case editdist.Equal:
			add("", got[c.HypStart:c.HypEnd])
		case editdist.Substitute:
			add("sub", got[c.HypStart:c.HypEnd])
		case editdist.Insert:
			add("ins", got[c.HypStart:c.HypEnd])
		case editdist.Delete:
			add("del", reference[c.RefStart:c.RefEnd])
		}
	}
	return out
}
