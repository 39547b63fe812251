package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit"
)

func newAuditCmd() *cobra.Command {
	var (
		q      audit.Request
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "audit RECEIPT [-- FLAGS OF BAZEL'S BUILD]",
		Short: "Rebuild what a receipt is about in a clean output base, and explain every difference",
		Long: `Rebuild a receipt with Bazel in an output base of its own and compare every digest. A receipt may be
signed; its signature is verify's business. With the gated program and encoder (--cli, --encoder)
a difference is explained: by section of the program, by program and weights of the encoder.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && cmd.ArgsLenAtDash() != 1 {
				return fmt.Errorf("audit takes one receipt, found %q: put flags of Bazel's build behind --", args)
			}
			s, err := readReceipt(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			q.Receipt, q.Flags, q.Log = s, args[1:], os.Stderr
			r, err := audit.Run(cmd.Context(), q)
			var refused *reason.Error
			if errors.As(err, &refused) {
				return report{verdict.From(refused.Reason), map[string]any{}}.print(cmd.OutOrStdout(), "audit", asJSON)
			}
			if err != nil {
				return err
			}
			return printAudit(cmd, r, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Workspace, "workspace", ".", "a checkout of the gate's repository")
	f.StringVar(&q.Target, "target", "", "the receipt's label (its own name if left out)")
	f.StringVar(&q.Bazel, "bazel", "bazel", "the Bazel to build with")
	f.StringVar(&q.OutputBase, "output-base", "", "a new directory to build in (a temporary one if left out)")
	f.StringVar(&q.CLI, "cli", "", "the gated whisper-cli, to explain a difference with")
	f.StringVar(&q.Encoder, "encoder", "", "the gated encoder, to explain a difference with")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printAudit(cmd *cobra.Command, r *audit.Result, asJSON bool) error {
	w := cmd.OutOrStdout()
	if asJSON {
		if err := printJSON(w, r); err != nil {
			return err
		}
		return exitVerdict(r.Verdict)
	}
	err := report{r.Findings, r.Facts}.print(w, "audit", false)
	for _, d := range r.Program {
		fmt.Fprintf(w, "  program: %s\n", reason.Visible(fmt.Sprint(d)))
	}
	for _, line := range r.Encoder {
		fmt.Fprintf(w, "  encoder: %s\n", reason.Visible(line))
	}
	for _, c := range r.Changes {
		fmt.Fprintf(w, "  differs: %s: %s, rebuilt %s\n", reason.Visible(c.What), orNone(c.From), orNone(c.To))
	}
	if len(r.Changes) == 0 {
		fmt.Fprintln(w, "  every digest of the rebuilt receipt is the audited one's")
	}
	return err
}
