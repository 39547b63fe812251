package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// Text writes a short summary for the log of a build.
func (d *Data) Text(w io.Writer) error {
	p := &d.Receipt.Predicate
	var b lines
	line := b.add
	line("%s: %s", p.Name, p.Verdict)
	line("  lane %s, pin %s (%s), placement %s", p.Lane, p.Pin.Name, p.Pin.Status, p.Placement)
	for _, j := range p.Judgements {
		line("  %-12s %s", j.Name, j.Verdict)
		for _, r := range j.Reasons {
			line("    %s at %s: expected %s, found %s", r.Code, r.Where, r.Expected, r.Found)
			if def, ok := d.Explain(r.Code); ok {
				line("      %s", def.Do)
			}
		}
	}
	for _, s := range d.Receipt.Subject {
		line("  %s sha256:%s", s.Name, s.Digest["sha256"])
	}
	line("  receipt sha256:%s", d.SHA256)
	for _, text := range p.Provisional {
		line("  provisional: %s", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines is a text for a log.
type lines struct{ strings.Builder }

// add writes one line. No text of a receipt's may make a line of its own in a log, which build servers take orders from.
func (b *lines) add(format string, texts ...any) {
	for i, text := range texts {
		texts[i] = reason.Visible(fmt.Sprint(text))
	}
	fmt.Fprintf(b, format+"\n", texts...)
}

// JUnit elements, as build servers read them.
type (
	junitSuite struct {
		XMLName    xml.Name        `xml:"testsuite"`
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes one test case per judgement: a failure for fail, an error for whatever proved nothing.
// Times are left out, since a receipt has none.
func (d *Data) JUnit(w io.Writer) error {
	p := &d.Receipt.Predicate
	suite := junitSuite{Name: p.Name, Properties: []junitProperty{
		{"verdict", string(p.Verdict)}, {"lane", string(p.Lane)}, {"pin", p.Pin.Name + " (" + p.Pin.Status + ")"}, {"receipt_sha256", d.SHA256},
	}}
	for _, j := range p.Judgements {
		problem := &junitFailure{Type: string(j.Verdict), Message: "verdict " + string(j.Verdict)}
		var text strings.Builder
		for i, r := range j.Reasons {
			if i == 0 {
				problem.Type, problem.Message = r.Code, r.String()
			}
			text.WriteString(r.String() + "\n")
		}
		problem.Text = text.String()
		suite.add(j.Name, j.Verdict, problem)
	}
	missing(d, &suite)
	return suite.write(w)
}

// add adds one case, with its problem unless it passed.
func (s *junitSuite) add(name string, verdict reason.Verdict, problem *junitFailure) {
	c := junitCase{Name: name, Class: s.Name}
	switch verdict {
	case reason.Pass:
	case reason.Failed:
		c.Failure = problem
		s.Failures++
	default:
		c.Error = problem
		s.Errors++
	}
	s.Cases = append(s.Cases, c)
	s.Tests++
}

func (s *junitSuite) write(w io.Writer) error {
	out, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, clean(string(out)))
	return err
}

// missing adds a failing case for each judgement that the receipt requires and does not have.
func missing(d *Data, suite *junitSuite) {
	p := &d.Receipt.Predicate
	for _, name := range p.Required {
		found := false
		for _, j := range p.Judgements {
			found = found || j.Name == name
		}
		if !found {
			suite.add(name, reason.Failed, &junitFailure{Type: reason.JudgementMissing, Message: "the receipt requires this judgement and does not have it"})
		}
	}
}
