package main

import (
	"slices"
	"strings"
	"testing"
)

const page = "# A page\n\n## What it does, and why\n\n## Again\n\n## Again\n\n```\n# no heading\n```\n"

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		links            int
		wrong            string // a part of the only finding; none if empty
	}{
		{"a file beside it", "docs/a.md", "see [b](page.md)", 1, ""},
		{"a file above it", "docs/a.md", "see [b](../README.md)", 1, ""},
		{"a folder", "a.md", "see [b](docs/)", 1, ""},
		{"two on a line", "a.md", "[b](docs/page.md) and [c](README.md)", 2, ""},
		{"from the root", "docs/a.md", "see [b](/README.md)", 1, ""},
		{"with a title", "a.md", `[b](docs/page.md "title")`, 1, ""},
		{"in angle brackets", "a.md", "[b](<docs/page.md>)", 1, ""},
		{"another host", "a.md", "[b](https://example.org/x.md), [c](mailto:a@example.org)", 0, ""},
		{"in code", "a.md", "`[b](none.md)`", 0, ""},
		{"in a fence", "a.md", "```sh\n[b](none.md)\n```\n[c](README.md)", 1, ""},
		{"after an open backtick", "a.md", "a ` and [b](none.md)", 1, "none.md"},
		{"a heading", "a.md", "[b](docs/page.md#what-it-does-and-why)", 1, ""},
		{"a heading of its own", "a.md", "# Top\n[b](#top)", 1, ""},
		{"the second of a name", "a.md", "[b](docs/page.md#again-1)", 1, ""},
		{"an anchor that it sets", "a.md", "<a id=\"x-y\"></a>x\n[b](#x-y)", 1, ""},
		{"an anchor set in code", "a.md", "```\n<a id=\"x-y\"></a>\n```\n[b](#x-y)", 1, "expected an anchor"},
		{"no such file", "docs/a.md", "line\nsee [b](none.md)", 1, "docs/a.md:2: none.md: there is no docs/none.md"},
		{"beside another document", "docs/a.md", "see [b](README.md)", 1, "there is no docs/README.md"},
		{"above the root", "a.md", "see [b](../README.md)", 1, "there is no ../README.md"},
		{"an image", "a.md", "![b](none.png)", 1, "there is no none.png"},
		{"a definition", "a.md", "[b]: none.md", 1, "there is no none.md"},
		{"HTML", "a.md", `<img src="none.png">`, 1, "there is no none.png"},
		{"no such heading", "a.md", "[b](docs/page.md#none)", 1, "expected an anchor of docs/page.md"},
		{"a heading in code", "a.md", "[b](docs/page.md#no-heading)", 1, "expected an anchor"},
		{"a third of a name", "a.md", "[b](docs/page.md#again-2)", 1, "expected an anchor"},
		{"an anchor of a program", "a.md", "[b](main.go#main)", 1, "expected an anchor of main.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := check(map[string]string{"README.md": "# R", "docs/page.md": page, "main.go": "package main", c.file: c.text})
			if got.documents != 3 || got.links != c.links {
				t.Errorf("expected 3 documents and %d links, found %d and %d", c.links, got.documents, got.links)
			}
			if c.wrong == "" && len(got.wrong) > 0 || c.wrong != "" && (len(got.wrong) != 1 || !strings.Contains(got.wrong[0], c.wrong)) {
				t.Errorf("expected the finding %q, found %q", c.wrong, got.wrong)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	got := check(map[string]string{
		"docs/page.md": page,
		"BUILD.bazel":  "# docs/page.md\n# (docs/none.md).\n# other/docs/elsewhere.md",
		"x.go":         "// see docs/page.md#again, docs/gone.md.",
		"x_test.go":    "// docs/none.md",
	})
	want := []string{
		"BUILD.bazel:2: there is no docs/none.md: write it or name another document",
		"x.go:1: there is no docs/gone.md: write it or name another document",
	}
	if got.mentions != 4 || !slices.Equal(got.wrong, want) {
		t.Errorf("expected 4 mentions and %q, found %d and %q", want, got.mentions, got.wrong)
	}
}

// A changelog names what a change took away.
func TestChangelogNamesWhatWas(t *testing.T) {
	if got := check(map[string]string{"CHANGELOG.md": "- `tools/none` is gone."}); len(got.wrong) > 0 {
		t.Errorf("%q", got.wrong)
	}
}

// A document that says which test holds what must name one that is there.
func TestPlaces(t *testing.T) {
	files := map[string]string{
		"tools/x/y_test.go": "package x\n\nfunc TestY(t *testing.T) {}\n\n// func TestZ in a comment\n", "tools/x/y.cc": "void test_memory() {\n}\n", "tools/x/BUILD.bazel": "go_test(\n    name = \"x_test\",\n)\n",
	}
	for text, wrong := range map[string]string{
		"`tools/x/y_test.go:TestY`, `tools/x`":    "",
		"`tools/x/y.cc:test_memory`":              "",
		"`tools/x/BUILD.bazel:x_test`":            "",
		"`tools/x/y_test.go:TestYes`":             "defines no TestYes",
		"`tools/x/y_test.go:TestZ`":               "defines no TestZ",
		"`tools/x/none_test.go:TestY`":            "there is no tools/x/none_test.go",
		"`tools/none`":                            "there is no tools/none",
		"`tools/x/NAME.json`, `other/place`":      "",
		"`go run ./tools/none`, tools/none, ` a`": "",
	} {
		world := map[string]string{"docs/a.md": text}
		for name, content := range files {
			world[name] = content
		}
		got := check(world)
		if wrong == "" && len(got.wrong) > 0 || wrong != "" && (len(got.wrong) != 1 || !strings.Contains(got.wrong[0], wrong)) {
			t.Errorf("%s: %q, expected %q", text, got.wrong, wrong)
		}
	}
}
