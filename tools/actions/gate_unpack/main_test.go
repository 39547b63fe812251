package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file is one entry of a made archive. A name that ends in "/" is a folder; link makes it a symbolic link.
type file struct{ name, text, link string }

var encoder = []file{
	{name: "a/"}, {name: "a/ggml-x-encoder.mlmodelc/"},
	{name: "a/ggml-x-encoder.mlmodelc/model.mil", text: "program"},
	{name: "a/ggml-x-encoder.mlmodelc/weights/weight.bin", text: "weights"},
	{name: "a/README", text: "not part of it"},
	{name: "__MACOSX/a/._ggml-x-encoder.mlmodelc/x", text: "attributes"},
}

func packTar(t *testing.T, files []file) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		if f.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func packTarGz(t *testing.T, files []file) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(packTar(t, files)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func packZip(t *testing.T, files []file) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.link != "" {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		entry, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(f.text + f.link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

var packers = map[string]func(*testing.T, []file) []byte{"zip": packZip, "tar": packTar, "tar.gz": packTarGz}

// unpackBytes runs the command on an archive; an empty digest stands for the right one.
func unpackBytes(t *testing.T, archive []byte, digest string) (code int, stderr, out string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(name, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	if digest == "" {
		sum := sha256.Sum256(archive)
		digest = hex.EncodeToString(sum[:])
	}
	out = filepath.Join(t.TempDir(), "other-name.mlmodelc")
	var buf bytes.Buffer
	code = run([]string{"--archive=" + name, "--sha256=" + digest, "--out=" + out}, &buf)
	return code, buf.String(), out
}

func TestUnpacksTheEncoderAndNothingElse(t *testing.T) {
	for kind, pack := range packers {
		t.Run(kind, func(t *testing.T) {
			code, stderr, out := unpackBytes(t, pack(t, encoder), "")
			if code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			for path, want := range map[string]string{"model.mil": "program", "weights/weight.bin": "weights"} {
				if got, err := os.ReadFile(filepath.Join(out, path)); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v, want %q", path, got, err, want)
				}
			}
			if entries, err := os.ReadDir(out); err != nil || len(entries) != 2 {
				t.Errorf("%d entries, %v, want 2", len(entries), err)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	inside := "ggml-x-encoder.mlmodelc/"
	for name, tc := range map[string]struct {
		files []file
		want  string
	}{
		"no encoder":        {[]file{{name: "a/model.mil", text: "x"}}, "expected one .mlmodelc folder, found 0"},
		"two encoders":      {[]file{{name: "a.mlmodelc/m", text: "x"}, {name: "b.mlmodelc/m", text: "x"}}, "expected one .mlmodelc folder, found 2"},
		"empty encoder":     {[]file{{name: inside}}, "expected files in it, found none"},
		"encoder is a file": {[]file{{name: "a.mlmodelc", text: "x"}}, "found 0"},
		"name that escapes": {[]file{{name: inside + "../../x", text: "x"}}, "names inside the archive's folder"},
		"absolute name":     {[]file{{name: "/etc/a.mlmodelc/x", text: "x"}}, "names inside the archive's folder"},
		"a name twice":      {[]file{{name: inside + "m", text: "x"}, {name: inside + "m", text: "y"}}, "each name once"},
		"a name twice but for case": {
			[]file{{name: inside + "m", text: "x"}, {name: inside + "M", text: "y"}}, "each name once",
		},
		"a name twice but for how its accent is written": {
			[]file{{name: inside + "\u00e9", text: "x"}, {name: inside + "e\u0301", text: "y"}}, "each name once",
		},
		"a file and a folder of one name": {
			[]file{{name: inside + "weights", text: "x"}, {name: inside + "weights/weight.bin", text: "y"}}, "expected a folder, found the file",
		},
		"link": {[]file{{name: inside + "m", text: "", link: "../../secret"}}, "expected a file or a folder"},
	} {
		for kind, pack := range packers {
			t.Run(name+"/"+kind, func(t *testing.T) {
				code, stderr, _ := unpackBytes(t, pack(t, tc.files), "")
				if code != 1 || !strings.Contains(stderr, tc.want) {
					t.Errorf("exit %d, %q, want 1 with %q", code, stderr, tc.want)
				}
			})
		}
	}
}

func TestRefusesOtherBytesBeforeReadingThem(t *testing.T) {
	code, stderr, out := unpackBytes(t, packZip(t, encoder), strings.Repeat("0", 64))
	if code != 1 || !strings.Contains(stderr, "expected SHA-256 0000") {
		t.Errorf("exit %d, %q, want 1 that names both digests", code, stderr)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

func TestRefusesWhatIsNoArchiveOrDamaged(t *testing.T) {
	whole, zipped := packTarGz(t, encoder), packZip(t, encoder)
	bad := bytes.Clone(whole)
	bad[len(bad)-8] ^= 1
	locked := bytes.Clone(zipped)
	for at := 0; at >= 0 && at < len(locked); { // the flag of an encrypted entry, in the list of names
		next := bytes.Index(locked[at:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		locked[at+next+8] |= 1
		at += next + 4
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"a pointer":               {[]byte("version https://git-lfs.github.com/spec/v1"), "git lfs pull"},
		"a web page":              {[]byte("<!DOCTYPE html>"), "an HTML page"},
		"empty":                   {nil, "an empty file"},
		"xz":                      {[]byte("\xfd7zXZ\x00\x00"), "an xz file"},
		"cut":                     {whole[:len(whole)/2], "cut short"},
		"a zip that is cut":       {zipped[:len(zipped)-30], "a damaged one"},
		"another checksum":        {bad, "a damaged one"},
		"two archives":            {append(bytes.Clone(whole), whole...), "nothing behind the tar's end"},
		"an archive and its tail": {append(bytes.Clone(whole), "more bytes than a header has"...), "a damaged one"},
		"encrypted":               {locked, "without a password"},
	} {
		if code, stderr, _ := unpackBytes(t, c.data, ""); code != 1 || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, %q, want 1 and %q", name, code, stderr, c.says)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--archive=a", "--sha256=b"}, {"--archive=a", "--sha256=b", "--out=c.zip"}, {"--archive=a", "--sha256=b", "--out=c.mlmodelc", "d"},
	} {
		var stderr bytes.Buffer
		if code := run(args, &stderr); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
}
