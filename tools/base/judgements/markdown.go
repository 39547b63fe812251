package judgements

import (
	"fmt"
	"strings"
)

// Markdown is docs/facts.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Facts

Written by ` + "`go test ./tools/base/judgements -update`" + ` from the table that the programs read (` + "`tools/base/judgements`" + `); a test checks that this file is current.

Each judgement of a receipt says the facts of its list and no other, and has notes of the codes that are named here. Building compares them with the list, and so does everything that
reads a receipt, without any file: an unknown fact, one of another type, and in a pass one that is missing or outside its values is
` + "`JUDGEMENT_DIFFERS`" + `, which names judgement, fact, expected and found. "Agrees with" says what else is compared: other facts, the
thresholds of the policy, or what the receipt binds. A judgement that does not pass may lack facts, and their values are what was found.

A fact that comes later raises ` + "`schema`" + `: an older reader then answers ` + "`RECEIPT_NEWER`" + `, and not that the receipt is wrong.
`)
	for _, k := range All {
		fmt.Fprintf(&b, "\n## %s\n\nA pass says: %s.", k.Name, k.Says)
		if len(k.Notes) > 0 {
			fmt.Fprintf(&b, " Notes that it can have: `%s`.", strings.Join(k.Notes, "`, `"))
		}
		if len(k.Facts) == 0 {
			b.WriteString(" It has no facts.\n")
			continue
		}
		b.WriteString("\n\n")
		table(&b, k.Facts)
	}
	b.WriteString("\n## Members of a receipt\n\nA pass describes its lane and its toolchain by these members alone; all are texts.\n")
	for _, part := range []struct {
		title string
		list  []Fact
	}{{"`lane_identity`, emulated", Identity["emulated"]}, {"`lane_identity`, physical", Identity["physical"]}, {"`toolchain`", Toolchain}} {
		fmt.Fprintf(&b, "\n### %s\n\n", part.title)
		table(&b, part.list)
	}
	return b.String()
}

func table(b *strings.Builder, list []Fact) {
	b.WriteString("| fact | says | type | in a pass | values | agrees with |\n|---|---|---|---|---|---|\n")
	for i := range list {
		f := &list[i]
		in, values := string(f.In), f.Expected()
		if f.Least == f.Most && (f.Type == Count || f.Type == Number) {
			values = bound(f.Least)
		}
		if f.In == Never {
			values = ""
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Key, f.Says, f.Type, in, values, f.Also)
	}
}
