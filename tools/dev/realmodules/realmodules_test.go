package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// good are the commands of a whisper-cli as it has to be.
func good() []command {
	var out []command
	common := []string{"-D_FORTIFY_SOURCE=1", "-O2", "-DNDEBUG", "-target", machine, "-O3"}
	add := func(target, mnemonic, file string, more ...string) {
		out = append(out, command{target, mnemonic, append(append(slices.Clone(common), more...), "-c", file)})
	}
	for i := range sources - 5 {
		add("ggml_cpu", "CppCompile", fmt.Sprintf("ggml/%d.c", i), "-DGGML_USE_CPU_REPACK", "-DGGML_SCHED_MAX_COPIES=4")
	}
	add("ggml_metal", "CppCompile", "x/ggml_metal_library.cc")
	for i := range 3 {
		add("coreml_bridge", "ObjcCompile", fmt.Sprintf("%d.m", i), "-fobjc-arc", "-Os")
	}
	for i := range 2 {
		add("ggml_metal_objc", "ObjcCompile", fmt.Sprintf("%d.m", i), "-fno-objc-arc")
	}
	link := command{"cli_coreml", "CppLink", []string{"-target", machine}}
	for _, f := range frameworks {
		link.arguments = append(link.arguments, "-framework", f)
	}
	return append(out, link)
}

func TestJudge(t *testing.T) {
	if wrong := judge(good()); len(wrong) > 0 {
		t.Errorf("good commands: %q", wrong)
	}
	replace := func(i int, old, with string) func([]command) []command {
		return func(c []command) []command {
			for j, a := range c[i].arguments {
				if a == old {
					c[i].arguments[j] = with
				}
			}
			return c
		}
	}
	arc, metal, link := sources-4, sources-1, sources+1
	for name, c := range map[string]struct {
		edit func([]command) []command
		want string
	}{
		"another processor":  {replace(0, machine, "x86_64-apple-macosx13.3"), "expected -target arm64"},
		"another macOS":      {replace(link, machine, "arm64-apple-macosx15.5"), "expected -target arm64-apple-macosx13.3"},
		"no Core ML":         {replace(link, "CoreML", "Foundation"), "expected the frameworks"},
		"one more framework": {replace(link, "CoreML", "Vision"), "Vision"},
		"no signature": {func(c []command) []command {
			c[link].arguments = append(c[link].arguments, "-Wl,-no_adhoc_codesign")
			return c
		}, "the linker's own signature"},
		"for debugging":       {replace(1, "-DNDEBUG", "-DDEBUG"), "found -DDEBUG"},
		"not optimised":       {replace(2, "-O3", "-O0"), "expected -O3, found -O0"},
		"no ARC":              {replace(arc, "-fobjc-arc", "-fno-objc-arc"), "expected -fobjc-arc"},
		"ARC where it is not": {replace(metal, "-fno-objc-arc", "-fobjc-arc"), "expected -fno-objc-arc"},
		"a file less":         {func(c []command) []command { return c[1:] }, "expected 41 files compiled"},
		"no program":          {func(c []command) []command { return c[:link] }, "and 1 program linked"},
	} {
		wrong := judge(c.edit(good()))
		if len(wrong) != 1 && name != "for debugging" || !strings.Contains(strings.Join(wrong, "\n"), c.want) {
			t.Errorf("%s: expected %q, found %q", name, c.want, wrong)
		}
	}
}

func TestRead(t *testing.T) {
	got, err := read([]byte(`{"targets": [{"id": 7, "label": "@@x//:ggml"}], "actions": [{"targetId": 7, "mnemonic": "CppCompile", "arguments": ["cc", "-c", "a.c"]}]}`))
	if err != nil || len(got) != 1 || got[0].target != "ggml" || got[0].source() != "a.c" {
		t.Errorf("found %+v, %v", got, err)
	}
	for _, bad := range []string{"", "{}", "[]"} {
		if _, err := read([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestTable(t *testing.T) {
	got := table(good())
	for _, want := range []string{
		"| ggml-cpu | `GGML_SCHED_MAX_COPIES=4` `GGML_USE_CPU_REPACK` |", "| `-O3` `-mcpu=native` | `-O3` |",
		"| whisper.coreml | – | – | – | `-O3` `-fobjc-arc` | `-Os` `-fobjc-arc` |", "| whisper | | | no action | | |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("expected %q in\n%s", want, got)
		}
	}
}

func TestOverrides(t *testing.T) {
	c := &check{root: t.TempDir(), modules: t.TempDir(), scratch: t.TempDir()}
	for dir, text := range map[string]string{
		c.root: `module(name = "root")` + "\n" + `bazel_dep(name = "there", version = "1")` + "\n" + `bazel_dep(name = "own_work", version = "1", dev_dependency = True)`,
		filepath.Join(c.modules, "there"): "bazel_dep(\n    name = \"away\",\n    version = \"2\",\n)\n" +
			`bazel_dep(name = "not_reached", version = "1", dev_dependency = True)`,
	} {
		if err := write(dir, map[string]string{"MODULE.bazel": text}); err != nil {
			t.Fatal(err)
		}
	}
	options, err := c.overrides([]dependency{{"built_in", ""}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"away", "built_in", "own_work", "there"}
	if len(options) != len(want) {
		t.Fatalf("expected overrides of %q, found %q", want, options)
	}
	for i, name := range want {
		if !strings.HasPrefix(options[i], "--override_module="+name+"=") {
			t.Errorf("expected an override of %s, found %s", name, options[i])
		}
	}
	if !slices.Equal(c.empty, []string{"away", "built_in", "own_work"}) {
		t.Errorf("empty are %q", c.empty)
	}
	if text, err := os.ReadFile(filepath.Join(c.scratch, "empty", "away", "MODULE.bazel")); err != nil || string(text) != "module(name = \"away\")\n" {
		t.Errorf("found %q, %v", text, err)
	}
}
