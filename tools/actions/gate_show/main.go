// Command gate_show prints a gate's receipt for people: the words that were heard, the verdicts and
// what they rest on. It is what `bazel run` of a gate_receipt runs.
//
//	GATE_RECEIPT=FILE [GATE_EVIDENCE_COREML=FILE] [GATE_EVIDENCE_CONTRAST=FILE] gate_show
//
// It exits like every command that judges: 0 pass, 1 fail or refuse, 2 could not read, 3 inconclusive.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

func main() { os.Exit(run(os.Getenv, os.Stdout, os.Stderr)) }

func run(getenv func(string) string, stdout, stderr io.Writer) int {
	verdict, err := show(getenv, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "gate_show: %s\n", reason.Visible(err.Error()))
		return 2
	}
	return verdict.ExitCode()
}

func show(getenv func(string) string, w io.Writer) (reason.Verdict, error) {
	data, err := os.ReadFile(getenv("GATE_RECEIPT"))
	if err != nil {
		return "", fmt.Errorf("read the receipt that GATE_RECEIPT names: %w", err)
	}
	statement, err := statement.Decode(data)
	if err != nil {
		return "", err
	}
	p := &statement.Predicate
	fmt.Fprintf(w, "%s: %s\n", reason.Visible(p.Name), p.Verdict)
	fmt.Fprintf(w, "lane %s, flavour %s, whisper.cpp %s (%s pin)\n\n", p.Lane, reason.Visible(p.Flavour), reason.Visible(p.Pin.Name), p.Pin.Status)
	for _, side := range []struct{ name, variable string }{
		{"Core ML encoder", "GATE_EVIDENCE_COREML"},
		{"ggml encoder", "GATE_EVIDENCE_CONTRAST"},
	} {
		words, err := heard(getenv(side.variable))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(w, "%s heard:\n  %s\n", side.name, reason.Visible(words))
	}
	fmt.Fprintln(w)

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, j := range p.Judgements {
		fmt.Fprintf(t, "%s\t%s\t", reason.Visible(j.Name), j.Verdict)
		for i, r := range j.Reasons {
			if i > 0 {
				fmt.Fprint(t, "; ")
			}
			fmt.Fprint(t, reason.Visible(r.String()))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	for _, s := range statement.Subject {
		fmt.Fprintf(t, "%s\tsha256 %s\n", s.Name, s.Digest["sha256"])
	}
	if err := t.Flush(); err != nil {
		return "", err
	}
	for _, note := range p.Provisional {
		fmt.Fprintf(w, "\nprovisional: %s", reason.Visible(note))
	}
	if len(p.Provisional) > 0 {
		fmt.Fprintln(w)
	}
	return p.Verdict, nil
}

// heard is what a run wrote, or that it may not be shown.
func heard(path string) (string, error) {
	e, _, err := evidence.ReadFile(path)
	if err != nil {
		return "", err
	}
	if !e.Public {
		return fmt.Sprintf("(not public: %d lines, sha256 %s)", e.Stdout.Count, e.Stdout.SHA256), nil
	}
	words := strings.TrimSpace(strings.Join(e.Stdout.Lines, " "))
	if words == "" {
		return "(nothing)", nil
	}
	return reason.Visible(words), nil
}
