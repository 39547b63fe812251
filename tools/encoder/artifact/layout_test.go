package artifact

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
		}, []string{"CONVERSION_INTERRUPTED"}},
		{"no data", func(t *testing.T, pkg string) { remove(t, filepath.Join(pkg, "Data")) },
			[]string{"CONVERSION_INTERRUPTED"}},
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
