package transcript

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// Rate is the error rate of an alignment as jiwer defines it: edits over the reference's length. Against an empty
// reference it is the number of insertions, so that nothing against nothing is 0 and anything heard in silence is an
// error; it can exceed 1.
func Rate(c editdist.Counts) float64 {
	if c.Reference() == 0 {
		return float64(c.Insertions)
	}
	return float64(c.Edits()) / float64(c.Reference())
}

// Words splits a text at white space.
func Words(s string) []string { return strings.Fields(s) }

// Characters gives the code points of a text without outer white space. Single spaces within count, as in jiwer.
func Characters(s string) []rune { return []rune(strings.TrimSpace(s)) }

// WordErrors aligns two texts by words. Normalise them first.
func WordErrors(ref, hyp string) (editdist.Counts, []editdist.Chunk) {
	chunks := editdist.Align(Words(ref), Words(hyp))
	return editdist.Count(chunks), chunks
}

// CharacterErrors aligns two texts by code points. Normalise them first.
func CharacterErrors(ref, hyp string) (editdist.Counts, []editdist.Chunk) {
	chunks := editdist.Align(Characters(ref), Characters(hyp))
	return editdist.Count(chunks), chunks
}
