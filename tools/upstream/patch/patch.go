// Package patch answers whether a tree of whisper.cpp is upstream's pinned tree with the pinned patch and nothing else.
//
// The answer rests on content. Every file and link below the folder is hashed as git hashes it; in place of
// the patched file stands what it was before, which follows from the patch; the tree that these make up must
// have the pin's id. So tracked, untracked and ignored files, modes and links all count, and nothing that
// git can be told (abbreviation, diff settings, attributes, line endings, external tools, an index that
// assumes files unchanged) takes part. Only a .git at the top is left out. Git has no empty folders, so those
// do not count.
package patch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// MaxNamed bounds how many differing paths an answer lists.
const MaxNamed = 10

// VerifyTree says how the tree below dir stands to the pin and its patch. It returns nil exactly if dir holds
// the pinned tree with the patch applied; otherwise a [*reason.Error] of one of pin's codes, or an error
// if the tree could not be read.
//
// m is the pin's manifest, by which files that differ are named where no clone is at hand; it may be nil.
//
// Call it before a build and again after it: a build inside the tree leaves files there, and is found.
func VerifyTree(p *pin.Pin, m pin.Manifest, patchBytes []byte, dir string) error {
	patch, err := pin.PinnedPatch(p, patchBytes)
	if err != nil {
		return err
	}
	src := pin.Dir(dir)
	nodes, err := src.Nodes()
	var unfit *pin.UnfitError
	if errors.As(err, &unfit) {
		return reason.Errorf(reason.TreeUnverifiable, dir, "the tree "+p.Tree+" with the pinned patch and nothing else", "%v", unfit)
	}
	if err != nil {
		return err
	}
	i := slices.IndexFunc(nodes, func(n pin.Node) bool { return n.Path == patch.Path })
	if i < 0 || nodes[i].Mode == pin.ModeLink {
		return reason.Errorf(reason.TreeUnverifiable, dir, "the file "+patch.Path, "none")
	}
	// Upstream's own tree first: it has a message of its own.
	if id, err := pin.TreeID(nodes); err != nil {
		return err
	} else if id == p.Tree {
		return reason.Errorf(reason.TreeUnpatched, dir, "the tree "+p.Tree+" with the patch "+p.Patch.SHA256, "that tree as upstream has it")
	}
	content, err := src.Read(patch.Path)
	if err != nil {
		return err
	}
	original, err := patch.Revert(content)
	if err != nil {
		if converted := lineEnds(patch, content, err); converted != nil {
			return converted
		}
		return dirty(p, m, dir, nodes, patch.Path+" does not hold the patch's lines")
	}
	patched := nodes[i].ID
	nodes[i].ID = pin.BlobID(original)
	id, err := pin.TreeID(nodes)
	if err != nil {
		return err
	}
	if id != p.Tree {
		nodes[i].ID = patched
		return dirty(p, m, dir, nodes, "a tree that is "+id+" without the patch")
	}
	// The tree's id is SHA-1; the pin also knows the patched file in SHA-256.
	again, err := patch.Apply(original)
	if err != nil {
		return err
	}
	if found := pin.Digest(again); found != p.PatchedFile.SHA256 {
		return reason.Errorf(reason.PatchedFile, filepath.Join(dir, patch.Path), "SHA-256 "+p.PatchedFile.SHA256, "%s", found)
	}
	return nil
}

// lineEnds is the reason of a file, patched or not, that only its line ends keep from being the pin's.
func lineEnds(p *pin.Patch, content []byte, reverted error) error {
	_, applied := p.Apply(content)
	for _, err := range []error{reverted, applied} {
		var found *reason.Error
		if errors.As(err, &found) && found.Code == reason.SourceLineEnds {
			return err
		}
	}
	return nil
}

// dirty names what differs: of all files, if the folder is a clone that still holds the pin's commit, and otherwise of those
// that the build reads.
func dirty(p *pin.Pin, m pin.Manifest, dir string, nodes []pin.Node, found string) error {
	differing, err := differences(p, dir, nodes)
	if err != nil {
		if some := m.Differing(pin.Dir(dir), p.PatchedFile); len(some) > 0 {
			differing, err = some, nil
		}
	}
	switch {
	case err != nil:
		found += " (no clone of the pin's commit is at hand to name the files: " + err.Error() + ")"
	case len(differing) > MaxNamed:
		found += fmt.Sprintf(": %s and %d more", strings.Join(differing[:MaxNamed], ", "), len(differing)-MaxNamed)
	default:
		found += ": " + strings.Join(differing, ", ")
	}
	return reason.Errorf(reason.TreeUnverifiable, dir, "the tree "+p.Tree+" with the pinned patch and nothing else", "%s", found)
}

// differences lists the paths at which nodes and the pin's commit differ, the patched file left out.
func differences(p *pin.Pin, dir string, nodes []pin.Node) ([]string, error) {
	clone, err := pin.OpenClone(dir, p.Commit)
	if err != nil {
		return nil, err
	}
	pinned, err := clone.Nodes()
	if err != nil {
		return nil, err
	}
	want := map[string]pin.Node{}
	for _, n := range pinned {
		want[n.Path] = n
	}
	var out []string
	for _, n := range nodes {
		w, ok := want[n.Path]
		delete(want, n.Path)
		switch {
		case !ok:
			out = append(out, n.Path+" (added)")
		case w.Mode != n.Mode:
			out = append(out, fmt.Sprintf("%s (mode %s, expected %s)", n.Path, n.Mode, w.Mode))
		case w.ID != n.ID && n.Path != p.PatchedFile.Path:
			out = append(out, n.Path+" (changed)")
		case w.ID != n.ID && !isPatched(p, dir):
			out = append(out, n.Path+" (changed otherwise than by the patch)")
		}
	}
	for path := range want {
		out = append(out, path+" (missing)")
	}
	slices.Sort(out)
	return out, nil
}

func isPatched(p *pin.Pin, dir string) bool {
	data, err := pin.Dir(dir).Read(p.PatchedFile.Path)
	return err == nil && pin.Digest(data) == p.PatchedFile.SHA256
}
