package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

//go:embed release.html.tmpl
var releaseText string

// Release is what a report on a release is made from. It lists the receipts as the release repeats them; what they
// judged stands in the receipts.
type Release struct {
	Release *release.Statement
	// SHA256 of the release's canonical bytes.
	SHA256 string
	// Signature says what is known about it, in plain words.
	Signature string
}

// NewRelease begins a report on a release.
func NewRelease(s *release.Statement) (*Release, error) {
	bytes, err := release.Encode(s)
	if err != nil {
		return nil, err
	}
	return &Release{Release: s, SHA256: evidence.SHA256(bytes), Signature: "not looked at"}, nil
}

// entries are the receipts, those that do not pass first.
func (r *Release) entries() []release.Entry {
	order := func(e release.Entry) int {
		switch e.Verdict {
		case reason.Failed:
			return 0
		case reason.Pass:
			return 2
		}
		return 1
	}
	out := slices.Clone(r.Release.Predicate.Receipts)
	slices.SortStableFunc(out, func(a, b release.Entry) int { return order(a) - order(b) })
	return out
}

// counts says how many receipts have which verdict.
func (r *Release) counts() string {
	count := map[reason.Verdict]int{}
	for _, e := range r.Release.Predicate.Receipts {
		count[e.Verdict]++
	}
	text := fmt.Sprintf("%d receipts", len(r.Release.Predicate.Receipts))
	for _, v := range []reason.Verdict{reason.Pass, reason.Failed, reason.Unknown, reason.Inadmissible} {
		if count[v] > 0 {
			text += fmt.Sprintf(", %d %s", count[v], v)
		}
	}
	return text
}

// provisional lists what the release does not say, in plain words.
func (r *Release) provisional() []string {
	physical := map[string]bool{}
	unsupported := 0
	for _, e := range r.Release.Predicate.Receipts {
		physical[e.Name] = physical[e.Name] || e.Lane == evidence.LanePhysical
		if e.PinStatus != "supported" {
			unsupported++
		}
	}
	short := 0
	for _, e := range r.Release.Predicate.Receipts {
		if len(e.Missing) > 0 {
			short++
		}
	}
	without := 0
	for _, found := range physical {
		if !found {
			without++
		}
	}
	var out []string
	if without > 0 {
		out = append(out, fmt.Sprintf("lane: %d of %d gates have no physical receipt; nothing is said about Apple's Core ML there", without, len(physical)))
	}
	if unsupported > 0 {
		out = append(out, fmt.Sprintf("pin: unsupported in %d receipts", unsupported))
	}
	if short > 0 {
		out = append(out, fmt.Sprintf("release gate: %d of %d receipts do not satisfy it", short, len(r.Release.Predicate.Receipts)))
	}
	return append(out, "judgements: they stand in the receipts, which this report does not read")
}

// HTML writes one page that lists the receipts.
func (r *Release) HTML(w io.Writer) error {
	return render(w, releaseText, template.FuncMap{"mark": mark}, map[string]any{
		"R": r, "P": &r.Release.Predicate, "Style": template.CSS(styleText), "Entries": r.entries(), "Counts": r.counts(), "Provisional": r.provisional(),
	})
}

// Text writes a short summary for the log of a build.
func (r *Release) Text(w io.Writer) error {
	p := &r.Release.Predicate
	var b lines
	b.add("%s: %s", p.Name, p.Verdict)
	b.add("  %s", r.counts())
	for _, e := range r.entries() {
		b.add("  %-12s %s (%s), pin %s (%s)", e.Verdict, e.Name, e.Lane, e.PinName, e.PinStatus)
		if len(e.Missing) > 0 {
			b.add("    missing for the release gate: %s", strings.Join(e.Missing, ", "))
		}
		for _, s := range e.Subjects {
			b.add("    %s sha256:%s", s.Name, s.Digest["sha256"])
		}
		b.add("    receipt sha256:%s", e.SHA256)
	}
	b.add("  release sha256:%s", r.SHA256)
	for _, text := range r.provisional() {
		b.add("  provisional: %s", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JUnit writes one test case per receipt, and a failing one for a release of none.
func (r *Release) JUnit(w io.Writer) error {
	p := &r.Release.Predicate
	suite := junitSuite{Name: p.Name, Properties: []junitProperty{{"verdict", string(p.Verdict)}, {"release_sha256", r.SHA256}}}
	for _, e := range p.Receipts {
		suite.add(e.Name+" ("+string(e.Lane)+")", e.Verdict, &junitFailure{Type: string(e.Verdict), Message: "verdict " + string(e.Verdict) + ", in receipt sha256:" + e.SHA256})
	}
	if len(p.Receipts) == 0 {
		suite.add("receipts", reason.Failed, &junitFailure{Type: string(reason.Failed), Message: "a release of no receipts"})
	}
	return suite.write(w)
}
