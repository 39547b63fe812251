package artifact

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// What is packed otherwise, or no model at all, is told one thing too: no name or place follows from such a file.
func TestOtherFilesHaveOneAdvice(t *testing.T) {
	const xz, pickle, gz, zipped = "\xfd7zXZ\x00 more", "\x80\x02}q\x00.", "\x1f\x8b\x08\x00 more", "PK\x03\x04 more"
	for _, c := range []struct{ name, data, code, found string }{
		{"encoder.mlmodelc.tar.xz", xz, "ARTIFACT_IS_ARCHIVE", "an xz archive"},
		{"encoder.mlmodelc.zst", "\x28\xb5\x2f\xfd more", "ARTIFACT_IS_ARCHIVE", "a zstd archive"},
		{"encoder.mlmodelc.7z", "7z\xbc\xaf\x27\x1c more", "ARTIFACT_IS_ARCHIVE", "a 7z archive"},
		{"ggml-x.bin.xz", xz, "MODEL_NOT_GGML", "an xz file: unpack it"},
		{"ggml-x.bin.gz", gz, "MODEL_NOT_GGML", "a gzip file: unpack it"},
		{"pytorch_model.bin", zipped, "MODEL_NOT_GGML", "PyTorch checkpoint"},
		{"pytorch_model.bin", pickle, "MODEL_NOT_GGML", "pickle"},
		{"medium.pt", zipped, "MODEL_NOT_GGML", "PyTorch checkpoint"},
		{"model.safetensors", "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":1}", "MODEL_NOT_GGML", "safetensors"},
	} {
		_, model, enc := pair(t)
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		pairs := [][2]string{{path, ""}, {path, enc}}
		if c.code == "ARTIFACT_IS_ARCHIVE" {
			pairs = [][2]string{{model, path}}
		}
		if is := IsArtifact(path); is != (c.code == "ARTIFACT_IS_ARCHIVE") {
			t.Errorf("%s: is an artifact: %v", c.name, is)
		}
		for _, p := range pairs {
			r, err := Inspect(p[0], p[1], Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := codes(r.Reasons); !slices.Equal(got, []string{c.code}) || !strings.Contains(r.Reasons[0].Found, c.found) || r.Shippable {
				t.Errorf("%s: found %v, want %s alone with %q", c.name, r.Reasons, c.code, c.found)
			}
		}
	}
}

// TestNamesThatLookAlike: a name that differs in what nobody sees is shown with the difference.
func TestNamesThatLookAlike(t *testing.T) {
	for name, says := range map[string]string{
		"ggml-e\u0301-encoder.mlmodelc": `spelled with other characters: "ggml-e\u0301-encoder.mlmodelc"`,
		"ggml-\u00e9-encoder.mlmodelc ": "with a blank at its end",
		"ggml-\u00e9-encoder.MLMODELC":  "in other capitals",
		"ggml-\u00c9-Encoder.mlmodelc":  "in other capitals",
	} {
		_, model, enc := pair(t)
		dir := t.TempDir()
		named, path := filepath.Join(dir, "ggml-\u00e9.bin"), filepath.Join(dir, name)
		for from, to := range map[string]string{model: named, enc: path} {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "ggml-\u00e9-encoder.mlmodelc")); err == nil {
			continue // a file system on which this name is the other
		}
		for _, given := range []string{"", path} {
			r, err := Inspect(named, given, Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, one := range r.Reasons {
				if one.Code == "ENCODER_NAME" {
					found = one.Found
				}
			}
			if given == "" && !strings.Contains(found, says) || given != "" && !strings.Contains(found, says[:12]) {
				t.Errorf("%q, given %q: %v, want ENCODER_NAME with %q", name, given, r.Reasons, says)
			}
		}
	}
}
