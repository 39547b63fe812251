package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/envelope"
	"github.com/coreml-gate/rules_coreml_gate/tools/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt"
	"github.com/coreml-gate/rules_coreml_gate/tools/release"
)

func newDiffCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "List what changed between two receipts, the most important first",
		Long: `List what changed from receipt A to receipt B, the most important first. Signed receipts are
read as well, and their signatures are not checked. Exits 0 when nothing changed, 1 when something did.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && args[1] == "-" {
				return fmt.Errorf("diff reads standard input once: name a file for A or B")
			}
			a, err := readReceipt(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			b, err := readReceipt(cmd.InOrStdin(), args[1])
			if err != nil {
				return err
			}
			return printChanges(cmd.OutOrStdout(), receipt.Diff(a, b), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	given(cmd)
	return cmd
}

// readReceipt reads a receipt, or the receipt inside an envelope, whose signature it does not check.
func readReceipt(stdin io.Reader, path string) (*receipt.Statement, error) {
	data, err := readInput(stdin, path, maxSigned)
	if err != nil {
		return nil, err
	}
	return decodeReceipt(path, data)
}

func decodeReceipt(path string, data []byte) (*receipt.Statement, error) {
	if e, err := envelope.Parse(data); err == nil {
		data = e.Payload
	}
	s, err := receipt.Decode(data)
	if err == nil {
		return s, nil
	}
	if r, releaseErr := release.Decode(data); releaseErr == nil {
		err = fmt.Errorf("a release of %d receipts: give one of those", len(r.Predicate.Receipts))
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

func printChanges(w io.Writer, changes []receipt.Change, asJSON bool) error {
	if asJSON {
		if changes == nil {
			changes = []receipt.Change{}
		}
		if err := printJSON(w, map[string]any{"changes": changes}); err != nil {
			return err
		}
	} else {
		for _, c := range changes {
			fmt.Fprintf(w, "%s\n  from %s\n  to   %s\n", reason.Visible(c.What), orNone(c.From), orNone(c.To))
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
