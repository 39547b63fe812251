package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// tree writes a repository of one file and returns the arguments that check it.
func tree(t *testing.T, content string) (args []string, out string) {
	t.Helper()
	dir := t.TempDir()
	const helloSHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	manifest := helloSHA256 + "  f.c\n"
	m, err := pin.ParseManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.Repeat("0", 40)
	identity := `{"name":"t","commit":"` + commit + `","tree":"` + commit + `","supported":true,"manifest_sha256":"` + m.Digest() +
		`","patch":{"label":"//p","sha256":"` + helloSHA256 + `"},"patched_file":{"path":"f.c","sha256":"` + helloSHA256 + `"}}`
	for name, text := range map[string]string{"f.c": content, "m": manifest, "pin.json": identity} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out = filepath.Join(dir, "out.json")
	return []string{
		"--manifest=" + filepath.Join(dir, "m"), "--pin=" + filepath.Join(dir, "pin.json"), "--root=" + dir, "--out=" + out,
		filepath.Join(dir, "f.c"),
	}, out
}

func TestVerdictIsData(t *testing.T) {
	for content, want := range map[string]string{"hello": "pass", "hallo": "fail"} {
		args, out := tree(t, content)
		params := out + ".params"
		if err := os.WriteFile(params, []byte(strings.Join(args, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]string{args, {"@" + params}} {
			var stderr bytes.Buffer
			if code := run(form, &stderr); code != 0 {
				t.Fatalf("exit %d: %s", code, &stderr)
			}
			check, err := pin.ReadCheck(out)
			if err != nil {
				t.Fatal(err)
			}
			if check.Verdict != want {
				t.Errorf("%q: verdict %s, want %s", content, check.Verdict, want)
			}
		}
	}
}

func TestBrokenInputsAreErrors(t *testing.T) {
	args, _ := tree(t, "hello")
	for name, form := range map[string][]string{
		"no flag":       args[1:],
		"missing file":  append(args, filepath.Join(filepath.Dir(args[4]), "absent.c")),
		"no param file": {"@/nonexistent/params"},
	} {
		if code := run(form, &bytes.Buffer{}); code == 0 {
			t.Errorf("%s: exit 0", name)
		}
	}
}
