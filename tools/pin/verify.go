package pin

import (
	"bytes"
	"fmt"
)

// Verify ties a manifest to the pin's commit by content alone.
//
// The whole tree's nodes must hash to the pin's tree; each file that the manifest names must be a node of
// it; its content must hash to the node's id in SHA-1 and to the manifest's digest in SHA-256. If the
// source is a clone, the commit object is hashed as well and must name that tree. The manifest's digest
// must be the pin's.
func Verify(p *Pin, m Manifest, src Source) error {
	if found := m.Digest(); found != p.Manifest.SHA256 {
		return fmt.Errorf("content manifest of pin %s: expected SHA-256 %s, found %s", p.Name, p.Manifest.SHA256, found)
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
		return fmt.Errorf("tree of pin %s: expected %s, found %s: this is another revision, or the folder has files that are not upstream's (%d entries)",
			p.Name, p.Tree, tree, len(nodes))
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
	return nil
}

func verifyCommit(p *Pin, c *Clone) error {
	content, err := c.CommitObject()
	if err != nil {
		return err
	}
	if found := objectID("commit", content); found != p.Commit {
		return fmt.Errorf("commit of pin %s: expected %s, found %s", p.Name, p.Commit, found)
	}
	if line, _, _ := bytes.Cut(content, []byte("\n")); string(line) != "tree "+p.Tree {
		return fmt.Errorf("commit %s: expected `tree %s`, found `%s`", p.Commit, p.Tree, line)
	}
	return nil
}

func verifyEntry(e Entry, nodes map[string]Node, src Source) error {
	n, ok := nodes[e.Path]
	if !ok || n.Mode != ModeFile && n.Mode != ModeExecutable {
		return fmt.Errorf("%s: named by the manifest, and no file of upstream's tree", e.Path)
	}
	data, err := src.Read(e.Path)
	if err != nil {
		return err
	}
	if found := BlobID(data); found != n.ID {
		return fmt.Errorf("%s: expected git blob %s, found %s", e.Path, n.ID, found)
	}
	if found := digest(data); found != e.SHA256 {
		return fmt.Errorf("%s: expected SHA-256 %s, found %s", e.Path, e.SHA256, found)
	}
	return nil
}
