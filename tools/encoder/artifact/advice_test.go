package artifact

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A hub's cache of links is told one thing: to copy it with the links followed. Nothing behind a link is called malformed.
func TestHubCacheHasOneAdvice(t *testing.T) {
	for name, names := range map[string][]string{
		"every file": {"coremldata.bin", "metadata.json", "model.mil", "weights/weight.bin"},
		"one file":   {"model.mil"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, model, enc := pair(t)
			blobs := filepath.Join(dir, "blobs")
			if err := os.MkdirAll(blobs, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				blob := filepath.Join(blobs, filepath.Base(n))
				if err := os.Rename(filepath.Join(enc, n), blob); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(blob, filepath.Join(enc, n)); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Inspect(model, enc, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := codes(r.Reasons); !slices.Equal(got, []string{"ARTIFACT_HUB_CACHE"}) || r.Shippable {
				t.Errorf("found %v, want ARTIFACT_HUB_CACHE alone", r.Reasons)
			}
		})
	}
}

// An archive is unpacked, or not touched; it is not renamed or moved to where a folder should be.
func TestArchiveHasOneAdvice(t *testing.T) {
	for entry, want := range map[string]string{"enc/model.mil": "ARTIFACT_IS_ARCHIVE", "../model.mil": "ARCHIVE_ESCAPE"} {
		_, model, _ := pair(t)
		path := filepath.Join(t.TempDir(), "encoder.zip")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		if _, err := z.Create(entry); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Inspect(model, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := codes(r.Reasons); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: found %v, want %s alone", entry, r.Reasons, want)
		}
	}
}

// A compiled encoder that was dressed as a package is told one thing: to give it its extension back. It cannot be compiled again.
func TestRenamedFormHasOneAdvice(t *testing.T) {
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, dress := range map[string]func(enc string) string{
		"metadata.json called Manifest.json": func(enc string) string {
			rename(filepath.Join(enc, "metadata.json"), filepath.Join(enc, "Manifest.json"))
			return enc
		},
		"a manifest of nothing": func(enc string) string {
			if err := os.WriteFile(filepath.Join(enc, "Manifest.json"), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			return enc
		},
		"called .mlpackage": func(enc string) string {
			other := enc[:len(enc)-len(".mlmodelc")] + ".mlpackage"
			rename(enc, other)
			return other
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, model, enc := pair(t)
			at := dress(enc)
			for _, given := range []string{"", at} {
				r, err := Inspect(model, given, Options{})
				if err != nil {
					t.Fatal(err)
				}
				got := codes(r.Reasons)
				want := []string{"ARTIFACT_FORM"}
				if given != "" && at != enc {
					want = []string{"ARTIFACT_FORM", "ENCODER_NAME"}
				}
				if !slices.Equal(got, want) || r.Shippable {
					t.Errorf("encoder %q: found %v, want %v", given, r.Reasons, want)
				}
			}
		})
	}
}
