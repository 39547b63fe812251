package modulearchive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Limits of an archive that is compared.
const (
	// MaxBytes bounds the archive.
	MaxBytes = 256 << 20
	// maxUnpacked bounds what it unpacks to.
	maxUnpacked = 1 << 30
	// shownFiles is how many files a reason names.
	shownFiles = 8
)

// Compare compares an archive with its receipt, where names it for a reader: its digest, and what it holds. The contents are
// compared whatever the digest: a receipt that was signed over an archive which unpacks to something else is refused too.
func (s *Statement) Compare(archive []byte, where string) []reason.Reason {
	var out []reason.Reason
	sum := sha256.Sum256(archive)
	if found := hex.EncodeToString(sum[:]); found != s.Digest() {
		out = append(out, reason.Reason{Code: reason.ArchiveDiffers, Where: where, Expected: s.Subject[0].Name + " of SHA-256 " + s.Digest(), Found: found})
	}
	if found := s.contents(archive); found != "" {
		out = append(out, reason.Reason{Code: reason.ArchiveDiffers, Where: where, Expected: fmt.Sprintf("the %d files of the receipt, in its order, below %s/, each a plain file", len(s.Predicate.Files), s.Predicate.StripPrefix), Found: found})
	}
	return out
}

// contents says what an archive holds other than its receipt says; "" for nothing.
func (s *Statement) contents(archive []byte) string {
	in := bytes.NewReader(archive)
	z, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Sprintf("no gzip file: %v", err)
	}
	z.Multistream(false)
	want := map[string]string{}
	for _, f := range s.Predicate.Files {
		want[f.Path] = f.SHA256
	}
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	last := ""
	limited := &io.LimitedReader{R: z, N: maxUnpacked}
	for r := tar.NewReader(limited); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return listed(append(wrong, fmt.Sprintf("no tar archive, or a damaged one: %v", err)))
		}
		name, below := strings.CutPrefix(h.Name, s.Predicate.StripPrefix+"/")
		sum, known := want[name]
		switch {
		case h.Typeflag != tar.TypeReg:
			add("%q is %s", h.Name, kind(h))
			continue
		case !below || unsafe(name) != "":
			add("%q, which is no path below the folder", h.Name)
			continue
		case !known:
			add("%q is none of the receipt's, or there a second time", name)
			continue
		}
		delete(want, name)
		hash := sha256.New()
		if _, err := io.Copy(hash, r); err != nil {
			return listed(append(wrong, fmt.Sprintf("%q cannot be read: %v", name, err)))
		}
		if found := hex.EncodeToString(hash.Sum(nil)); found != sum {
			add("%q has SHA-256 %s", name, found)
		}
		if name < last {
			add("%q behind %q", name, last)
		}
		last = name
		if dressed := dressed(h); dressed != "" {
			add("%q has %s", name, dressed)
		}
	}
	for _, f := range s.Predicate.Files {
		if _, missing := want[f.Path]; missing {
			add("%q is missing", f.Path)
		}
	}
	// What other readers take for more of the archive.
	rest, err := io.ReadAll(limited)
	switch {
	case err != nil:
		add("a damaged end: %v", err)
	case len(bytes.Trim(rest, "\x00")) > 0:
		add("%d bytes behind the archive's end", len(rest))
	case in.Len() > 0:
		add("%d bytes behind the gzip file", in.Len())
	}
	return listed(wrong)
}

// kind names an entry that is no plain file.
func kind(h *tar.Header) string {
	switch h.Typeflag {
	case tar.TypeSymlink:
		return fmt.Sprintf("a symbolic link to %q", h.Linkname)
	case tar.TypeLink:
		return fmt.Sprintf("a hard link to %q", h.Linkname)
	case tar.TypeDir:
		return "a folder"
	case tar.TypeFifo:
		return "a pipe"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	}
	return fmt.Sprintf("an entry of type %q", h.Typeflag)
}

// dressed says what an entry has beyond name and contents: an owner, a time, a mode of its own.
func dressed(h *tar.Header) string {
	switch {
	case h.ModTime.Unix() != 0:
		return "a time: " + h.ModTime.UTC().Format("2006-01-02T15:04:05Z")
	case h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "":
		return fmt.Sprintf("an owner: %d %q, %d %q", h.Uid, h.Uname, h.Gid, h.Gname)
	case h.Mode != 0o644 && h.Mode != 0o755:
		return fmt.Sprintf("mode %04o", h.Mode)
	case len(h.PAXRecords) > 0:
		return "extended headers"
	}
	return ""
}

func listed(wrong []string) string {
	if len(wrong) > shownFiles {
		wrong = append(wrong[:shownFiles:shownFiles], fmt.Sprintf("and %d more", len(wrong)-shownFiles))
	}
	return strings.Join(wrong, "; ")
}
