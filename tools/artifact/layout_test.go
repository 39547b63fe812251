package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
)

const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// What a folder may hold, and how it may be broken.
func TestFolderFaults(t *testing.T) {
	weight := func(enc string) string { return filepath.Join(enc, "weights", "weight.bin") }
	for _, c := range []struct {
		name   string
		change func(t *testing.T, enc string)
		want   []string
	}{
		{"no weights (A35)", func(t *testing.T, enc string) { remove(t, filepath.Join(enc, "weights")) }, []string{"ARTIFACT_INCOMPLETE"}},
		{"empty weights", func(t *testing.T, enc string) { writeFile(t, weight(enc), nil) }, []string{"ARTIFACT_INCOMPLETE"}},
		{"cut weights", func(t *testing.T, enc string) {
			info, err := os.Stat(weight(enc))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(weight(enc), info.Size()/2); err != nil {
				t.Fatal(err)
			}
		}, []string{"ARTIFACT_MALFORMED"}},
		{"weights of another kind", func(t *testing.T, enc string) { writeFile(t, weight(enc), bytes.Repeat([]byte("x"), 4096)) }, []string{"ARTIFACT_MALFORMED"}},
		{"weights as LFS pointer", func(t *testing.T, enc string) { writeFile(t, weight(enc), []byte(pointer)) }, []string{"LFS_POINTER"}},
		{"program as LFS pointer", func(t *testing.T, enc string) { writeFile(t, filepath.Join(enc, "model.mil"), []byte(pointer)) }, []string{"LFS_POINTER"}},
		{"description as LFS pointer", func(t *testing.T, enc string) { writeFile(t, filepath.Join(enc, "coremldata.bin"), []byte(pointer)) }, []string{"LFS_POINTER"}},
		{"no description", func(t *testing.T, enc string) { remove(t, filepath.Join(enc, "coremldata.bin")) }, []string{"ARTIFACT_INCOMPLETE"}},
		{"empty description", func(t *testing.T, enc string) { writeFile(t, filepath.Join(enc, "coremldata.bin"), nil) }, []string{"ARTIFACT_INCOMPLETE"}},
		{"no program", func(t *testing.T, enc string) { remove(t, filepath.Join(enc, "model.mil")) }, []string{"ARTIFACT_INCOMPLETE"}},
		{"cut program", func(t *testing.T, enc string) {
			b, err := os.ReadFile(filepath.Join(enc, "model.mil"))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(enc, "model.mil"), b[:len(b)/2])
		}, []string{"ARTIFACT_MALFORMED"}},
		{"no metadata", func(t *testing.T, enc string) { remove(t, filepath.Join(enc, "metadata.json")) }, nil},
		{"analytics", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "analytics", "coremldata.bin"), []byte("x"))
		}, nil},
		{"metadata of another kind", func(t *testing.T, enc string) { writeFile(t, filepath.Join(enc, "metadata.json"), []byte("{}")) }, []string{"ARTIFACT_MALFORMED"}},
		{"second weight file (D12)", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "weights", "weight2.bin"), []byte("x"))
		}, []string{"EXTRA_FILE"}},
		{"Finder's file", func(t *testing.T, enc string) { writeFile(t, filepath.Join(enc, ".DS_Store"), []byte("x")) }, []string{"EXTRA_FILE"}},
		{"a program beside the model", func(t *testing.T, enc string) { writeFile(t, filepath.Join(enc, "run.sh"), []byte("x")) }, []string{"EXTRA_FILE"}},
		{"unpacked into itself", func(t *testing.T, enc string) {
			copyTree(t, enc, filepath.Join(enc, filepath.Base(enc)))
		}, []string{"EXTRA_FILE", "NESTED_DUPLICATE"}},
		{"only an inner copy", func(t *testing.T, enc string) {
			inner := filepath.Join(t.TempDir(), "copy")
			copyTree(t, enc, inner)
			remove(t, enc)
			copyTree(t, inner, filepath.Join(enc, filepath.Base(enc)))
		}, []string{"NESTED_DUPLICATE"}},
		{"a download that broke off", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "weights", "weight.bin.partial"), []byte("x"))
		}, []string{"CONVERSION_INTERRUPTED", "EXTRA_FILE"}},
		{"an empty folder", func(t *testing.T, enc string) {
			remove(t, enc)
			if err := os.Mkdir(enc, 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"ARTIFACT_INCOMPLETE"}},
		{"nothing", func(t *testing.T, enc string) { remove(t, enc) }, []string{"ENCODER_MISSING"}},
		{"a file in its place", func(t *testing.T, enc string) {
			remove(t, enc)
			writeFile(t, enc, []byte("no model"))
		}, []string{"ARTIFACT_UNKNOWN"}},
		{"a pointer in its place", func(t *testing.T, enc string) {
			remove(t, enc)
			writeFile(t, enc, []byte(pointer))
		}, []string{"LFS_POINTER"}},
		{"weights through a link", func(t *testing.T, enc string) {
			real := filepath.Join(enc, "weights", "real.bin")
			if err := os.Rename(weight(enc), real); err != nil {
				t.Fatal(err)
			}
			link(t, "real.bin", weight(enc))
		}, []string{"ARTIFACT_INCOMPLETE", "ARTIFACT_LINK", "EXTRA_FILE"}},
		{"a link out", func(t *testing.T, enc string) { link(t, "../../outside", filepath.Join(enc, "analytics")) }, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"an absolute link", func(t *testing.T, enc string) { link(t, "/etc/hosts", filepath.Join(enc, "analytics")) }, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"a link to a link out", func(t *testing.T, enc string) {
			link(t, "../..", filepath.Join(enc, "one"))
			link(t, "one/outside", filepath.Join(enc, "two"))
		}, []string{"ARTIFACT_LINK", "ARTIFACT_PATH_ESCAPE"}},
		{"a weight path out of the artifact", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "@model_path/weights/weight.bin", "@model_path/../weights/weight.bin")
		}, []string{"ARTIFACT_PATH_ESCAPE", "EXTRA_FILE"}},
		{"an absolute weight path", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "@model_path/weights/weight.bin", "/etc/passwd")
		}, []string{"ARTIFACT_PATH_ESCAPE", "EXTRA_FILE"}},
		{"names that fold together", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "Model.mil"), []byte("x"))
		}, []string{"ARTIFACT_NAME_COLLISION", "EXTRA_FILE"}},
		{"a name with a line break", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "a\nb"), []byte("x"))
		}, []string{"ARTIFACT_NAME_UNSAFE", "EXTRA_FILE"}},
		{"a name that reads backwards", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "a\u202eb"), []byte("x"))
		}, []string{"ARTIFACT_NAME_UNSAFE", "EXTRA_FILE"}},
		{"a pipe", func(t *testing.T, enc string) {
			if err := syscall.Mkfifo(filepath.Join(enc, "pipe"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{"ARTIFACT_SPECIAL_FILE"}},
		{"folders without end", func(t *testing.T, enc string) {
			if err := os.MkdirAll(filepath.Join(enc, strings.Repeat("d/", 30)), 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"ARTIFACT_TOO_LARGE"}},
		{"program and weights of two builds", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "offset = tensor<uint64, []>(64)", "offset = tensor<uint64, []>(23168)")
		}, []string{"WEIGHTS_MISMATCH"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, model, enc := pair(t)
			c.change(t, enc)
			expect(t, model, enc, Options{}, c.want...)
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestPackageFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, pkg string)
		want   []string
	}{
		{"whole", func(*testing.T, string) {}, nil},
		{"no weights", func(t *testing.T, pkg string) {
			remove(t, filepath.Join(pkg, "Data", "com.apple.CoreML", "weights"))
		}, []string{"ARTIFACT_INCOMPLETE", "ARTIFACT_MALFORMED"}},
		{"no data", func(t *testing.T, pkg string) { remove(t, filepath.Join(pkg, "Data")) },
			[]string{"ARTIFACT_INCOMPLETE", "ARTIFACT_MALFORMED", "CONVERSION_INTERRUPTED"}},
		{"no manifest", func(t *testing.T, pkg string) { remove(t, filepath.Join(pkg, "Manifest.json")) },
			[]string{"ARTIFACT_INCOMPLETE", "CONVERSION_INTERRUPTED"}},
		{"a manifest that leads out", func(t *testing.T, pkg string) {
			edit(t, filepath.Join(pkg, "Manifest.json"), `"com.apple.CoreML/model.mlmodel"`, `"../../../etc/passwd"`)
		}, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"a file that the manifest does not name", func(t *testing.T, pkg string) {
			writeFile(t, filepath.Join(pkg, "Data", "com.apple.CoreML", "notes.txt"), []byte("x"))
		}, []string{"EXTRA_FILE"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, model, _ := pair(t)
			pkg := filepath.Join(dir, "source", "ggml-x-encoder.mlpackage")
			c.change(t, pkg)
			expect(t, model, pkg, Options{ContentsOnly: true}, c.want...)
		})
	}
}

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

func TestModels(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(good []byte) []byte
		want string
	}{
		{"an empty file", func([]byte) []byte { return nil }, "MODEL_NOT_GGML"},
		{"an LFS pointer", func([]byte) []byte { return []byte(pointer) }, "MODEL_NOT_GGML"},
		{"a web page", func([]byte) []byte { return []byte("<!DOCTYPE html>") }, "MODEL_NOT_GGML"},
		{"half a download", func(b []byte) []byte { return b[:len(b)/2] }, "MODEL_TRUNCATED"},
		{"one tensor short", func(b []byte) []byte {
			m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			last := m.Tensors[len(m.Tensors)-1]
			return b[:last.Offset-int64(12+4*len(last.Dims)+len(last.Name))]
		}, "MODEL_INCOMPLETE"},
		{"a test stub (A01)", func(b []byte) []byte {
			m, err := ggml.Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			first := m.Tensors[0]
			return b[:first.Offset-int64(12+4*len(first.Dims)+len(first.Name))]
		}, "MODEL_TEST_STUB"},
		{"a negative size", func(b []byte) []byte {
			b = bytes.Clone(b)
			b[7] = 0xff
			return b
		}, "MODEL_MALFORMED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, model, enc := pair(t)
			good, err := os.ReadFile(model)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, model, c.make(good))
			r, err := Inspect(model, enc, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := codes(r.Reasons); !contains(got, c.want) || r.Verdict != reason.Failed {
				t.Errorf("expected %s, found %v", c.want, r.Reasons)
			}
		})
	}
	t.Run("the encoder as the model (A03)", func(t *testing.T) {
		_, _, enc := pair(t)
		for _, given := range []string{enc, filepath.Join(enc, "coremldata.bin"), filepath.Join(enc, "weights", "weight.bin")} {
			r, err := Inspect(given, "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !contains(codes(r.Reasons), "MODEL_NOT_GGML") {
				t.Errorf("%s: expected MODEL_NOT_GGML, found %v", filepath.Base(given), r.Reasons)
			}
		}
	})
	t.Run("nothing", func(t *testing.T) {
		_, model, enc := pair(t)
		remove(t, model)
		expect(t, model, enc, Options{}, "MODEL_MISSING")
	})
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}

