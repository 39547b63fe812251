package pin

import (
	"bytes"
	"crypto/sha1" // git's object ids; content is pinned by SHA-256
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Modes of tree entries, as git writes them.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
	modeTree       = "40000"
)

// Node is a file, link or submodule of a whole tree: what `git ls-tree -r` lists.
type Node struct {
	Path string
	Mode string
	// ID is the object's id, 40 hexadecimal digits.
	ID string
}

// BlobID is the id under which git stores the content.
func BlobID(data []byte) string { return objectID("blob", data) }

func objectID(kind string, data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func isObjectID(s string) bool {
	return len(s) == 2*sha1.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// TreeID computes the id of the tree that holds exactly these nodes.
func TreeID(nodes []Node) (string, error) {
	root := &folder{}
	for _, n := range nodes {
		if err := root.add(n); err != nil {
			return "", err
		}
	}
	return root.id()
}

// folder is a tree under construction.
type folder struct {
	files   []Node // Path is the name within this folder
	folders map[string]*folder
}

func (f *folder) add(n Node) error {
	if err := checkPath(n.Path); err != nil {
		return err
	}
	if !slices.Contains([]string{ModeFile, ModeExecutable, ModeLink, ModeSubmodule}, n.Mode) || !isObjectID(n.ID) {
		return fmt.Errorf("tree entry %q: mode %q with id %q is none that git writes", n.Path, n.Mode, n.ID)
	}
	for {
		head, rest, nested := strings.Cut(n.Path, "/")
		if !nested {
			f.files = append(f.files, n)
			return nil
		}
		if f.folders == nil {
			f.folders = map[string]*folder{}
		}
		if f.folders[head] == nil {
			f.folders[head] = &folder{}
		}
		f, n.Path = f.folders[head], rest
	}
}

func (f *folder) id() (string, error) {
	entries := slices.Clone(f.files)
	for name, sub := range f.folders {
		id, err := sub.id()
		if err != nil {
			return "", err
		}
		entries = append(entries, Node{Path: name, Mode: modeTree, ID: id})
	}
	// Git compares a folder's name as if it ended in a slash.
	key := func(n Node) string {
		if n.Mode == modeTree {
			return n.Path + "/"
		}
		return n.Path
	}
	slices.SortFunc(entries, func(a, b Node) int { return strings.Compare(key(a), key(b)) })
	names := map[string]bool{}
	var content bytes.Buffer
	for _, e := range entries {
		if names[e.Path] {
			return "", fmt.Errorf("tree entry %q stands twice in one folder", e.Path)
		}
		names[e.Path] = true
		raw, err := hex.DecodeString(e.ID)
		if err != nil {
			return "", fmt.Errorf("tree entry %q: %w", e.Path, err)
		}
		fmt.Fprintf(&content, "%s %s\x00", e.Mode, e.Path)
		content.Write(raw)
	}
	return objectID("tree", content.Bytes()), nil
}
