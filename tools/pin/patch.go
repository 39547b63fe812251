package pin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// MaxPatchBytes bounds a patch that [ParsePatch] takes.
const MaxPatchBytes = 1 << 20

// Patch is a compatibility patch: an edit of exactly one existing text file.
type Patch struct {
	// Path is the file that it touches.
	Path string
	// SHA256 is the digest of the patch's bytes.
	SHA256 string

	file *gitdiff.File
}

// ParsePatch reads a patch and refuses anything but edits of one existing text file in place.
func ParsePatch(data []byte) (*Patch, error) {
	if len(data) > MaxPatchBytes {
		return nil, fmt.Errorf("patch has %d bytes, more than the limit of %d", len(data), MaxPatchBytes)
	}
	files, preamble, err := gitdiff.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("parse patch: %w", err)
	}
	if len(files) != 1 {
		names := make([]string, len(files))
		for i, f := range files {
			names[i] = f.NewName
		}
		return nil, fmt.Errorf("patch must touch exactly one file, found %d: %s", len(files), strings.Join(names, ", "))
	}
	f := files[0]
	switch {
	case preamble != "":
		return nil, fmt.Errorf("patch has %d bytes of text before its diff, expected none", len(preamble))
	case f.IsNew || f.IsDelete || f.IsCopy || f.IsRename || f.OldName != f.NewName:
		return nil, fmt.Errorf("patch must edit a file in place, found a change from %q to %q", f.OldName, f.NewName)
	case f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode:
		return nil, fmt.Errorf("patch must leave the mode of %s alone, found %o to %o", f.NewName, f.OldMode, f.NewMode)
	case f.IsBinary || len(f.TextFragments) == 0:
		return nil, fmt.Errorf("patch must change lines of %s, found none", f.NewName)
	}
	if err := checkPath(f.NewName); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return &Patch{Path: f.NewName, SHA256: digest(data), file: f}, nil
}

// Apply returns the content after the patch. Each hunk must fit exactly at the line it names.
func (p *Patch) Apply(content []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(content), p.file); err != nil {
		return nil, fmt.Errorf("apply patch to %s: %w", p.Path, err)
	}
	return out.Bytes(), nil
}

// VerifyPatch holds a patch against its pin: its bytes, the one file it touches, and what comes of the
// source's file when it is applied to a buffer.
func VerifyPatch(p *Pin, patch []byte, src Source) error {
	if found := digest(patch); found != p.Patch.SHA256 {
		return fmt.Errorf("patch %s of pin %s: expected SHA-256 %s, found %s", p.Patch.Label, p.Name, p.Patch.SHA256, found)
	}
	parsed, err := ParsePatch(patch)
	if err != nil {
		return fmt.Errorf("patch %s: %w", p.Patch.Label, err)
	}
	if parsed.Path != p.PatchedFile.Path {
		return fmt.Errorf("patch %s: expected to touch %s, found %s", p.Patch.Label, p.PatchedFile.Path, parsed.Path)
	}
	content, err := src.Read(parsed.Path)
	if err != nil {
		return err
	}
	patched, err := parsed.Apply(content)
	if err != nil {
		return err
	}
	if found := digest(patched); found != p.PatchedFile.SHA256 {
		return fmt.Errorf("patched %s of pin %s: expected SHA-256 %s, found %s", parsed.Path, p.Name, p.PatchedFile.SHA256, found)
	}
	return nil
}
