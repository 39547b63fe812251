package release_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/dev/schematest"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
)

// files writes receipts of gates with these names; a name that begins with "bad" has a canary that ran.
func files(t *testing.T, names ...string) []string {
	t.Helper()
	var out []string
	for _, name := range names {
		w := gatefixture.New(t)
		w.Apart(t, "//"+name+":receipt")
		if strings.HasPrefix(name, "bad") {
			w.Canary.Exit.Code = 0
			w.Write(t)
		}
		out = append(out, w.File(t, name+".json", string(w.Receipt(t))))
	}
	return out
}

func build(t *testing.T, paths ...string) []byte {
	t.Helper()
	s, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: paths})
	if err != nil {
		t.Fatal(err)
	}
	data, err := release.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBuild(t *testing.T) {
	paths := files(t, "tiny", "base")
	data := build(t, paths...)
	if diff := cmp.Diff(string(data), string(build(t, paths[1], paths[0]))); diff != "" {
		t.Errorf("the order of receipts matters:\n%s", diff)
	}
	s, err := release.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if s.Predicate.Verdict != reason.Pass || s.Subject[0].Name != "//base:receipt (emulated)" || s.Subject[1].Digest["sha256"] != gatefixture.Sum(t, paths[0]) {
		t.Errorf("release is %+v", s)
	}
	for _, c := range []struct {
		names []string
		want  reason.Verdict
	}{{[]string{"tiny"}, reason.Pass}, {[]string{"tiny", "bad"}, reason.Failed}, {nil, reason.Failed}} {
		s, err := release.Decode(build(t, files(t, c.names...)...))
		if err != nil || s.Predicate.Verdict != c.want {
			t.Errorf("%v: verdict %v, error %v, want %s", c.names, s.Predicate.Verdict, err, c.want)
		}
	}
	if _, err := release.Build(&release.Spec{Schema: 1, Receipts: []string{"nowhere"}}); err == nil {
		t.Error("a release of a missing receipt is built")
	}
	s, err = release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: []string{paths[0], paths[0]}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.Encode(s); err == nil {
		t.Error("a receipt stands in a release twice")
	}
}

func TestRefused(t *testing.T) {
	good := string(build(t, files(t, "tiny", "bad")...))
	for _, c := range []struct{ name, from, to string }{
		{"verdict", `"schema":1,"verdict":"fail"}`, `"schema":1,"verdict":"pass"}`},
		{"subject", `"name":"//tiny:receipt (emulated)"`, `"name":"//tiny:receipt (physical)"`},
		{"unknown member", `"schema":1,`, `"schema":1,"skip":true,`},
		{"predicate", release.PredicateType, "https://example.invalid/v1"},
		{"white space", `"schema":1,`, `"schema": 1,`},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Fatalf("%s: %q does not stand there", c.name, c.from)
		}
		if _, err := release.Decode([]byte(bad)); err == nil {
			t.Errorf("%s: taken", c.name)
		}
	}
}

// TestContradictions makes one member of a release something that no receipt gives.
func TestContradictions(t *testing.T) {
	good := build(t, files(t, "base", "tiny")...)
	for _, c := range []struct {
		name   string
		change func(p *release.Predicate)
	}{
		{"no name", func(p *release.Predicate) { p.Name = "" }},
		{"receipt without a name", func(p *release.Predicate) { p.Receipts[0].Name = "" }},
		{"receipt of two lines", func(p *release.Predicate) { p.Receipts[0].Name = "//a\n//b" }},
		{"one receipt under two names", func(p *release.Predicate) { p.Receipts[0].SHA256 = p.Receipts[1].SHA256 }},
		{"digest that is none", func(p *release.Predicate) { p.Receipts[0].SHA256 = "zz" }},
		{"lane that is none", func(p *release.Predicate) { p.Receipts[0].Lane = "Physical" }},
		{"pin status that is none", func(p *release.Predicate) { p.Receipts[0].PinStatus = "yes" }},
		{"subjects left out", func(p *release.Predicate) { p.Receipts[0].Subjects = p.Receipts[0].Subjects[:1] }},
	} {
		s, err := release.Decode(good)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&s.Predicate)
		for i, e := range s.Predicate.Receipts {
			s.Subject[i].Name, s.Subject[i].Digest["sha256"] = e.Name+" ("+string(e.Lane)+")", e.SHA256
		}
		if _, err := release.Encode(s); err == nil {
			t.Errorf("%s: taken", c.name)
		}
	}
}

