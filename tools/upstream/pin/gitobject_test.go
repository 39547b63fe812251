package pin

import (
	"strings"
	"testing"
)

// Ids that every git knows.
const (
	emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

func TestObjectIDs(t *testing.T) {
	if got := BlobID(nil); got != emptyBlob {
		t.Errorf("BlobID(nil) = %s, want %s", got, emptyBlob)
	}
	if got, err := TreeID(nil); err != nil || got != emptyTree {
		t.Errorf("TreeID(nil) = %s, %v, want %s", got, err, emptyTree)
	}
}

func TestTreeIDRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []Node
		want  string
	}{
		"leaves the tree":  {[]Node{{"../a", ModeFile, emptyBlob}}, "plain relative path"},
		"unknown mode":     {[]Node{{"a", "100666", emptyBlob}}, "none that git writes"},
		"short id":         {[]Node{{"a", ModeFile, "e69d"}}, "none that git writes"},
		"twice":            {[]Node{{"a", ModeFile, emptyBlob}, {"a", ModeLink, emptyBlob}}, "twice"},
		"file and folder":  {[]Node{{"a", ModeFile, emptyBlob}, {"a/b", ModeFile, emptyBlob}}, "twice"},
		"twice, in folder": {[]Node{{"d/a", ModeFile, emptyBlob}, {"d/a", ModeFile, emptyBlob}}, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := TreeID(tc.nodes); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
