package main

import (
	"os"
	"path/filepath"
	"regexp"
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
	if n < 3 {
		t.Errorf("%d tables of figures, want those of docs/measure.md at least", n)
	}
}

// TestHandEdited holds that one digit which somebody typed is seen, in every table.
func TestHandEdited(t *testing.T) {
	data, err := os.ReadFile(root + "docs/measure.md")
	if err != nil {
		t.Fatal(err)
	}
	digit := regexp.MustCompile(`[0-9]\.[0-9]`)
	for _, at := range block.FindAllStringIndex(string(data), -1) {
		whole := string(data[at[0]:at[1]])
		place := digit.FindAllStringIndex(whole, -1)
		if len(place) == 0 {
			continue
		}
		last := at[0] + place[len(place)-1][0]
		edited := []byte(string(data))
		edited[last] = '0' + (edited[last]-'0'+1)%10
		path := filepath.Join(t.TempDir(), "edited.md")
		if err := os.WriteFile(path, edited, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := all(path, root+folder, true); err == nil || !strings.Contains(err.Error(), "not what its submissions give") {
			t.Errorf("a digit typed at byte %d: %v, want a refusal", last, err)
		}
	}
}

// TestMarks holds that a mark which is not understood is an error and no table that is left alone.
func TestMarks(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown kind": "<!-- figures: speeds a.json -->\n<!-- end of figures -->\n",
		"no file":         "<!-- figures: encoders absent.json -->\n<!-- end of figures -->\n",
		"no end":          "<!-- figures: encoders a.json -->\n| 1 |\n",
		"no name":         "<!-- figures: encoders -->\n<!-- end of figures -->\n",
	} {
		if _, _, err := rewrite(text, root+folder); err == nil {
			t.Errorf("%s is not an error", name)
		}
	}
}