func TestSchema(t *testing.T) {
	data := build(t, files(t, "tiny")...)
	schematest.Check[release.Statement](t, "release.schema.json", release.Schema, "release of rules_coreml_gate", data)
}

func TestReadSpec(t *testing.T) {
	path := t.TempDir() + "/spec.json"
	if err := os.WriteFile(path, []byte(`{"schema":1,"name":"//:release","receipts":["a.json"]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := release.ReadSpec(path); err != nil || s.Receipts[0] != "a.json" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := os.WriteFile(path, []byte(`{"schema":2,"name":"","receipts":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := release.ReadSpec(path); err == nil {
		t.Error("another schema is taken")
	}
}

// TestReleases holds that a release of releases is the release of their receipts, whatever the grouping,
// and that a receipt which two of them hold is refused.
func TestReleases(t *testing.T) {
	paths := files(t, "tiny", "base", "bad")
	group := func(paths ...string) string {
		path := filepath.Join(t.TempDir(), "release.json")
		if err := os.WriteFile(path, build(t, paths...), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	merge := func(receipts []string, releases ...string) ([]byte, error) {
		s, err := release.Build(&release.Spec{Schema: 1, Name: "//:release", Receipts: receipts, Releases: releases})
		if err != nil {
			return nil, err
		}
		return release.Encode(s)
	}
	want := string(build(t, paths...))
	for _, c := range []struct {
		receipts, releases []string
	}{
		{nil, []string{group(paths[0]), group(paths[1], paths[2])}},
		{paths[2:], []string{group(paths[1]), group(paths[0])}},
	} {
		got, err := merge(c.receipts, c.releases...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("merged from %v and %v:\n%s", c.receipts, c.releases, diff)
		}
	}
	if _, err := merge(paths[:1], group(paths[0])); err == nil {
		t.Error("a receipt stands in a release and in one of its parts")
	}
	if _, err := merge(nil, paths[0]); err == nil {
		t.Error("a receipt was taken for a release")
	}
}

// TestDiff holds that changes between releases come by gate and in the order of importance.
func TestDiff(t *testing.T) {
	read := func(data []byte) *release.Statement {
		s, err := release.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// receipt builds one of a gate, bent.
	receipt := func(name string, bend func(w *gatefixture.World)) string {
		w := gatefixture.New(t)
		w.Apart(t, "//"+name+":receipt")
		bend(w)
		return w.File(t, name+".json", string(w.Receipt(t)))
	}
	plain := func(*gatefixture.World) {}
	before := read(build(t, receipt("base", plain), receipt("gone", plain), receipt("small", plain), receipt("tiny", plain)))
	if got := release.Diff(before, read(build(t, files(t, "base", "gone", "small", "tiny")...))); len(got) != 0 {
		t.Errorf("equal releases differ: %v", got)
	}
	after := read(build(t,
		receipt("base", func(w *gatefixture.World) {
			w.File(t, "ggml-model.bin", "retrained")
			w.Rehash(t)
		}),
		receipt("new", plain),
		receipt("small", func(w *gatefixture.World) { w.Spec.Toolchain["compiler"] = "gcc" }),
		receipt("tiny", func(w *gatefixture.World) {
			w.Canary.Exit.Code = 0
			w.Write(t)
		}),
	))
	var got []string
	for _, c := range release.Diff(before, after) {
		from, to := c.From, c.To
		if len(from) > 12 && len(to) > 12 {
			from, to = "a digest", "another"
		}
		got = append(got, c.What+": "+from+" -> "+to)
	}
	want := []string{
		"verdict: pass -> fail",
		"receipt //gone:receipt (emulated): pass -> ",
		"receipt //new:receipt (emulated):  -> pass",
		"receipt //tiny:receipt (emulated): pass -> fail",
		"subject ggml-model.bin of //base:receipt (emulated): a digest -> another",
		"other members of //small:receipt (emulated): a digest -> another",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes differ (-want +got):\n%s", diff)
	}
}
