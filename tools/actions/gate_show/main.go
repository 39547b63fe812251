// Command gate_show is the build action that writes what `bazel run` of a gate_receipt runs: a shell script that prints the
// receipt for people (the words that were heard, the verdicts and what they rest on) and exits by its verdict.
//
//	gate_show --receipt=FILE --coreml=EVIDENCE --contrast=EVIDENCE --out=SCRIPT
//
// The text is in the script, so no program is built for whoever reads it. The script exits like every command that judges:
// 0 pass, 1 fail or refuse, 3 inconclusive. The action exits 1 where an input cannot be read.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_show", flag.ContinueOnError)
	flags.SetOutput(stderr)
	receipt := flags.String("receipt", "", "the receipt, a `file`")
	coreml := flags.String("coreml", "", "evidence `file` of the run on the Core ML encoder")
	contrast := flags.String("contrast", "", "evidence `file` of the run on ggml's own encoder")
	out := flags.String("out", "", "where the script goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *receipt == "" || *coreml == "" || *contrast == "" || *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "gate_show: --receipt, --coreml, --contrast and --out are all required, and nothing else")
		return 2
	}
	err := func() error {
		var text bytes.Buffer
		verdict, err := show(*receipt, *coreml, *contrast, &text)
		if err != nil {
			return err
		}
		return os.WriteFile(*out, script(text.String(), verdict.ExitCode()), 0o755)
	}()
	if err != nil {
		fmt.Fprintf(stderr, "gate_show: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

// script prints text, whatever is in it, and exits with code.
func script(text string, code int) []byte {
	// Between single quotes a POSIX shell reads everything as it is, but for the quote itself.
	return fmt.Appendf(nil, "#!/bin/sh\nprintf '%%s' '%s'\nexit %d\n", strings.ReplaceAll(text, "'", `'\''`), code)
}

func show(receipt, coreml, contrast string, w io.Writer) (reason.Verdict, error) {
	data, err := os.ReadFile(receipt)
	if err != nil {
		return "", fmt.Errorf("read the receipt: %w", err)
	}
	statement, err := statement.Decode(data)
	if err != nil {
		return "", err
	}
	p := &statement.Predicate
	fmt.Fprintf(w, "%s: %s\n", reason.Visible(p.Name), p.Verdict)
	fmt.Fprintf(w, "lane %s, flavour %s, whisper.cpp %s (%s pin)\n\n", p.Lane, reason.Visible(p.Flavour), reason.Visible(p.Pin.Name), p.Pin.Status)
	for _, side := range []struct{ name, evidence string }{
		{"Core ML encoder", coreml},
		{"ggml encoder", contrast},
	} {
		words, err := heard(side.evidence)
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
