package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/wholefile"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/page"
)

// readSubmissions reads submissions and collections. A session that is in two files counts once.
func readSubmissions(cmd *cobra.Command, paths []string) ([]*measure.Submission, error) {
	var out []*measure.Submission
	for _, path := range paths {
		data, err := readInput(cmd.InOrStdin(), path, strictjson.MaxBytes)
		if err != nil {
			return nil, err
		}
		subs, err := measure.DecodeAny(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, s := range subs {
			if !slices.ContainsFunc(out, func(o *measure.Submission) bool { return o.Session == s.Session }) {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// merged reads submissions that may stand in one table; a refusal is printed, and its verdict returned.
func merged(cmd *cobra.Command, paths []string, asJSON bool) (*measure.Collection, error) {
	subs, err := readSubmissions(cmd, paths)
	if reasons := measure.Reasons(err); reasons != nil {
		return nil, report{verdict.From(reasons...), map[string]any{}}.print(cmd.OutOrStdout(), "submissions", asJSON)
	}
	if err != nil {
		return nil, err
	}
	c, reasons := measure.Merge(subs)
	if len(reasons) > 0 {
		return nil, report{verdict.From(reasons...), map[string]any{"submissions": len(subs)}}.print(cmd.OutOrStdout(), "merge", asJSON)
	}
	return c, nil
}

func newBenchMergeCmd() *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "merge SUBMISSION.json...",
		Short: "Put submissions of several sessions or machines into one collection, or say why they cannot be compared",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := merged(cmd, args, asJSON)
			if err != nil || c == nil {
				return err
			}
			data, err := measure.EncodeCollection(c)
			if err != nil {
				return err
			}
			if out == "" {
				_, err = cmd.OutOrStdout().Write(data)
				return err
			}
			return wholefile.Bytes(out, data)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "where the collection goes (standard output if left out)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a refusal as one JSON object")
	return cmd
}

func newBenchReportCmd() *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "report SUBMISSION.json...",
		Short: "Draw the table and plots of submissions: one page that needs no network, or a text",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := merged(cmd, args, false)
			if err != nil || c == nil {
				return err
			}
			p, err := measure.LoadProtocol(c.Protocol.Name)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			switch format {
			case "html":
				err = page.HTML(&b, p, c.Submissions)
			case "text":
				err = page.Text(&b, p, c.Submissions)
			default:
				return fmt.Errorf("--format %s: expected html or text", format)
			}
			if err != nil {
				return err
			}
			if out == "" {
				_, err = cmd.OutOrStdout().Write(b.Bytes())
				return err
			}
			return wholefile.Bytes(out, b.Bytes())
		},
	}
	cmd.Flags().StringVar(&format, "format", "html", "html or text")
	cmd.Flags().StringVar(&out, "out", "", "where the report goes (standard output if left out)")
	return cmd
}

func newBenchClaimCmd() *cobra.Command {
	var claim, of, than string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "claim --claim faster|smaller|efficient|sustained --arm A --than B SUBMISSION.json...",
		Short: "Judge a claim about two arms by submissions",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(measure.Claims, measure.Claim(claim)) {
				return fmt.Errorf("--claim %q: expected one of %v (where a model ran is not a claim that a measurement can carry)", claim, measure.Claims)
			}
			subs, err := readSubmissions(cmd, args)
			if reasons := measure.Reasons(err); reasons != nil {
				return report{verdict.From(reasons...), map[string]any{}}.print(cmd.OutOrStdout(), "submissions", asJSON)
			}
			if err != nil {
				return err
			}
			p, err := measure.LoadProtocol(subs[0].Protocol.Name)
			if err != nil {
				return err
			}
			f := verdict.New()
			f.AddAll(p.Judge(subs, measure.Claim(claim), of, than))
			return report{f, map[string]any{"claim": fmt.Sprintf("%s is %s than %s", of, claim, than)}}.print(cmd.OutOrStdout(), "claim", asJSON)
		},
	}
	cmd.Flags().StringVar(&claim, "claim", "", "faster, smaller, efficient or sustained")
	cmd.Flags().StringVar(&of, "arm", "", "the arm that the claim is about")
	cmd.Flags().StringVar(&than, "than", "", "the arm that it is compared with")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
