package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const moduleFile = `module(name = "own")

bazel_dep(name = "rules_coreml_gate")
local_path_override(
    module_name = "rules_coreml_gate",
    path = "../..",
)

use_repo(whisper)
`

func TestFromRegistry(t *testing.T) {
	got, err := fromRegistry(moduleFile, "1.2.3")
	if want := "module(name = \"own\")\n\nbazel_dep(name = \"rules_coreml_gate\", version = \"1.2.3\")\n\nuse_repo(whisper)\n"; err != nil || got != want {
		t.Errorf("expected %q, found %q, %v", want, got, err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no dependency": {strings.Replace(moduleFile, "bazel_dep", "dep", 1), "found 1"},
		"no override":   {strings.Replace(moduleFile, "local_path_override", "other", 1), "found none"},
		"no end":        {strings.Replace(moduleFile, "\n)\n", "", 1), "no end"},
		"two overrides": {moduleFile + "git_override()\n", "another"},
	} {
		if _, err := fromRegistry(c.text, "1.2.3"); err == nil || !strings.Contains(err.Error(), strings.Replace(c.want, "found 1", "expected one line", 1)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServe(t *testing.T) {
	r := &release{
		version: "1.2.3", archive: []byte("archive"), url: "https://example.com/v1.2.3/a.tar.gz",
		entry: map[string][]byte{"MODULE.bazel": []byte("module()"), "source.json": []byte("{}"), "metadata.json": []byte("{}")},
	}
	s, err := serve(r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for path, want := range map[string]string{
		"/modules/rules_coreml_gate/1.2.3/MODULE.bazel": "module()",
		"/example.com/v1.2.3/a.tar.gz":                  "archive",
		"/bazel_registry.json":                          `{"mirrors":["` + s.address + `/"]}`,
		"/modules/rules_coreml_gate/1.2.4/MODULE.bazel": "404 page not found\n",
		"/modules/rules_go/0.60.0/MODULE.bazel":         "404 page not found\n",
	} {
		if s.asked("source.json") {
			t.Error("source.json was not asked for")
		}
		response, err := http.Get(s.address + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || string(got) != want || (response.StatusCode == http.StatusNotFound) != strings.HasPrefix(want, "404") {
			t.Errorf("%s: expected %q, found %d %q, %v", path, want, response.StatusCode, got, err)
		}
	}
}

func TestOnlyTracked(t *testing.T) {
	r := &release{files: []string{"a", "b"}}
	if err := r.onlyTracked([]string{"c", "b", "a"}); err != nil {
		t.Error(err)
	}
	if err := r.onlyTracked([]string{"a"}); err == nil || !strings.Contains(err.Error(), `["b"]`) {
		t.Errorf("a file that git does not know: %v", err)
	}
}
