package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

func newExplainCmd() *cobra.Command {
	var markdown, guide, asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a reason code means and what to do about it",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch {
			case markdown:
				return writeReasons(out)
			case guide:
				return writeFailed(out)
			case asJSON:
				return explainJSON(out, args)
			case len(args) == 0:
				for _, s := range reason.Sections {
					for _, d := range s.Table {
						fmt.Fprintf(out, "%-26s %s\n", d.Code, d.Class)
					}
				}
				return nil
			}
			d, err := lookup(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "%s (%s)\n\n%s\n\n%s\n", paint(out, bold, d.Code), d.Class, d.Means, d.Do)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/reasons.md")
	cmd.Flags().BoolVar(&guide, "guide", false, "print docs/failed.md")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func lookup(code string) (reason.Definition, error) {
	d, ok := reason.Lookup(strings.ToUpper(code))
	if !ok {
		return d, fmt.Errorf("no reason code is called %q: %s", code, instead(nearest(code, codes()), "coregate explain lists all"))
	}
	return d, nil
}

// explained is one code of explain --json.
type explained struct {
	Code    string       `json:"code"`
	Class   reason.Class `json:"class"`
	Section string       `json:"section"`
	Means   string       `json:"means"`
	Do      string       `json:"do"`
}

// explainJSON prints the code that is asked for, or all of them.
func explainJSON(w io.Writer, args []string) error {
	only := ""
	if len(args) > 0 {
		d, err := lookup(args[0])
		if err != nil {
			return err
		}
		only = d.Code
	}
	all := []explained{}
	for _, s := range reason.Sections {
		for _, d := range s.Table {
			if only == "" || d.Code == only {
				all = append(all, explained{d.Code, d.Class, s.Title, d.Means, d.Do})
			}
		}
	}
	return printJSON(w, map[string]any{"codes": all})
}

// writeReasons prints docs/reasons.md.
func writeReasons(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Reason codes\n\nWritten by `coregate explain --markdown`; a test compares this file with the tables in the code.\n\n" +
		"`fail` and `refuse` make a verdict fail (exit 1): a refused input is not acceptable, whatever a run\n" +
		"with it did. `inconclusive` (exit 3) says that the run proves nothing, which never passes. A `note` changes no verdict.\n")
	for _, s := range reason.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n| code | class | what it means | what to do |\n|---|---|---|---|\n", s.Title)
		table := slices.Clone(s.Table)
		for _, d := range table {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Code, d.Class, cell(d.Means), cell(d.Do))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
