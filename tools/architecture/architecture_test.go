package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// edges are the imports among this project's packages: asked of Bazel where Bazel runs this test,
// else of go.
func edges(t *testing.T) [][2]string {
	t.Helper()
	var list [][2]string
	if root := os.Getenv("TEST_SRCDIR"); root != "" {
		graph, err := os.ReadFile(filepath.Join(root, os.Getenv("IMPORT_GRAPH")))
		if err != nil {
			t.Fatal(err)
		}
		edge := regexp.MustCompile(`"//tools/([^:"]*)[^"]*" -> "//tools/([^:"]*)[^"]*"`)
		for _, m := range edge.FindAllStringSubmatch(string(graph), -1) {
			list = append(list, [2]string{m[1], m[2]})
		}
		return list
	}
	out, err := exec.Command("go", "list", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}`, "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, from, _ = strings.Cut(from, "/rules_coreml_gate/tools/")
		_, to, ours := strings.Cut(to, "/rules_coreml_gate/tools/")
		if ours {
			list = append(list, [2]string{from, to})
		}
	}
	return list
}

// TestImports holds every import against the rules.
func TestImports(t *testing.T) {
	list := edges(t)
	if len(list) < 50 {
		t.Fatalf("found %d imports, expected the whole project's", len(list))
	}
	for _, e := range list {
		for _, r := range Broken(e[0], e[1]) {
			t.Errorf("tools/%s must not import tools/%s: %s", e[0], e[1], r.Why)
		}
	}
}

// TestBroken shows that the rules can be broken.
func TestBroken(t *testing.T) {
	for _, c := range []struct {
		from, to string
		broken   int
	}{
		{"mil/eval", "mil", 0},
		{"mil/eval", "tree", 1},
		{"runner", "judge", 1},
		{"artifact", "mil/spec", 0},
		{"judge", "coregate", 1},
		{"actions/gate_run", "actions/internal/plain", 0},
		{"millstone", "tree", 0},
	} {
		if got := Broken(c.from, c.to); len(got) != c.broken {
			t.Errorf("%s importing %s breaks %v, want %d rules", c.from, c.to, got, c.broken)
		}
	}
}
