// Package agreement judges the words of two runs on one recording: whisper-cli with the Core ML encoder and with ggml's
// own. The two runs have to agree with each other, and the Core ML run with what a person wrote down, each within an
// error rate that a frozen policy states: no program writes a person's text word for word.
//
// Texts are normalised as package transcript does it. Of a fixture that is not public the words never leave the
// action that heard them: [Hear] runs there and keeps positions, counts and keyed digests ([evidence.Heard]), from which
// [Judge] counts the same edits.
package agreement

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// Key is the key of a recording's word digests: the SHA-256 of a prefix and the recording's bytes. The recording's own
// SHA-256, which evidence publishes, does not give it.
func Key(audio []byte) []byte {
	h := sha256.New()
	h.Write([]byte("rules_coreml_gate heard v1\x00"))
	h.Write(audio)
	return h.Sum(nil)
}

// Hear compares what a run wrote on stdout with reference words in a language, and keeps no word.
func Hear(stdout, reference, language string, key []byte) *evidence.Heard {
	profile := transcript.ProfileFor(language)
	want, got := profile.Units(reference), profile.Units(stdout)
	h := &evidence.Heard{
		ReferenceSHA256: evidence.SHA256([]byte(reference)), Profile: profile.Name,
		ReferenceUnits: len(want), Units: len(got), Edits: []evidence.HeardEdit{},
	}
	for _, c := range editdist.Align(want, got) {
		if c.Op == editdist.Equal {
			continue
		}
		edit := evidence.HeardEdit{Start: c.RefStart, End: c.RefEnd, Heard: []string{}}
		for _, word := range got[c.HypStart:c.HypEnd] {
			edit.Heard = append(edit.Heard, wordDigest(key, word))
		}
		h.Edits = append(h.Edits, edit)
	}
	if len(h.Edits) > evidence.MaxHeardEdits {
		h.Edits, h.TooMany = []evidence.HeardEdit{}, true
	}
	return h
}

func wordDigest(key []byte, word string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(word))
	return hex.EncodeToString(m.Sum(nil))[:16]
}

// side is what one run heard, as units that can be compared: of a public run its words, of a private one the
// reference's words where it agrees with them and digests elsewhere. A digest equals no word of the reference, so that
// between two private runs as many edits are counted as between public ones, or more.
type side struct {
	name  string
	units []string
	// chunks align the reference with units.
	chunks []editdist.Chunk
	public bool
}

func (s *side) edits() int { return editdist.Count(s.chunks).Edits() }

// publicSide reads a run whose words are in its evidence.
func publicSide(name string, p transcript.Profile, want []string, stdout string) *side {
	got := p.Units(stdout)
	return &side{name: name, units: got, chunks: editdist.Align(want, got), public: true}
}

// privateSide rebuilds a run from its digests. The evidence's own check has shown that the edits fit the counts.
func privateSide(name string, want []string, h *evidence.Heard) *side {
	s := &side{name: name}
	at := 0
	for _, e := range h.Edits {
		s.keep(want, at, e.Start)
		s.replace(e)
		at = e.End
	}
	s.keep(want, at, len(want))
	return s
}

func (s *side) keep(want []string, from, to int) {
	if from == to {
		return
	}
	s.chunks = append(s.chunks, editdist.Chunk{Op: editdist.Equal, RefStart: from, RefEnd: to, HypStart: len(s.units), HypEnd: len(s.units) + to - from})
	s.units = append(s.units, want[from:to]...)
}

// replace adds an edit: as many substitutions as fit, and insertions or deletions for the rest.
func (s *side) replace(e evidence.HeardEdit) {
	both := min(e.End-e.Start, len(e.Heard))
	add := func(op editdist.Op, refStart, refEnd, n int) {
		if refEnd > refStart || n > 0 {
			s.chunks = append(s.chunks, editdist.Chunk{Op: op, RefStart: refStart, RefEnd: refEnd, HypStart: len(s.units), HypEnd: len(s.units) + n})
		}
	}
	add(editdist.Substitute, e.Start, e.Start+both, both)
	for _, d := range e.Heard[:both] {
		s.units = append(s.units, "digest "+d)
	}
	if e.End > e.Start+both {
		add(editdist.Delete, e.Start+both, e.End, 0)
	}
	if len(e.Heard) > both {
		add(editdist.Insert, e.End, e.End, len(e.Heard)-both)
		for _, d := range e.Heard[both:] {
			s.units = append(s.units, "digest "+d)
		}
	}
}
