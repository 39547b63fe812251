package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An archive is not an encoder, and one that would be unpacked elsewhere is worse
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
			if contains(got, "ARTIFACT_IS_ARCHIVE") == c.escape || contains(got, "ARCHIVE_ESCAPE") != c.escape {
				t.Errorf("%s as %s: expected an escape: %v, found %v", name, kind, c.escape, r.Reasons)
			}
		}
	}
}

// A damaged archive is not told to be unpacked, and a file that is neither an archive nor an encoder is not told to be renamed.
func TestDamagedArchives(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "x-encoder.mlmodelc/model.mil", Mode: 0o644, Size: 4, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []func() error{func() error { _, err := w.Write([]byte("text")); return err }, w.Close, z.Close} {
		if err := err(); err != nil {
			t.Fatal(err)
		}
	}
	whole := packed.Bytes()
	checksum := bytes.Clone(whole)
	checksum[len(checksum)-8] ^= 1
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"cut": {whole[:len(whole)/2], "cut short or damaged"}, "another checksum": {checksum, "cut short or damaged"}, "a zip that is cut": {[]byte("PK\x03\x04 and no more"), "cut short or damaged"},
		"a web page": {[]byte("<html>"), "an HTML page"}, "nothing": {nil, "an empty file"}, "words": {[]byte("not a model"), "no Core ML model"},
	} {
		_, model, enc := pair(t)
		writeFile(t, enc+".tar.gz", c.data)
		if r := expect(t, model, enc+".tar.gz", Options{}, "ARTIFACT_UNKNOWN"); !strings.Contains(r.Reasons[0].Found, c.says) {
			t.Errorf("%s: %v, want %q", name, r.Reasons, c.says)
		}
	}
}
