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
// encoder: it must be unpacked first, or must not be where its names or links
// leave the folder; never both. Archives of other kinds are named alone. found is
// false for files that are no archive.
func inspectArchive(name string) (found bool, list findings, err error) {
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
	const want = "an .mlmodelc folder"
	a := &archive{}
	switch archiveKind(head) {
	case "zip":
		err = a.zip(name)
	case "gzip":
		var z *gzip.Reader
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			if z, err = gzip.NewReader(f); err == nil {
				packed := &bounded{z, maxUnpacked}
				if err = a.tar(packed); err == nil {
					// The checksum is behind what a tar reader reads.
					_, err = io.Copy(io.Discard, packed)
				}
			}
		}
	case "tar":
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = a.tar(f)
		}
	case "":
		return false, nil, nil
	default:
		list.stop(unread, reason.ArtifactIsArchive, name, want, archiveKind(head)+", which is not looked into")
		return true, list, nil
	}
	if errors.Is(err, errFurther) {
		list.stop(unread, reason.ArtifactIsArchive, name, want, "an archive of "+err.Error())
		return true, list, nil
	}
	if err != nil {
		// Nothing more can be said of a damaged archive, and unpacking it does not help.
		list.stop(unread, reason.ArtifactUnknown, name, want, "an archive that is cut short or damaged ("+err.Error()+"): fetch or pack it again")
		return true, list, nil
	}
	if len(a.escapes) > 0 {
		return true, a.escapes, nil // who is told not to unpack an archive is not told to unpack it
	}
	list.stop(unread, reason.ArtifactIsArchive, name, want, fmt.Sprintf("an archive of %d entries", a.entries))
	return true, list, nil
}

// archiveKind says by its first bytes which kind of archive a file is, "" for none.
func archiveKind(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return "zip"
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "gzip"
	case len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar")):
		return "tar"
	}
	for _, p := range otherArchives {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return p.kind
		}
	}
	return ""
}

// otherArchives are archives whose names are not read.
var otherArchives = []struct{ magic, kind string }{
	{"\xfd7zXZ\x00", "an xz archive"}, {"\x28\xb5\x2f\xfd", "a zstd archive"}, {"BZh", "a bzip2 archive"}, {"7z\xbc\xaf\x27\x1c", "a 7z archive"}, {"Rar!\x1a\x07", "a RAR archive"},
	{"\x04\x22\x4d\x18", "an lz4 archive"}, {"AA01", "an Apple Archive"}, {"pbz", "a packed Apple Archive"}, {"xar!", "an installer package"},
}

// errFurther ends the look into an archive that is whole as far as anyone knows.
var errFurther = errors.New("which is not looked at further")

// maxUnpacked bounds what is unpacked to look at the names in an archive: a few seconds' work.
const maxUnpacked = 1 << 30

// bounded ends with an error once more than left bytes were read.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("more than %d bytes unpacked, %w", int64(maxUnpacked), errFurther)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

type archive struct {
	entries int
	escapes findings
	links   map[string]bool
}

const maxArchiveEntries = 100_000

func (a *archive) add(name string, mode fs.FileMode, target string) error {
	if a.entries++; a.entries > maxArchiveEntries {
		return fmt.Errorf("more than %d entries, %w", maxArchiveEntries, errFurther)
	}
	fault := func(found string) {
		if len(a.escapes) < 100 {
			a.escapes.stop(unread, reason.ArchiveEscape, name, "names inside the folder that the archive is unpacked to", found)
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
