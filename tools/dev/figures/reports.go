package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

// reported draws tables of stored reports, FILE.json#TABLE each, as one. Where they are of several reports a last column names the
// report of each row: rows of different days must not look like those of one.
func reported(files []string, folder string) (string, error) {
	var whole *report.Table
	several, all, seen := false, 0, map[string]bool{}
	for _, f := range files {
		several = several || strings.SplitN(f, "#", 2)[0] != strings.SplitN(files[0], "#", 2)[0]
	}
	for _, f := range files {
		file, name, ok := strings.Cut(f, "#")
		if !ok {
			return "", fmt.Errorf("%s: expected FILE.json#TABLE", f)
		}
		name, beginning, _ := strings.Cut(name, "=")
		beginning = strings.ReplaceAll(beginning, "+", " ")
		r, err := report.Read(filepath.Join(folder, file))
		if err != nil {
			return "", err
		}
		t, err := r.Table(name)
		if err != nil {
			return "", err
		}
		if !seen[file+"#"+name] {
			seen[file+"#"+name], all = true, all+len(t.Rows)
		}
		t.Rows = slices.DeleteFunc(t.Rows, func(row []report.Cell) bool {
			return row[0].Text == nil && beginning != "" || !strings.HasPrefix(*cmp.Or(row[0].Text, new(string)), beginning)
		})
		if len(t.Rows) == 0 {
			return "", fmt.Errorf("%s: no row begins with %q", f, beginning)
		}
		if several {
			t.Columns = append(t.Columns, report.Column{Name: "report", Kind: report.Text})
			for i := range t.Rows {
				t.Rows[i] = append(t.Rows[i], report.T("`"+r.ID[:6]+"`"))
			}
		}
		switch {
		case whole == nil:
			whole = t
		case !slices.Equal(whole.Columns, t.Columns):
			return "", fmt.Errorf("%s: its columns are not those of %s: expected tables that are alike", f, files[0])
		default:
			whole.Rows = append(whole.Rows, t.Rows...)
		}
	}
	text := whole.Markdown()
	if len(whole.Rows) < all {
		text += fmt.Sprintf("\n%d of %d rows; the others are in the reports.\n", len(whole.Rows), all)
	}
	return text, nil
}

// reports says of stored reports what made them, when, and where.
func reports(files []string, folder string) (string, error) {
	var list []*report.Report
	for _, f := range files {
		r, err := report.Read(filepath.Join(folder, f))
		if err != nil {
			return "", err
		}
		list = append(list, r)
	}
	return report.Origins(list), nil
}
