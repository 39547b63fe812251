package pin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Recipe is what a pin is made from.
type Recipe struct {
	// Name and Commit go into the pin; URLs are where others may get an archive of the commit.
	Name, Commit string
	URLs         []string
	// Source is the tree at that commit, without patches.
	Source Source
	// Paths are the files that the build may read.
	Paths []string
	// Patch is the compatibility patch, Patches those of the pin's owner, in order.
	Patch   LabelledPatch
	Patches []LabelledPatch
}

// LabelledPatch is a patch's bytes under the label that a build names it by.
type LabelledPatch struct {
	Label string
	Data  []byte
}

// Make makes a pin and its manifest. Every patch is applied to the source in memory, each hunk exactly at its line, and may
// touch files of the manifest alone. The pin is not supported: a release gate takes it only on demand.
func Make(r Recipe) (*Pin, Manifest, error) {
	nodes, err := r.Source.Nodes()
	if err != nil {
		return nil, nil, err
	}
	tree, err := TreeID(nodes)
	if err != nil {
		return nil, nil, err
	}
	m, err := MakeManifest(r.Source, r.Paths)
	if err != nil {
		return nil, nil, err
	}
	p := &Pin{
		Name: r.Name, Commit: r.Commit, Tree: tree, URLs: append([]string{}, r.URLs...),
		Manifest: ManifestRef{File: r.Name + ".manifest", SHA256: m.Digest()},
		Versions: ReadVersions(r.Source, r.Commit),
	}
	t := patchedTree{source: r.Source, manifest: m, files: map[string][]byte{}}
	first, err := t.apply(r.Patch)
	if err != nil {
		return nil, nil, err
	}
	if len(first) != 1 {
		return nil, nil, fmt.Errorf("patch %s: expected one file, found %d: the compatibility patch changes one line", r.Patch.Label, len(first))
	}
	p.Patch, p.PatchedFile = PatchRef{r.Patch.Label, Digest(r.Patch.Data)}, first[0]
	for _, further := range r.Patches {
		files, err := t.apply(further)
		if err != nil {
			return nil, nil, err
		}
		p.Patches = append(p.Patches, FurtherPatch{PatchRef{further.Label, Digest(further.Data)}, files})
	}
	if err := p.Identity().check(); err != nil {
		return nil, nil, fmt.Errorf("pin %s: %w", r.Name, err)
	}
	return p, m, nil
}

// patchedTree is a source with the patches so far.
type patchedTree struct {
	source   Source
	manifest Manifest
	files    map[string][]byte
}

// apply applies a patch and returns what it touched, as it is afterwards, sorted by path.
func (t *patchedTree) apply(p LabelledPatch) ([]FileRef, error) {
	parts, err := ParsePatches(p.Data)
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", p.Label, err)
	}
	if len(parts) == 0 {
		return nil, reason.Errorf(reason.PatchForm, p.Label, "a git diff of at least one file", "none")
	}
	var out []FileRef
	for _, part := range parts {
		if _, ok := t.manifest.Find(part.Path); !ok {
			return nil, reason.Errorf(reason.PatchForm, p.Label, "changes of files that the build reads, which the pin's manifest lists", "one of %s", part.Path)
		}
		if slices.ContainsFunc(out, func(f FileRef) bool { return f.Path == part.Path }) {
			return nil, reason.Errorf(reason.PatchForm, p.Label, "each file once, with all of its hunks", "%s twice", part.Path)
		}
		content, ok := t.files[part.Path]
		if !ok {
			if content, err = t.source.Read(part.Path); err != nil {
				return nil, err
			}
		}
		if t.files[part.Path], err = part.Apply(content); err != nil {
			return nil, fmt.Errorf("patch %s: %w", p.Label, err)
		}
		out = append(out, FileRef{part.Path, Digest(t.files[part.Path])})
	}
	slices.SortFunc(out, func(a, b FileRef) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// VerifyPatches checks every patch of a pin against a source: the SHA-256 of the compatibility patch and of each further one,
// that each fits on top of those before it, and the SHA-256 of every file that it leaves. Nothing is written. A fault is a
// [*reason.Error].
func VerifyPatches(p *Pin, m Manifest, patch []byte, further [][]byte, src Source) error {
	if err := VerifyPatch(p, patch, src); err != nil {
		return err
	}
	if len(further) != len(p.Patches) {
		return fmt.Errorf("pin %s names %d patches of its owner, found %d: give each", p.Name, len(p.Patches), len(further))
	}
	t := patchedTree{source: src, manifest: m, files: map[string][]byte{}}
	if _, err := t.apply(LabelledPatch{p.Patch.Label, patch}); err != nil {
		return err
	}
	for i, want := range p.Patches {
		if found := Digest(further[i]); found != want.SHA256 {
			return patchDiffers(want.PatchRef, found)
		}
		files, err := t.apply(LabelledPatch{want.Label, further[i]})
		if err != nil {
			return err
		}
		if !slices.Equal(files, want.PatchedFiles) {
			return patchedDiffers(want, files)
		}
	}
	return nil
}
