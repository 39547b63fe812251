package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// report is what every judging subcommand prints: with --json as one object, else as a table.
type report struct {
	verdict.Findings
	Facts map[string]any `json:"facts"`
}

// print writes the report and returns what the command returns.
func (r report) print(w io.Writer, title string, asJSON bool) error {
	if asJSON {
		if err := printJSON(w, r); err != nil {
			return err
		}
		return exitVerdict(r.Verdict)
	}
	fmt.Fprintf(w, "%s: %s\n", reason.Visible(title), paintVerdict(w, r.Verdict, string(r.Verdict)))
	printReasons(w, r.Reasons)
	printReasons(w, r.Notes)
	for _, key := range slices.Sorted(maps.Keys(r.Facts)) {
		fmt.Fprintf(w, "  %-22s %s\n", reason.Visible(key), reason.Visible(fmt.Sprint(r.Facts[key])))
	}
	return exitVerdict(r.Verdict)
}

// printReasons writes one block per reason, with its code first and what to do last.
func printReasons(w io.Writer, reasons []reason.Reason) {
	for _, r := range reasons {
		var b strings.Builder
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  %s\twhere\t%s\n\texpected\t%s\n\tfound\t%s\n", reason.Visible(r.Code), reason.Visible(r.Where), reason.Visible(r.Expected), reason.Visible(r.Found))
		if d, ok := reason.Lookup(r.Code); ok {
			fmt.Fprintf(t, "\tdo\t%s\n", d.Do)
		}
		t.Flush()
		_, _ = io.WriteString(w, paintFirst(w, bold, b.String(), reason.Visible(r.Code)))
	}
}

// printJSON writes one object. What JSON leaves as it is and a terminal obeys (C1 controls, marks of direction, marks
// without width) is written as an escape of JSON, which reads back as the same text.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, reason.VisibleJSON(b.String()))
	return err
}
