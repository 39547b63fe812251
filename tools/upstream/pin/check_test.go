package pin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// fetched lays out what the repository rule makes: manifest's files, the patched one patched, its copy below unpatched/.
func fetched(t *testing.T) (*Identity, Manifest, string, []string) {
	t.Helper()
	p, m, dir := world(t)
	id := p.Identity()
	for name, text := range map[string]string{"src/whisper.cpp": after, "unpatched/src/whisper.cpp": before} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var list []string
	for _, path := range append(m.Paths(), "unpatched/src/whisper.cpp") {
		list = append(list, filepath.Join(dir, filepath.FromSlash(path)))
	}
	return &id, m, dir, list
}

func TestRehash(t *testing.T) {
	overwrite := func(path, text string) func(*testing.T, string, []string) []string {
		return func(t *testing.T, dir string, list []string) []string {
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return list
		}
	}
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, dir string, list []string) []string
		want  []Mismatch
	}{
		"untouched": {func(_ *testing.T, _ string, list []string) []string { return list }, []Mismatch{}},
		"unpatched copy left out": {
			func(_ *testing.T, _ string, list []string) []string { return list[:len(list)-1] }, []Mismatch{},
		},
		"edited": {overwrite("a.c", "DOT"), []Mismatch{{"a.c", Digest([]byte("dot")), Digest([]byte("DOT"))}}},
		"patch taken back": {
			overwrite("src/whisper.cpp", before), []Mismatch{{"src/whisper.cpp", Digest([]byte(after)), Digest([]byte(before))}},
		},
		"patch in the unpatched copy": {
			overwrite("unpatched/src/whisper.cpp", after),
			[]Mismatch{{"unpatched/src/whisper.cpp", Digest([]byte(before)), Digest([]byte(after))}},
		},
		"one missing": {
			func(_ *testing.T, _ string, list []string) []string { return list[1:] },
			[]Mismatch{{"a.c", Digest([]byte("dot")), absent}},
		},
		"one more": {
			func(_ *testing.T, dir string, list []string) []string { return append(list, filepath.Join(dir, "a-b")) },
			[]Mismatch{{"a-b", absent, Digest([]byte("dash"))}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			id, m, dir, list := fetched(t)
			list = tc.spoil(t, dir, list)
			got, err := Rehash(id, m, dir, list)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Mismatches); diff != "" {
				t.Errorf("mismatches (-want +got):\n%s", diff)
			}
			if want := verdict(tc.want); got.Verdict != want {
				t.Errorf("verdict %q, want %q", got.Verdict, want)
			}
		})
	}
}

func TestRehashSaysWhenTheManifestIsNotThePins(t *testing.T) {
	id, m, dir, list := fetched(t)
	id.ManifestSHA256 = zeros
	got, err := Rehash(id, m, dir, list)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Mismatch{{"(content manifest)", zeros, m.Digest()}}; !cmp.Equal(want, got.Mismatches) {
		t.Errorf("mismatches %v, want %v", got.Mismatches, want)
	}
}

func TestRehashRefusesAFileOutsideTheRoot(t *testing.T) {
	id, m, dir, list := fetched(t)
	if _, err := Rehash(id, m, filepath.Join(dir, "src"), list); err == nil {
		t.Error("a file outside the root was hashed")
	}
}

func TestReadCheck(t *testing.T) {
	write := func(c Check) string {
		data, err := strictjson.Canonical(&c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "check.json")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := Check{Schema: CheckSchema, Verdict: "pass", Pin: "p", ManifestSHA256: zeros, Files: 3, Mismatches: []Mismatch{}}
	if _, err := ReadCheck(write(good)); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(c *Check){
		"schema":            func(c *Check) { c.Schema = "v0" },
		"pass, yet differs": func(c *Check) { c.Mismatches = []Mismatch{{"a", zeros, ones}} },
		"fail for nothing":  func(c *Check) { c.Verdict = "fail" },
		"another word":      func(c *Check) { c.Verdict = "ok" },
		"no files":          func(c *Check) { c.Files = 0 },
	} {
		c := good
		spoil(&c)
		if _, err := ReadCheck(write(c)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
