package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// inspectArchive looks into a zip, tar or tar.gz file that was given as an
// encoder: it must be unpacked first, and should not be if its names or links
// leave the folder. found is false for files of other kinds.
func inspectArchive(name string) (found bool, reasons []reason.Reason, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, nil, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil, err
	}
	head = head[:n]
	a := &archive{}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		err = a.zip(name)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		var z *gzip.Reader
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			if z, err = gzip.NewReader(f); err == nil {
				err = a.tar(io.LimitReader(z, maxBytes))
			}
		}
	case n > 262 && bytes.Equal(head[257:262], []byte("ustar")):
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = a.tar(f)
		}
	default:
		return false, nil, nil
	}
	const want = "an .mlmodelc folder"
	if err != nil {
		// Nothing more can be said of a damaged archive.
		return true, []reason.Reason{{Code: reason.ArtifactIsArchive, Where: name, Expected: want, Found: "an archive that cannot be read: " + err.Error()}}, nil
	}
	reasons = a.escapes
	reasons = append(reasons, reason.Reason{Code: reason.ArtifactIsArchive, Where: name, Expected: want,
		Found: fmt.Sprintf("an archive of %d entries", a.entries)})
	return true, reasons, nil
}

type archive struct {
	entries int
	escapes []reason.Reason
	links   map[string]bool
}

const maxArchiveEntries = 100_000

func (a *archive) add(name string, mode fs.FileMode, target string) error {
	if a.entries++; a.entries > maxArchiveEntries {
		return fmt.Errorf("more than %d entries", maxArchiveEntries)
	}
	fault := func(found string) {
		if len(a.escapes) < 100 {
			a.escapes = append(a.escapes, reason.Reason{Code: reason.ArchiveEscape, Where: name,
				Expected: "names inside the folder that the archive is unpacked to", Found: found})
		}
	}
	slashed := strings.ReplaceAll(name, `\`, "/")
	clean := path.Clean(slashed)
	switch {
	case strings.HasPrefix(slashed, "/"), len(slashed) > 1 && slashed[1] == ':':
		fault("an absolute name")
	case clean == "..", strings.HasPrefix(clean, "../"):
		fault("a name that leads out")
	}
	for dir := path.Dir(clean); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if a.links[dir] {
			fault(fmt.Sprintf("a name that is written through the link %q", dir))
			break
		}
	}
	if mode&fs.ModeSymlink != 0 {
		if a.links == nil {
			a.links = map[string]bool{}
		}
		a.links[clean] = true
		t := path.Clean(path.Join(path.Dir(clean), target))
		if path.IsAbs(target) || t == ".." || strings.HasPrefix(t, "../") {
			fault(fmt.Sprintf("a link to %q", target))
		}
	}
	return nil
}

func (a *archive) zip(name string) error {
	z, err := zip.OpenReader(name)
	// A reader that reports unsafe names is still usable.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		target := ""
		if f.Mode()&fs.ModeSymlink != 0 {
			if target, err = linkTarget(f); err != nil {
				return err
			}
		}
		if err := a.add(f.Name, f.Mode(), target); err != nil {
			return err
		}
	}
	return nil
}

func linkTarget(f *zip.File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, 4096))
	return string(b), err
}

func (a *archive) tar(r io.Reader) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			// A hard link names its target from the archive's root.
			if err := a.add(h.Name+" -> "+h.Linkname, 0, ""); err != nil {
				return err
			}
			if err := a.add(h.Linkname, 0, ""); err != nil {
				return err
			}
			continue
		}
		if err := a.add(h.Name, mode, h.Linkname); err != nil {
			return err
		}
	}
}
