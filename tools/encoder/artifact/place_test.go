package artifact

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Equal contents are equal whatever random identifiers their manifests carry
// (B14): the digest differs, as any byte does, and nothing else.
func TestManifestIdentifiers(t *testing.T) {
	dir, model, _ := pair(t)
	pkg := filepath.Join(dir, "source", "ggml-x-encoder.mlpackage")
	a := expect(t, model, pkg, Options{ContentsOnly: true})
	edit(t, filepath.Join(pkg, "Manifest.json"), `"fileFormatVersion": "1.0.0"`, `"fileFormatVersion":  "1.0.0"`)
	b := expect(t, model, pkg, Options{ContentsOnly: true})
	if a.Encoder.Digest == b.Encoder.Digest {
		t.Error("a changed byte left the digest as it was")
	}
	if a.Encoder.Contents == "" || a.Encoder.Contents != b.Encoder.Contents {
		t.Errorf("contents digests %q and %q of packages that differ in their manifest only", a.Encoder.Contents, b.Encoder.Contents)
	}
}

func TestNamesAndPlaces(t *testing.T) {
	t.Run("another stem (A18)", func(t *testing.T) {
		dir, _, enc := pair(t)
		model := filepath.Join(dir, "ggml-ft-large-v3-turbo-zh.bin")
		other := filepath.Join(dir, "ggml-ft-large-v3-zh-encoder.mlmodelc")
		rename(t, filepath.Join(dir, "ggml-x.bin"), model)
		rename(t, enc, other)
		expect(t, model, other, Options{}, "ENCODER_NAME")
		expect(t, model, "", Options{}, "ENCODER_MISSING", "ENCODER_NAME")
	})
	t.Run("a quantised name shares the encoder (A28)", func(t *testing.T) {
		dir, model, enc := pair(t)
		q := filepath.Join(dir, "ggml-x-q5_0.bin")
		rename(t, model, q)
		expect(t, q, enc, Options{})
	})
	t.Run("a name that is not stripped", func(t *testing.T) {
		dir, model, enc := pair(t)
		q := filepath.Join(dir, "ggml-x-q4_K_M.bin")
		rename(t, model, q)
		expect(t, q, enc, Options{}, "ENCODER_NAME")
	})
	t.Run("still packed", func(t *testing.T) {
		dir, model, enc := pair(t)
		rename(t, enc, filepath.Join(dir, "ggml-x-encoder.mlmodelc.zip"))
		expect(t, model, "", Options{}, "ARTIFACT_IS_ARCHIVE", "ENCODER_MISSING")
		expect(t, model, enc, Options{}, "ARTIFACT_IS_ARCHIVE", "ENCODER_MISSING")
	})
	t.Run("only a package (A10)", func(t *testing.T) {
		dir, model, enc := pair(t)
		remove(t, enc)
		rename(t, filepath.Join(dir, "source", "ggml-x-encoder.mlpackage"), filepath.Join(dir, "coreml-encoder-x.mlpackage"))
		expect(t, model, "", Options{}, "ARTIFACT_NOT_COMPILED", "ENCODER_MISSING")
		expect(t, model, filepath.Join(dir, "coreml-encoder-x.mlpackage"), Options{}, "ARTIFACT_NOT_COMPILED", "ENCODER_NAME")
	})
	t.Run("a package under the derived name", func(t *testing.T) {
		dir, model, enc := pair(t)
		remove(t, enc)
		rename(t, filepath.Join(dir, "source", "ggml-x-encoder.mlpackage"), filepath.Join(dir, "ggml-x-encoder.mlpackage"))
		expect(t, model, "", Options{}, "ARTIFACT_NOT_COMPILED")
	})
	t.Run("a package renamed to look compiled (A37)", func(t *testing.T) {
		dir, model, enc := pair(t)
		remove(t, enc)
		rename(t, filepath.Join(dir, "source", "ggml-x-encoder.mlpackage"), enc)
		expect(t, model, enc, Options{}, "ARTIFACT_FORM", "ARTIFACT_NOT_COMPILED")
		expect(t, model, "", Options{}, "ARTIFACT_FORM", "ARTIFACT_NOT_COMPILED")
	})
	t.Run("a compiled model renamed to look like a package (A37)", func(t *testing.T) {
		dir, model, enc := pair(t)
		pkg := filepath.Join(dir, "ggml-x-encoder.mlpackage")
		rename(t, enc, pkg)
		expect(t, model, pkg, Options{}, "ARTIFACT_FORM", "ENCODER_NAME")
	})
	t.Run("side by side no more (C20)", func(t *testing.T) {
		_, model, enc := pair(t)
		other := filepath.Join(t.TempDir(), filepath.Base(enc))
		rename(t, enc, other)
		expect(t, model, other, Options{}, "ENCODER_NAME")
		expect(t, model, other, Options{ContentsOnly: true})
	})
	t.Run("no extension", func(t *testing.T) {
		dir, model, enc := pair(t)
		bare := filepath.Join(dir, "d.v1", "model")
		if err := os.Mkdir(filepath.Dir(bare), 0o755); err != nil {
			t.Fatal(err)
		}
		rename(t, model, bare)
		there := filepath.Join(dir, "d-encoder.mlmodelc")
		rename(t, enc, there)
		r := expect(t, bare, there, Options{}, "MODEL_NAME")
		if r.Derived.Surprise == "" {
			t.Error("nothing is said of the dot in the folder's name")
		}
	})
	t.Run("spelled in another way", func(t *testing.T) {
		dir, model, enc := pair(t)
		expect(t, filepath.Join(dir, "source")+"/../"+filepath.Base(model), enc, Options{})
	})
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestFolders(t *testing.T) {
	dir, model, enc := pair(t)
	inspectDir := func(want reason.Verdict, shippable int) []*Report {
		t.Helper()
		reports, err := InspectFolder(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range reports {
			if r.Shippable {
				n++
			}
		}
		if v := Overall(reports); v != want || n != shippable {
			t.Errorf("expected %s and %d pairs to ship, found %s and %d", want, shippable, v, n)
		}
		return reports
	}
	inspectDir(reason.Pass, 1)
	// Sidecars of the Finder's are neither models nor encoders; a model of such a name is one.
	for _, name := range []string{"._ggml-x.bin", "._ggml-x-encoder.mlmodelc"} {
		writeFile(t, filepath.Join(dir, name), []byte(appleDouble))
	}
	if reports := inspectDir(reason.Pass, 1); len(reports) != 1 {
		t.Errorf("%d reports, want that of the pair alone", len(reports))
	}
	writeFile(t, filepath.Join(dir, "._ggml-x.bin"), []byte("something else"))
	inspectDir(reason.Failed, 1)
	if err := os.Remove(filepath.Join(dir, "._ggml-x.bin")); err != nil {
		t.Fatal(err)
	}
	// A quantised model beside it uses the same encoder.
	copyTree(t, model, filepath.Join(dir, "ggml-x-q8_0.bin"))
	inspectDir(reason.Pass, 2)
	// An encoder that belongs to no model here.
	copyTree(t, enc, filepath.Join(dir, "ggml-y-encoder.mlmodelc"))
	inspectDir(reason.Failed, 2)
	// A model without its encoder, beside others' encoders.
	copyTree(t, model, filepath.Join(dir, "ggml-z.bin"))
	reports := inspectDir(reason.Failed, 2)
	found := false
	for _, r := range reports {
		found = found || r.Model != nil && filepath.Base(r.Model.Path) == "ggml-z.bin" && contains(codes(r.Reasons), "ENCODER_MISSING")
	}
	if !found {
		t.Error("the model without an encoder was not named")
	}
	if _, err := InspectFolder(t.TempDir(), Options{}); err == nil {
		t.Error("a folder without models was judged")
	}
}
