package report_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/gatefixture"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/report"
)

// bound is a report on a release of gates with these names; one that begins with "bad" has a canary that ran.
func bound(t *testing.T, names ...string) *report.Release {
	t.Helper()
	spec := &release.Spec{Schema: 1, Name: "//:release"}
	for _, name := range names {
		w := gatefixture.New(t)
		w.Apart(t, "//"+name+":receipt")
		if strings.HasPrefix(name, "bad") {
			w.Canary.Exit.Code = 0
			w.Write(t)
		}
		spec.Receipts = append(spec.Receipts, w.File(t, name+".json", string(w.Receipt(t))))
	}
	s, err := release.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.NewRelease(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRelease holds that a release's report lists every receipt, what does not pass first, and says what it does not say.
func TestRelease(t *testing.T) {
	r := bound(t, "base", "bad", "tiny")
	var page, text, junit bytes.Buffer
	if err := errors.Join(r.HTML(&page), r.Text(&text), r.JUnit(&junit)); err != nil {
		t.Fatal(err)
	}
	all := []string{r.SHA256, "3 receipts, 2 pass, 1 fail", "3 of 3 gates have no physical receipt"}
	for _, e := range r.Release.Predicate.Receipts {
		all = append(all, e.Name, e.SHA256, e.Subjects[1].Digest["sha256"])
	}
	wants(t, page.String(), append(all, `<p class="verdict">fail</p>`, `name="viewport"`), "<script", "src=", "href=", "url(", "@import", "<link")
	wants(t, text.String(), append(all, "//:release: fail"))
	if s := text.String(); strings.Index(s, "//bad:receipt") > strings.Index(s, "//base:receipt") {
		t.Errorf("what failed does not stand first:\n%s", s)
	}
	wants(t, junit.String(), []string{`tests="3" failures="1" errors="0"`, `name="//tiny:receipt (emulated)"`})
	var none bytes.Buffer
	if err := bound(t).JUnit(&none); err != nil {
		t.Fatal(err)
	}
	wants(t, none.String(), []string{`tests="1" failures="1"`})
}

// TestHostileRelease puts into every text of a release what a page, a log or a terminal would take for more than text.
func TestHostileRelease(t *testing.T) {
	const bad = "<script>x</script></style><img src=x onerror=y>\"'&{{.}}]]>\x00\x1b[31m\u202e\n::error::x"
	r := bound(t, "tiny")
	r.Release.Predicate.Name = bad
	e := &r.Release.Predicate.Receipts[0]
	e.Name, e.PinName, e.PinCommit, e.PinStatus, e.SHA256 = bad, bad, bad, bad, bad
	e.Missing = []string{bad}
	e.Subjects[0].Name, e.Subjects[2].Annotations["form"] = bad, bad
	for name, write := range map[string]func(io.Writer) error{"html": r.HTML, "junit": r.JUnit, "text": r.Text} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		switch {
		case strings.ContainsFunc(text, func(c rune) bool { return reason.Hidden(c) && c != '\n' && c != '\t' }):
			t.Errorf("%s: a character that nobody sees in\n%s", name, text)
		case name == "text" && strings.Contains(text, "\n::error"), name != "text" && (strings.Contains(text, "<script") || strings.Contains(text, "<img")):
			t.Errorf("%s: a text of the release is more than text:\n%s", name, text)
		}
	}
}
