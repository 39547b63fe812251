package artifact

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// trouble notes what a program may hold and what has troubled others, once each.
func (e *encoder) trouble(main *mil.Function, d *decompressor, schemes []Scheme) {
	const exact = "gelu with mode EXACT, as the model has it"
	main.Body.EachOp(func(op *mil.Op) {
		found := ""
		switch op.Type[strings.LastIndexByte(op.Type, '.')+1:] {
		case "gelu":
			if mode := d.text(op, "mode"); mode != "" && mode != "EXACT" {
				found = "mode " + mode
			}
		case "tanh":
			// Whisper's encoder has no other use for it.
			found = "an operation tanh, of which the approximation is made"
		}
		if found != "" && e.approximate == "" {
			e.approximate = found
			e.fault(reason.GeluApproximate, fmt.Sprintf("%s, line %d", e.art.ModelFile, op.Line), exact, found)
		}
	})
	for _, s := range schemes {
		scaled := strings.Contains(s.Kind, "+linear") || strings.Contains(s.Kind, "scaled per channel") || strings.HasSuffix(s.Granularity, " palettes")
		if scaled && strings.Contains(s.Kind, "palettised") {
			e.fault(reason.PaletteScaled, e.art.ModelFile, "one palette for a tensor, without a scale", fmt.Sprintf("%d tensors: %s", s.Tensors, s))
			return
		}
	}
}

// text is an operand that is a constant string, "" if it is none.
func (d *decompressor) text(op *mil.Op, name string) string {
	v, from := operand(op, name)
	if from != "" {
		made := d.constants.Op(from)
		if made == nil || made.Type != "const" {
			return ""
		}
		v = made.Attr("val")
	}
	s, _ := v.AsString()
	return s
}
