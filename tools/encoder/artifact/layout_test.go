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
		}, []string{"CONVERSION_INTERRUPTED"}},
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
		}, []string{"ARTIFACT_LINK"}},
		{"a link out", func(t *testing.T, enc string) { link(t, "../../outside", filepath.Join(enc, "analytics")) }, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"an absolute link", func(t *testing.T, enc string) { link(t, "/etc/hosts", filepath.Join(enc, "analytics")) }, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"a link to a link out", func(t *testing.T, enc string) {
			link(t, "../..", filepath.Join(enc, "one"))
			link(t, "one/outside", filepath.Join(enc, "two"))
		}, []string{"ARTIFACT_LINK", "ARTIFACT_PATH_ESCAPE"}},
		{"a weight path out of the artifact", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "@model_path/weights/weight.bin", "@model_path/../weights/weight.bin")
		}, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"an absolute weight path", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "model.mil"), "@model_path/weights/weight.bin", "/etc/passwd")
		}, []string{"ARTIFACT_PATH_ESCAPE"}},
		{"names that fold together", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "Model.mil"), []byte("x"))
		}, []string{"ARTIFACT_NAME_COLLISION", "EXTRA_FILE"}},
		{"a name with a line break", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "a\nb"), []byte("x"))
		}, []string{"ARTIFACT_NAME_UNSAFE", "EXTRA_FILE"}},
		{"a name that reads backwards", func(t *testing.T, enc string) {
			writeFile(t, filepath.Join(enc, "a\u202eb"), []byte("x"))
		}, []string{"ARTIFACT_NAME_UNSAFE", "EXTRA_FILE"}},
		{"weights in other capitals", func(t *testing.T, enc string) {
			if err := os.Rename(filepath.Join(enc, "weights"), filepath.Join(enc, "Weights")); err != nil {
				t.Fatal(err)
			}
		}, []string{"ARTIFACT_INCOMPLETE"}},
		{"a pipe for weights", func(t *testing.T, enc string) {
			remove(t, weight(enc))
			if err := syscall.Mkfifo(weight(enc), 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{"ARTIFACT_SPECIAL_FILE"}},
		{"another model's metadata", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "metadata.json"), `"name": "output"`, `"name": "embedding"`)
		}, []string{"INTERFACE_CONTRADICTION"}},
		{"metadata of another size", func(t *testing.T, enc string) {
			edit(t, filepath.Join(enc, "metadata.json"), `"shape": "[1, 80, 40]"`, `"shape": "[1, 80, 3000]"`)
		}, []string{"INTERFACE_CONTRADICTION"}},
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

// What stands in a file's place is named, and nothing else is said of it.
func TestPlaces(t *testing.T) {
	crlf := func(b []byte) []byte {
		return bytes.ReplaceAll(append(b, "a\nb\nc\nd\ne\nf\ng\nh\n"...), []byte("\n"), []byte("\r\n"))
	}
	for _, c := range []struct {
		name, file, code, says string
		becomes                func([]byte) []byte
	}{
		{"a web page", "weights/weight.bin", "ARTIFACT_MALFORMED", "an HTML page", func([]byte) []byte { return []byte("<!DOCTYPE html><html>") }},
		{"a web page", "model.mil", "ARTIFACT_MALFORMED", "an HTML page", func([]byte) []byte { return []byte("<html>") }},
		{"a git-annex pointer", "weights/weight.bin", "ARTIFACT_MALFORMED", "git annex get", func([]byte) []byte { return []byte("/annex/objects/SHA256E-s12--ab.bin\n") }},
		{"a DVC pointer", "weights/weight.bin", "ARTIFACT_MALFORMED", "dvc pull", func([]byte) []byte { return []byte("outs:\n- md5: ab\n  size: 12\n  path: weight.bin\n") }},
		{"gzip", "weights/weight.bin", "ARTIFACT_MALFORMED", "a gzip file: unpack it", func([]byte) []byte { return []byte("\x1f\x8b\x08\x00") }},
		{"zeros", "weights/weight.bin", "ARTIFACT_MALFORMED", "zeros alone", func(b []byte) []byte { return make([]byte, len(b)) }},
		{"CR LF", "weights/weight.bin", "ARTIFACT_MALFORMED", "line feeds became CR LF", crlf},
		{"an editor", "coremldata.bin", "ARTIFACT_MALFORMED", "a byte-order mark before it", func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) }},
		{"nothing", "metadata.json", "ARTIFACT_MALFORMED", "an empty file", func([]byte) []byte { return nil }},
		{"CR LF", "../ggml-x.bin", "MODEL_MALFORMED", "line feeds became CR LF", crlf},
		{"an editor", "../ggml-x.bin", "MODEL_NOT_GGML", "a byte-order mark before it", func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) }},
	} {
		_, model, enc := pair(t)
		path := filepath.Join(enc, c.file)
		if c.file[0] == '.' {
			path = model
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, c.becomes(b))
		if r := expect(t, model, enc, Options{}, c.code); !strings.Contains(r.Reasons[0].Found, c.says) {
			t.Errorf("%s in place of %s: %v, want %q", c.name, c.file, r.Reasons, c.says)
		}
	}
}

// A model and its encoder in the wrong order are told so, and a download that was not renamed is not told to rename its
// encoder too.
func TestArguments(t *testing.T) {
	_, model, enc := pair(t)
	if r := expect(t, enc, model, Options{}, "MODEL_NOT_GGML"); !strings.Contains(r.Reasons[0].Found, "exchange them") {
		t.Errorf("%v", r.Reasons)
	}
	if err := os.Rename(model, model+".download"); err != nil {
		t.Fatal(err)
	}
	expect(t, model+".download", enc, Options{}, "MODEL_NAME")
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
