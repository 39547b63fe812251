package tree

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, root string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func digest(t testing.TB, root string) string {
	t.Helper()
	d, err := Digest(root)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var encoder = map[string]string{
	"model.mil": "program(1.0)", "metadata.json": "[]", "coremldata.bin": "\xf6\x01", "weights/weight.bin": "weights",
	"weights.txt": "sorts between a folder and its files", "a b/c": "a space", "é": "an accent", "empty": "",
}

// The format that the package documents, written out by hand.
func TestFormat(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{"b": "2", "a/c": "1", "a.": "3"})
	var text strings.Builder
	for _, f := range [][2]string{{"a.", "3"}, {"a/c", "1"}, {"b", "2"}} {
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256([]byte(f[1])), f[0])
	}
	if got, want := digest(t, root), fmt.Sprintf("%x", sha256.Sum256([]byte(text.String()))); got != want {
		t.Errorf("digest %s, the documented text gives %s", got, want)
	}
}

// The shell command of the package's documentation gives the same digest.
func TestShell(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the documented command is GNU's")
	}
	root := write(t, t.TempDir(), encoder)
	cmd := exec.Command("sh", "-c", `(cd "$1" && find . -type f | cut -c3- | LC_ALL=C sort | xargs -d'\n' sha256sum) | sha256sum`, "sh", root)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := digest(t, root), strings.Fields(string(out))[0]; got != want {
		t.Errorf("digest %s, the command prints %s", got, want)
	}
}

func TestWhatCounts(t *testing.T) {
	base := digest(t, write(t, t.TempDir(), encoder))
	for _, c := range []struct {
		name   string
		change func(root string) error
		same   bool
	}{
		{"nothing", func(string) error { return nil }, true},
		{"times", func(r string) error {
			return os.Chtimes(filepath.Join(r, "model.mil"), time.Unix(1, 0), time.Unix(1, 0))
		}, true},
		{"a run bit", func(r string) error { return os.Chmod(filepath.Join(r, "model.mil"), 0o755) }, true},
		{"an empty folder", func(r string) error { return os.Mkdir(filepath.Join(r, "new"), 0o755) }, true},
		{"a byte", func(r string) error {
			return os.WriteFile(filepath.Join(r, "model.mil"), []byte("program(1.1)"), 0o644)
		}, false},
		{"a byte more", func(r string) error { return os.WriteFile(filepath.Join(r, "empty"), []byte("\n"), 0o644) }, false},
		{"a name", func(r string) error { return os.Rename(filepath.Join(r, "empty"), filepath.Join(r, "emptz")) }, false},
		{"a place", func(r string) error {
			return os.Rename(filepath.Join(r, "empty"), filepath.Join(r, "weights", "empty"))
		}, false},
		{"a file less", func(r string) error { return os.Remove(filepath.Join(r, "empty")) }, false},
		{"a file more", func(r string) error { return os.WriteFile(filepath.Join(r, "more"), nil, 0o644) }, false},
	} {
		root := write(t, t.TempDir(), encoder)
		if err := c.change(root); err != nil {
			t.Fatal(err)
		}
		if got := digest(t, root); (got == base) != c.same {
			t.Errorf("%s changed: expected the same digest: %v, found %s and %s", c.name, c.same, base, got)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(root string) error
		says   string
	}{
		{"a link", func(r string) error { return os.Symlink("model.mil", filepath.Join(r, "link")) }, "link is a symbolic link"},
		{"a link out", func(r string) error { return os.Symlink("/etc", filepath.Join(r, "out")) }, "out is a symbolic link"},
		{"names that fold together", func(r string) error { return os.WriteFile(filepath.Join(r, "MODEL.mil"), nil, 0o644) }, "case-insensitive"},
		{"a line break", func(r string) error { return os.WriteFile(filepath.Join(r, "a\nb"), nil, 0o644) }, "cannot stand in a manifest"},
		{"a backslash", func(r string) error { return os.WriteFile(filepath.Join(r, `a\b`), nil, 0o644) }, "cannot stand in a manifest"},
		{"a name that is not text", func(r string) error { return os.WriteFile(filepath.Join(r, "a\xff"), nil, 0o644) }, "cannot stand in a manifest"},
	} {
		root := write(t, t.TempDir(), encoder)
		if err := c.change(root); err != nil {
			t.Logf("%s: this disk has no such names: %v", c.name, err)
			continue
		}
		if _, err := Digest(root); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: expected %q, found %v", c.name, c.says, err)
		}
	}
	if _, err := Digest(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a tree that does not exist has a digest")
	}
}

// TestCheckFiles holds that a list which no tree gives is refused, however well its lines hash.
func TestCheckFiles(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for _, c := range []struct {
		name  string
		files []File
		ok    bool
	}{
		{"good", []File{{Path: "a", SHA256: sum}, {Path: "b/c", SHA256: sum, Size: 1}}, true},
		{"none", nil, true},
		{"out of order", []File{{Path: "b", SHA256: sum}, {Path: "a", SHA256: sum}}, false},
		{"twice", []File{{Path: "a", SHA256: sum}, {Path: "a", SHA256: sum}}, false},
		{"one name where case does not count", []File{{Path: "A", SHA256: sum}, {Path: "a", SHA256: sum}}, false},
		{"two lines", []File{{Path: "a\n" + sum + "  b", SHA256: sum}}, false},
		{"outside", []File{{Path: "../a", SHA256: sum}}, false},
		{"absolute", []File{{Path: "/a", SHA256: sum}}, false},
		{"the root", []File{{Path: ".", SHA256: sum}}, false},
		{"no digest", []File{{Path: "a", SHA256: strings.ToUpper(sum)}}, false},
		{"negative size", []File{{Path: "a", SHA256: sum, Size: -1}}, false},
	} {
		if err := CheckFiles(c.files); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFollowLinks(t *testing.T) {
	root := write(t, t.TempDir(), encoder)
	want := digest(t, root)
	linked := t.TempDir()
	for name := range encoder {
		path := filepath.Join(linked, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, filepath.FromSlash(name)), path); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files(linked, FollowLinks)
	if err != nil {
		t.Fatal(err)
	}
	if got := DigestFiles(files); got != want {
		t.Errorf("through links the digest is %s, of the files it is %s", got, want)
	}
}

func BenchmarkDigest(b *testing.B) {
	root := b.TempDir()
	big := strings.Repeat("weights ", 1<<21) // 16 MiB
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("weights/%d.bin", i)] = big
	}
	for i := range 200 {
		files[fmt.Sprintf("small/%03d", i)] = "x"
	}
	write(b, root, files)
	b.SetBytes(int64(8 * len(big)))
	for b.Loop() {
		digest(b, root)
	}
}
