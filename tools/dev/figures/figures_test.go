package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../../"

// TestDocuments holds the documents' figures against the stored submissions.
func TestDocuments(t *testing.T) {
	n, err := all(root+documents, root+folder, true)
	if err != nil {
		t.Error(err)
	}
	if n < 25 {
		t.Errorf("%d tables of figures, want those of docs/measure.md, performance.md, parity.md, remote.md and transcripts.md at least", n)
	}
}

// TestHandEdited holds that one digit which somebody typed is seen, in every table of every document.
func TestHandEdited(t *testing.T) {
	paths, err := filepath.Glob(root + documents)
	if err != nil {
		t.Fatal(err)
	}
	digit := regexp.MustCompile(`[0-9]`)
	edits := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range block.FindAllStringIndex(string(data), -1) {
			rows := at[0] + strings.Index(string(data[at[0]:at[1]]), "|---")
			place := digit.FindAllStringIndex(string(data[rows:at[1]]), -1)
			if len(place) == 0 {
				t.Errorf("%s: a table without a digit:\n%s", path, data[at[0]:at[1]])
				continue
			}
			for _, p := range []int{place[0][0], place[len(place)-1][0]} {
				edited := []byte(string(data))
				edited[rows+p] = '0' + (edited[rows+p]-'0'+1)%10
				edits++
				copied := filepath.Join(t.TempDir(), "edited.md")
				if err := os.WriteFile(copied, edited, 0o644); err != nil {
					t.Fatal(err)
				}
				if _, err := all(copied, root+folder, true); err == nil || !strings.Contains(err.Error(), "not what its submissions and reports give") {
					t.Errorf("%s: a digit typed at byte %d: %v, want a refusal", path, rows+p, err)
				}
			}
		}
	}
	if edits < 50 {
		t.Errorf("%d edits were tried, want two of every table", edits)
	}
}

// A cell that only a measurement can fill is a number with a unit of measure, whose spread may follow; or any number below a head that has
// the unit. (A bare number may be a version.)
var (
	measured = regexp.MustCompile(`^[0-9][0-9,.]* ?(?:ms|s|min|MB|MiB|GB|kB|dB|GFLOP|GFLOP/s|W|J|tokens/s|times|of it)(?: \(.*\))?$`)
	number   = regexp.MustCompile(`^[0-9][0-9,.]*(?: \(.*\))?$`)
	unit     = regexp.MustCompile(`(?:^|[ ,(])(?:seconds|ms|s|MB|MiB|dB|GFLOP|GFLOP/s|watts|joules|ratio|times|heap|load)(?:$|[ ,)])`)
)

// typed are tables which stand in documents without a mark, by a piece of their head: what is in them is no measurement of ours.
var typed = map[string]string{
	"| policy | encoders | SNR": "thresholds that were chosen",
	"| | G gates on M Macs |":   "calculated from the table above it, on paper",
}

// TestTyped holds that no table of measurements stands in a document without a mark: whoever adds one stores its report first, or says here why
// it is none.
func TestTyped(t *testing.T) {
	paths, err := filepath.Glob(root + documents)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range typedTables(block.ReplaceAllString(string(data), "")) {
			known := false
			for head := range typed {
				if strings.HasPrefix(found, head) {
					known, used[head] = true, true
				}
			}
			if !known {
				t.Errorf("%s: a table of figures without a mark: expected <!-- figures: table FILE.json#TABLE -->, found\n%s", path, found)
			}
		}
	}
	for head, why := range typed {
		if !used[head] {
			t.Errorf("no table begins with %q (%s): take it from the list", head, why)
		}
	}
	for text, want := range map[string]int{
		"| a | b |\n|---|---|\n| encode | 1.5 s |\n": 1, "| a | b |\n|---|---|\n| encode | 0.24 of it (0.19 to 0.31) |\n": 1, "| a | peak, MB |\n|---|---:|\n| encode | 90 |\n": 1, "| a | cases |\n|---|---:|\n| encode | 90 |\n": 0, "| a | since macOS |\n|---|---:|\n| encode | 10.14 |\n": 0, "| a | ratio |\n|---|---:|\n| encode | 0.57 (0.5 to 0.6) |\n": 1, "| a | b |\n|---|---|\n| encode | 119.6 dB |\n": 1,
		"| a | b |\n|---|---|\n| encode | float32 |\n": 0, "text\n": 0,
	} {
		if got := typedTables(text); len(got) != want {
			t.Errorf("%q has %d tables of figures, want %d", text, len(got), want)
		}
	}
}

// typedTables returns the tables of a text that have a cell of a measurement.
func typedTables(text string) []string {
	var out []string
	for _, part := range regexp.MustCompile(`(?m)(?:^\|.*\|[^\S\n]*\n?)+`).FindAllString(text, -1) {
		head, rows, _ := strings.Cut(part, "\n")
		below := slices.ContainsFunc(strings.Split(head, "|"), unit.MatchString)
		if slices.ContainsFunc(regexp.MustCompile(`[|\n]`).Split(rows, -1), func(cell string) bool {
			cell = strings.TrimSpace(cell)
			return measured.MatchString(cell) || below && number.MatchString(cell)
		}) {
			out = append(out, part)
		}
	}
	return out
}

// TestMarks holds that a mark which is not understood is an error and no table that is left alone.
func TestMarks(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown kind": "<!-- figures: speeds a.json -->\n<!-- end of figures -->\n",
		"no file":         "<!-- figures: encoders absent.json -->\n<!-- end of figures -->\n",
		"no end":          "<!-- figures: encoders a.json -->\n| 1 |\n",
		"no name":         "<!-- figures: encoders -->\n<!-- end of figures -->\n",
		"no table":        "<!-- figures: table scale.json -->\n<!-- end of figures -->\n",
		"unknown table":   "<!-- figures: table scale.json#speeds -->\n<!-- end of figures -->\n",
		"no such row":     "<!-- figures: table scale.json#steps=enormous -->\n<!-- end of figures -->\n",
		"unlike tables":   "<!-- figures: table scale.json#steps scale.json#growth -->\n<!-- end of figures -->\n",
		"no report":       "<!-- figures: table tiny.en-float32-palettised8.json#steps -->\n<!-- end of figures -->\n",
		"no session":      "<!-- figures: encoders scale.json -->\n<!-- end of figures -->\n",
		"a drift alone":   "<!-- figures: drift made-control-second.json -->\n<!-- end of figures -->\n",
	} {
		if _, _, err := rewrite(text, root+folder); err == nil {
			t.Errorf("%s is not an error", name)
		}
	}
}
