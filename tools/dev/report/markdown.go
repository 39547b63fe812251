package report

import (
	"fmt"
	"strings"
)

// Head is the two lines that begin a table in Markdown.
func (t *Table) Head() string {
	var names, rule strings.Builder
	for _, c := range t.Columns {
		title := c.Name
		if c.Unit != "" {
			title += ", " + c.Unit
		}
		fmt.Fprintf(&names, " %s |", title)
		if c.Kind == Number {
			rule.WriteString("---:|")
		} else {
			rule.WriteString("---|")
		}
	}
	return "|" + names.String() + "\n|" + rule.String() + "\n"
}

// Line is one row in Markdown.
func (t *Table) Line(i int) string {
	var b strings.Builder
	b.WriteByte('|')
	for j, c := range t.Rows[i] {
		text := c.show(t.Columns[j])
		if text != "" {
			text = " " + text
		}
		b.WriteString(text + " |")
	}
	return b.String() + "\n"
}

// Markdown is the whole table.
func (t *Table) Markdown() string {
	var b strings.Builder
	b.WriteString(t.Head())
	for i := range t.Rows {
		b.WriteString(t.Line(i))
	}
	return b.String()
}

func (c Cell) show(col Column) string {
	switch {
	case c.Spread != nil:
		s := fmt.Sprintf("%.*f (%.*f to %.*f, n = %d)", col.Decimals, c.Spread.Median, col.Decimals, c.Spread.Low, col.Decimals, c.Spread.High, c.Spread.N)
		if c.Text != nil {
			s += ": " + *c.Text
		}
		return s
	case c.Number != nil:
		return fmt.Sprintf("%.*f", col.Decimals, *c.Number)
	case c.Text != nil:
		return *c.Text
	}
	return ""
}

// Origins is a table with one row a report: what made it, when and where.
func Origins(reports []*Report) string {
	var b strings.Builder
	b.WriteString("| report | made by | recorded | machine | processors busy with anything, before and after | conditions |\n|---|---|---|---|---|---|\n")
	for _, r := range reports {
		machine, busy := Unknown, Unknown
		if m := r.Machine; m != nil {
			machine = fmt.Sprintf("%s, %d processors, virtual machine: %s", m.Chip, m.Cores.Logical, m.VirtualMachine)
			busy = share(r.Before.BusyShare) + ", " + share(r.After.BusyShare)
		}
		conditions := r.Conditions
		if r.Origin == Copied {
			conditions = "copied from the document, without an environment: " + conditions
		}
		fmt.Fprintf(&b, "| `%s` %s | `%s` | %s | %s | %s | %s |\n", r.ID, r.Name, r.Command, r.RecordedAt, machine, busy, conditions)
	}
	return b.String()
}

func share(v *float64) string {
	if v == nil {
		return Unknown
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}