// An archive is no encoder, and one that would be unpacked elsewhere is worse
// (D16).
func TestArchives(t *testing.T) {
	zipped := func(files [][2]string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, f := range files {
			h := &zip.FileHeader{Name: f[0]}
			if strings.HasPrefix(f[1], "->") {
				h.SetMode(os.ModeSymlink | 0o777)
			}
			w, err := z.CreateHeader(h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(strings.TrimPrefix(f[1], "->"))); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	tarred := func(files [][2]string) []byte {
		var b bytes.Buffer
		g := gzip.NewWriter(&b)
		w := tar.NewWriter(g)
		for _, f := range files {
			h := &tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o644, Typeflag: tar.TypeReg}
			if l, ok := strings.CutPrefix(f[1], "->"); ok {
				h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, l, 0
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if h.Size > 0 {
				if _, err := w.Write([]byte(f[1])); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	plain := [][2]string{{"enc/model.mil", "x"}, {"enc/weights/weight.bin", "y"}}
	for name, c := range map[string]struct {
		files  [][2]string
		escape bool
	}{
		"plain":                     {plain, false},
		"a link inside":             {[][2]string{{"enc/a", "x"}, {"enc/b", "->a"}}, false},
		"a name that leads out":     {[][2]string{{"../../outside.txt", "x"}}, true},
		"a name that turns back":    {[][2]string{{"enc/../../outside.txt", "x"}}, true},
		"an absolute name":          {[][2]string{{"/etc/cron.d/x", "x"}}, true},
		"backslashes":               {[][2]string{{`enc\..\..\outside`, "x"}}, true},
		"a link that leads out":     {[][2]string{{"enc/weights", "->../../../tmp/x"}}, true},
		"a file through that link":  {[][2]string{{"enc/weights", "->/tmp/x"}, {"enc/weights/evil.txt", "x"}}, true},
		"a file through an own one": {[][2]string{{"enc/w", "->a"}, {"enc/w/evil.txt", "x"}}, true},
	} {
		for kind, b := range map[string][]byte{"zip": zipped(c.files), "tar.gz": tarred(c.files)} {
			path := filepath.Join(t.TempDir(), "enc."+kind)
			writeFile(t, path, b)
			r, err := Inspect("", path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := codes(r.Reasons)
			if !contains(got, "ARTIFACT_IS_ARCHIVE") || contains(got, "ARCHIVE_ESCAPE") != c.escape {
				t.Errorf("%s as %s: expected an escape: %v, found %v", name, kind, c.escape, r.Reasons)
			}
		}
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

func TestManyFilesEndTheScan(t *testing.T) {
	dir := t.TempDir()
	for i := range maxEntries + 5 {
		f, err := os.Create(filepath.Join(dir, strings.Repeat("a", i%7+1)+string(rune('a'+i%26))+itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	inv, reasons, err := Scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(inv.Entries) > maxEntries || !contains(codes(reasons), "ARTIFACT_TOO_LARGE") {
		t.Errorf("%d entries, %v", len(inv.Entries), reasons)
	}
}

func itoa(i int) string {
	var b []byte
	for ; i > 0 || len(b) == 0; i /= 10 {
		b = append(b, byte('0'+i%10))
	}
	return string(b)
}
