package pin

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
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
	all, err := ParsePatches(data)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.Path
		}
		return nil, reason.Errorf(reason.PatchForm, "patch", "exactly one file", "%d: %s", len(all), strings.Join(names, ", "))
	}
	return all[0], nil
}

// ParsePatches reads a patch of one or more files, in the order in which it names them, and refuses anything but edits of
// existing text files in place. Each result's SHA256 is that of the whole patch.
func ParsePatches(data []byte) ([]*Patch, error) {
	if len(data) > MaxPatchBytes {
		return nil, fmt.Errorf("patch has %d bytes, more than the limit of %d", len(data), MaxPatchBytes)
	}
	files, preamble, err := gitdiff.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("parse patch: %w", err)
	}
	if preamble != "" && len(files) > 0 {
		return nil, reason.Errorf(reason.PatchForm, "patch", "nothing before the diff", "%d bytes", len(preamble))
	}
	var out []*Patch
	for _, f := range files {
		p, err := parseFile(f, data)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// parseFile takes one file's part of the patch data.
func parseFile(f *gitdiff.File, data []byte) (*Patch, error) {
	switch {
	case f.IsNew || f.IsDelete || f.IsCopy || f.IsRename || f.OldName != f.NewName:
		return nil, reason.Errorf(reason.PatchForm, "patch", "an edit of a file in place", "a change from %q to %q", f.OldName, f.NewName)
	case f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode:
		return nil, reason.Errorf(reason.PatchForm, f.NewName, "its mode left alone", "%o to %o", f.OldMode, f.NewMode)
	case f.IsBinary || len(f.TextFragments) == 0:
		return nil, reason.Errorf(reason.PatchForm, f.NewName, "changed lines", "none")
	}
	if err := checkPath(f.NewName); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return &Patch{Path: f.NewName, SHA256: Digest(data), file: f}, nil
}

// Apply returns the content after the patch. Each hunk must fit exactly at the line it names.
func (p *Patch) Apply(content []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(content), p.file); err != nil {
		if lines, converted := withLF(content); converted && gitdiff.Apply(io.Discard, bytes.NewReader(lines), p.file) == nil {
			return nil, lineEnds(p.Path, "the patch fits the same lines with LF")
		}
		return nil, reason.Errorf(reason.PatchApply, p.Path, "each hunk exactly at its line", "%v", err)
	}
	return out.Bytes(), nil
}

// Offset says how many lines away from where they claim to be the patch's hunks would fit, if each fits at
// exactly one place and all are equally far off. It is for reports: [Patch.Apply] takes no offset.
func (p *Patch) Offset(content []byte) (lines int64, ok bool) {
	text := strings.SplitAfter(string(content), "\n")
	for i, f := range p.file.TextFragments {
		var old []string
		for _, line := range f.Lines {
			if line.Old() {
				old = append(old, line.Line)
			}
		}
		at := occurrences(text, old)
		if len(at) != 1 {
			return 0, false
		}
		off := int64(at[0]) + 1 - f.OldPosition
		if i > 0 && off != lines {
			return 0, false
		}
		lines = off
	}
	return lines, true
}

func occurrences(text, lines []string) []int {
	var at []int
	for i := 0; len(lines) > 0 && i+len(lines) <= len(text); i++ {
		if slices.Equal(text[i:i+len(lines)], lines) {
			at = append(at, i)
		}
	}
	return at
}

// Revert returns the content before the patch: the other direction of [Patch.Apply], as strict.
func (p *Patch) Revert(content []byte) ([]byte, error) {
	reversed := *p.file
	reversed.TextFragments = make([]*gitdiff.TextFragment, len(p.file.TextFragments))
	for i, f := range p.file.TextFragments {
		r := *f
		r.OldPosition, r.NewPosition = f.NewPosition, f.OldPosition
		r.OldLines, r.NewLines = f.NewLines, f.OldLines
		r.LinesAdded, r.LinesDeleted = f.LinesDeleted, f.LinesAdded
		r.Lines = make([]gitdiff.Line, len(f.Lines))
		for j, line := range f.Lines {
			switch line.Op {
			case gitdiff.OpAdd:
				line.Op = gitdiff.OpDelete
			case gitdiff.OpDelete:
				line.Op = gitdiff.OpAdd
			}
			r.Lines[j] = line
		}
		reversed.TextFragments[i] = &r
	}
	return (&Patch{Path: p.Path, file: &reversed}).Apply(content)
}

// PinnedPatch reads a patch and holds it against its pin: its bytes, and the one file that it touches.
func PinnedPatch(p *Pin, patch []byte) (*Patch, error) {
	if found := Digest(patch); found != p.Patch.SHA256 {
		if how := Rewritten(patch, p.Patch.SHA256); how != "" {
			found += ", " + how
		}
		return nil, reason.Errorf(reason.PatchBytes, p.Patch.Label, "SHA-256 "+p.Patch.SHA256, "%s", found)
	}
	parsed, err := ParsePatch(patch)
	if err != nil {
		return nil, err
	}
	if parsed.Path != p.PatchedFile.Path {
		return nil, reason.Errorf(reason.PatchForm, p.Patch.Label, "a change of "+p.PatchedFile.Path, "%s", parsed.Path)
	}
	return parsed, nil
}

// VerifyPatch is [PinnedPatch], and holds what comes of the source's file, patched in a buffer, against the pin.
func VerifyPatch(p *Pin, patch []byte, src Source) error {
	parsed, err := PinnedPatch(p, patch)
	if err != nil {
		return err
	}
	content, err := src.Read(parsed.Path)
	if err != nil {
		return err
	}
	patched, err := parsed.Apply(content)
	if err != nil {
		return err
	}
	if found := Digest(patched); found != p.PatchedFile.SHA256 {
		return reason.Errorf(reason.PatchedFile, parsed.Path, "SHA-256 "+p.PatchedFile.SHA256, "%s", found)
	}
	return nil
}

func patchDiffers(want PatchRef, found string) error {
	return reason.Errorf(reason.PatchBytes, want.Label, "SHA-256 "+want.SHA256, "%s", found)
}

func patchedDiffers(want FurtherPatch, found []FileRef) error {
	return reason.Errorf(reason.PatchedFile, want.Label, fmt.Sprint(want.PatchedFiles), "%v", found)
}
