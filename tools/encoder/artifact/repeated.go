package artifact

import (
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// repeated compares metadata.json, which repeats the description for tools, with the description itself. Core ML does not read
// it; one that says something else is of another model, and then nobody knows which of the other parts are.
func (e *encoder) repeated(side string, described, repeated []Feature) {
	names := func(fs []Feature) []string {
		var out []string
		for _, f := range fs {
			out = append(out, f.Name)
		}
		slices.Sort(out)
		return out
	}
	if a, b := names(described), names(repeated); !slices.Equal(a, b) {
		e.fault(reason.InterfaceContradiction, "metadata.json", "the "+side+"s of the description: "+strings.Join(a, ", "), strings.Join(b, ", "))
		return
	}
	for _, d := range described {
		m := repeated[slices.IndexFunc(repeated, func(f Feature) bool { return f.Name == d.Name })]
		if d.Kind != m.Kind || d.Type != m.Type || d.Shape != nil && m.Shape != nil && !d.Flexible && !m.Flexible && !slices.Equal(d.Shape, m.Shape) {
			e.fault(reason.InterfaceContradiction, "metadata.json", "what the description says: "+d.String(), m.String())
		}
	}
}
