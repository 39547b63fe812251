package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/release"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

func newDiffCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "List what changed between two receipts or two releases, the most important first",
		Long: `List what changed from receipt A to receipt B, the most important first, or from release A to release B:
the latter as far as a release repeats its receipts. Signed ones are read as well, and their signatures are not checked.
Exits 0 when nothing changed, 1 when something did.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := readStatement(cmd.InOrStdin(), args[0])
			if refused, ok := newer(err); ok {
				return refused.print(cmd.OutOrStdout(), args[0], asJSON)
			}
			if err != nil {
				return err
			}
			b, err := readStatement(cmd.InOrStdin(), args[1])
			if refused, ok := newer(err); ok {
				return refused.print(cmd.OutOrStdout(), args[1], asJSON)
			}
			if err != nil {
				return err
			}
			switch {
			case a.receipt != nil && b.receipt != nil:
				return printChanges(cmd.OutOrStdout(), statement.Diff(a.receipt, b.receipt), asJSON)
			case a.release != nil && b.release != nil:
				return printChanges(cmd.OutOrStdout(), release.Diff(a.release, b.release), asJSON)
			}
			return fmt.Errorf("%s is %s and %s is %s: give two receipts, or two releases", args[0], a, args[1], b)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printChanges(w io.Writer, changes statement.Changes, asJSON bool) error {
	if asJSON {
		if changes == nil {
			changes = statement.Changes{}
		}
		if err := printJSON(w, map[string]any{"changes": changes}); err != nil {
			return err
		}
	} else {
		for _, c := range changes {
			fmt.Fprintf(w, "%s\n  from %s\n  to   %s\n", paint(w, bold, reason.Visible(c.What)), orNone(c.From), orNone(c.To))
		}
	}
	if len(changes) > 0 {
		return exitVerdict(reason.Failed)
	}
	if !asJSON {
		fmt.Fprintln(w, "no change")
	}
	return nil
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return reason.Visible(text)
}
