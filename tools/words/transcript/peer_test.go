package transcript

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/normalize"
)

// peerMeasure is what jiwer says of two texts.
type peerMeasure struct {
	Rate    float64
	Counts  editdist.Counts
	Aligned [][]any
}

// Rows of tools/dev/peers/wer_table.py with the answers of whisper-normalizer and jiwer; tools/dev/peers/run wer compares all.
func TestPeerRows(t *testing.T) {
	f, err := os.Open("testdata/peer_rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	modes := map[string]func(string) string{
		"english": normalize.English, "basic": normalize.Basic{}.Normalize, "diacritics": normalize.Basic{RemoveDiacritics: true}.Normalize,
		"split": normalize.Basic{SplitLetters: true}.Normalize, "split-diacritics": normalize.Basic{SplitLetters: true, RemoveDiacritics: true}.Normalize,
	}
	rows, languages := 0, map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); rows++ {
		var row struct {
			Language, Mode, Ref, Hyp string
			Want                     struct {
				Ref, Hyp     string
				Words, Chars peerMeasure
			}
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatalf("row %d: %v", rows+1, err)
		}
		languages[row.Language] = true
		ref, hyp := modes[row.Mode](row.Ref), modes[row.Mode](row.Hyp)
		if ref != row.Want.Ref || hyp != row.Want.Hyp {
			t.Errorf("row %d, %s: normalised to %q and %q, want %q and %q", rows+1, row.Mode, ref, hyp, row.Want.Ref, row.Want.Hyp)
			continue
		}
		if diff := cmp.Diff(row.Want.Words, peerForm(WordErrors(ref, hyp))); diff != "" {
			t.Errorf("row %d, words of %q, %q (-want +got):\n%s", rows+1, ref, hyp, diff)
		}
		if diff := cmp.Diff(row.Want.Chars, peerForm(CharacterErrors(ref, hyp))); diff != "" {
			t.Errorf("row %d, characters of %q, %q (-want +got):\n%s", rows+1, ref, hyp, diff)
		}
	}
	if rows < 500 || len(languages) < 10 {
		t.Errorf("%d rows in %d languages: want at least 500 in 10", rows, len(languages))
	}
}

func peerForm(c editdist.Counts, chunks []editdist.Chunk) peerMeasure {
	m := peerMeasure{Rate: Rate(c), Counts: c, Aligned: [][]any{}}
	for _, k := range chunks {
		m.Aligned = append(m.Aligned, []any{k.Op.String(), float64(k.RefStart), float64(k.RefEnd), float64(k.HypStart), float64(k.HypEnd)})
	}
	return m
}
