package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// The checked-in source transcripts are of the official models, decoded as the gate decodes, and close to what people
// say was said.
func TestCheckedInSources(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/transcripts/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source transcripts are there: %v", err)
	}
	official := map[string]string{
		"tiny.en": "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f",
		"base":    "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe",
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := ParseSources(data)
			if err != nil {
				t.Fatal(err)
			}
			if official[f.Model] == "" || f.ModelSHA256 != official[f.Model] {
				t.Errorf("model %s has SHA-256 %s, want the official .bin's %q", f.Model, f.ModelSHA256, official[f.Model])
			}
			var english Counts
			for _, r := range f.Recordings {
				if d := r.Decoding.Differences(Pinned(r.Decoding.Language)); d != nil {
					t.Errorf("%s was decoded otherwise than the gate decodes: %v", r.Name, d)
				}
				if r.Decoding.Language != "en" || r.Human == "" {
					continue
				}
				p := ProfileFor("en")
				counts, _ := WordErrors(p.Normalize(r.Human), p.Normalize(r.Text))
				english.add(Counts(counts))
			}
			if english.Reference() < 300 || english.Rate() > 0.08 {
				t.Errorf("against people: %s, want a rate of at most 0.08 over 300 units", describe(english))
			}
		})
	}
}
