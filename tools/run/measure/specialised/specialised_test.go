package specialised

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const program = "whisper-cli"

// put writes a file of so many bytes below a program's cache in a home.
func put(t *testing.T, home, name, path string, bytes int) {
	t.Helper()
	full := filepath.Join(home, "Library/Caches", name, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, make([]byte, bytes), 0o644); err != nil {
		t.Fatal(err)
	}
}

const cache = "com.apple.e5rt.e5bundlecache/"

// TestRead counts models of all builds in all homes, and takes what cannot be read for no answer.
func TestRead(t *testing.T) {
	user, staged, empty := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, user, program, cache+"24G720/AAA/H13G.bundle/H13G.e5", 100)
	put(t, user, program, cache+"24G720/AAA/model.milhash", 8)
	put(t, user, program, cache+"25A1/BBB/H13G.e5", 50)
	put(t, user, program, cache+"25A1/stray", 5)
	put(t, user, program, "another/thing", 1000)
	put(t, user, "katago", cache+"24G720/CCC/H13G.e5", 1000)
	put(t, staged, program, cache+"25A1/BBB/H13G.e5", 7)
	for name, c := range map[string]struct {
		homes []string
		want  Kept
	}{
		"one home":        {[]string{user}, Kept{Found, 2, 163}},
		"two homes":       {[]string{user, staged}, Kept{Found, 3, 170}},
		"nothing there":   {[]string{empty}, Kept{State: None}},
		"no home":         {nil, Kept{State: None}},
		"an empty beside": {[]string{empty, staged}, Kept{Found, 1, 7}},
	} {
		if got := Read(c.homes, program); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// A file in the folder's place, and a folder that may not be read.
	put(t, empty, "odd", strings.TrimSuffix(cache, "/"), 3)
	if got := Read([]string{empty}, "odd"); got != (Kept{State: None}) {
		t.Errorf("a file: %+v", got)
	}
	if os.Getuid() != 0 {
		closed := filepath.Join(user, "Library/Caches", program, cache, "25A1")
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(closed, 0o755)
		if got := Read([]string{staged, user}, program); got != (Kept{State: Unknown}) {
			t.Errorf("closed: %+v", got)
		}
	}
	// A path with a NUL cannot be looked at by anybody.
	if got := Read([]string{staged, user + "\x00"}, program); got != (Kept{State: Unknown}) {
		t.Errorf("unreadable: %+v", got)
	}
}

// TestClear removes one program's compiled models and nothing beside them.
func TestClear(t *testing.T) {
	user, staged := t.TempDir(), t.TempDir()
	for _, home := range []string{user, staged} {
		put(t, home, program, cache+"24G720/AAA/H13G.e5", 100)
		put(t, home, program, "preferences", 10)
		put(t, home, "katago", cache+"24G720/CCC/H13G.e5", 1000)
	}
	if err := Clear([]string{user, staged, t.TempDir()}, program); err != nil {
		t.Fatal(err)
	}
	if got := Read([]string{user, staged}, program); got.State != None {
		t.Errorf("%+v is left", got)
	}
	if got := Read([]string{user, staged}, "katago"); got.Entries != 2 {
		t.Errorf("another program has %+v left", got)
	}
	if _, err := os.Stat(filepath.Join(user, "Library/Caches", program, "preferences")); err != nil {
		t.Error(err)
	}
	// A link is not followed, and a name is not a path.
	elsewhere := t.TempDir()
	put(t, elsewhere, "x", "kept", 1)
	if err := os.MkdirAll(filepath.Join(user, "Library/Caches/linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(user, "Library/Caches/linked", cache[:len(cache)-1])); err != nil {
		t.Fatal(err)
	}
	if err := Clear([]string{user}, "linked"); err == nil || !strings.Contains(err.Error(), "expected a folder") {
		t.Errorf("a link: %v", err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "Library/Caches/x/kept")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "../katago", "a/b"} {
		if err := Clear([]string{user}, name); err == nil || !strings.Contains(err.Error(), "name of a program") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCold(t *testing.T) {
	for name, c := range map[string]struct {
		a    *Around
		want bool
	}{
		"nothing known":    {nil, false},
		"nothing kept":     {&Around{Before: Kept{State: None}}, true},
		"cleared":          {&Around{Before: Kept{State: None}, Cleared: true}, true},
		"kept":             {&Around{Before: Kept{Found, 1, 5}}, false},
		"cannot be read":   {&Around{Before: Kept{State: Unknown}}, false},
		"cleared, but not": {&Around{Before: Kept{Found, 1, 5}, Cleared: true}, false},
	} {
		if got := c.a.Cold(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
