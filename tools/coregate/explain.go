package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/artifact"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/hardvalues"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/parity"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/verify"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/judge"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/binary"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/candidate"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/sanitize"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
)

// section is one package's codes under a heading.
type section struct {
	title string
	table reason.Table
}

// sections are all codes that this program can print. A package that judges adds a line here.
var sections = []section{
	{"Runs", judge.Reasons},
	{"Receipts", statement.Reasons},
	{"Signatures", envelope.Reasons},
	{"Verification", verify.Reasons},
	{"Releases", release.Reasons},
	{"Audits", audit.Reasons},
	{"Artifacts", artifact.Reasons},
	{"Pins and patches", pin.Reasons},
	{"Programs", binary.Reasons},
	{"Patch experiment", ab.Reasons},
	{"Memory checkers", sanitize.Reasons},
	{"Candidate pins", candidate.Reasons},
	{"Parity", parity.Reasons},
	{"Hard values", hardvalues.Reasons},
	{"Words", transcript.Reasons},
	{"This program", ownReasons},
}

// definition finds a code in all tables.
func definition(code string) (reason.Definition, bool) {
	for _, s := range sections {
		if d, ok := s.table.Lookup(code); ok {
			return d, true
		}
	}
	return reason.Definition{}, false
}

func newExplainCmd() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a reason code means and what to do about it",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch {
			case markdown:
				return writeReasons(out)
			case len(args) == 0:
				for _, s := range sections {
					for _, d := range s.table {
						fmt.Fprintf(out, "%-26s %s\n", d.Code, d.Class)
					}
				}
				return nil
			}
			d, ok := definition(strings.ToUpper(args[0]))
			if !ok {
				return fmt.Errorf("no reason code is called %q: coregate explain lists all", args[0])
			}
			_, err := fmt.Fprintf(out, "%s (%s)\n\n%s\n\n%s\n", d.Code, d.Class, d.Means, d.Do)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/reasons.md")
	return cmd
}

// writeReasons prints docs/reasons.md.
func writeReasons(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Reason codes\n\nWritten by `coregate explain --markdown`; a test holds this file against the tables in the code.\n\n" +
		"`fail` and `refuse` make a verdict fail (exit 1): a refused input is not acceptable, whatever a run\n" +
		"with it did. `inconclusive` (exit 3) says that the run proves nothing, which never passes. A `note` changes no verdict.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| code | class | what it means | what to do |\n|---|---|---|---|\n", s.title)
		table := slices.Clone(s.table)
		for _, d := range table {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Code, d.Class, cell(d.Means), cell(d.Do))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
