package pin

import (
	"bytes"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Verify ties a manifest to the pin's commit by content alone.
//
// The whole tree's nodes must hash to the pin's tree; each file that the manifest names must be a node of
// it; its content must hash to the node's id in SHA-1 and to the manifest's digest in SHA-256. If the
// source is a clone, the commit object is hashed as well and must name that tree. The manifest's digest
// must be the pin's, and so must the versions that the source's CMake files name.
func Verify(p *Pin, m Manifest, src Source) error {
	if found := m.Digest(); found != p.Manifest.SHA256 {
		return reason.Errorf(reason.PinManifest, "content manifest of pin "+p.Name, "SHA-256 "+p.Manifest.SHA256, "%s", found)
	}
	if clone, ok := src.(*Clone); ok {
		if err := verifyCommit(p, clone); err != nil {
			return err
		}
	}
	nodes, err := src.Nodes()
	if err != nil {
		return err
	}
	tree, err := TreeID(nodes)
	if err != nil {
		return err
	}
	if tree != p.Tree {
		if err := converted(m, src); err != nil {
			return err
		}
		return reason.Errorf(reason.PinTree, "tree of pin "+p.Name, p.Tree, "%s, of %d entries", tree, len(nodes))
	}
	byPath := make(map[string]Node, len(nodes))
	for _, n := range nodes {
		byPath[n.Path] = n
	}
	for _, e := range m {
		if err := verifyEntry(e, byPath, src); err != nil {
			return err
		}
	}
	if found := ReadVersions(src, p.Commit); found != p.Versions {
		return reason.Errorf(reason.PinVersions, "versions of pin "+p.Name, found.String(), "%s", p.Versions)
	}
	return nil
}

func verifyCommit(p *Pin, c *Clone) error {
	content, err := c.CommitObject()
	if err != nil {
		return err
	}
	if found := objectID("commit", content); found != p.Commit {
		return reason.Errorf(reason.PinCommit, "commit of pin "+p.Name, p.Commit, "%s", found)
	}
	if line, _, _ := bytes.Cut(content, []byte("\n")); string(line) != "tree "+p.Tree {
		return reason.Errorf(reason.PinCommit, "commit "+p.Commit, "tree "+p.Tree, "%s", line)
	}
	return nil
}

func verifyEntry(e Entry, nodes map[string]Node, src Source) error {
	n, ok := nodes[e.Path]
	if !ok || n.Mode != ModeFile && n.Mode != ModeExecutable {
		return reason.Errorf(reason.PinFile, e.Path, "a file of upstream's tree", "none")
	}
	data, err := src.Read(e.Path)
	if err != nil {
		return err
	}
	if found := BlobID(data); found != n.ID {
		return reason.Errorf(reason.PinFile, e.Path, "git blob "+n.ID, "%s", found)
	}
	if found := Digest(data); found != e.SHA256 {
		return reason.Errorf(reason.PinFile, e.Path, "SHA-256 "+e.SHA256, "%s", found)
	}
	return nil
}
