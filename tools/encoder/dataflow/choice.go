package dataflow

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/eval"
)

// choosing are the arguments by whose values an operation chooses what it gives. One evaluation shows one of the choices
// alone, so a program that chooses by its input cannot be followed. No encoder of Whisper does.
var choosing = map[string][]string{
	"equal": {"x", "y"}, "not_equal": {"x", "y"}, "less": {"x", "y"}, "less_equal": {"x", "y"}, "greater": {"x", "y"}, "greater_equal": {"x", "y"},
	"logical_and": {"x", "y"}, "logical_or": {"x", "y"}, "logical_xor": {"x", "y"}, "logical_not": {"x"}, "select": {"cond"},
	"gather": {"indices"}, "gather_along_axis": {"indices"}, "gather_nd": {"indices"}, "topk": {"x"}, "reduce_argmax": {"x"}, "reduce_argmin": {"x"},
	"scaled_dot_product_attention": {"attn_mask"},
}

// choice finds an operation that chooses by what the function is given: an *eval.Unsupported that names it.
func choice(f *mil.Function) error {
	given := map[string]bool{}
	for _, p := range f.Params {
		given[p.Name] = true
	}
	live := Live(f)
	for _, op := range f.Body.Ops {
		if !live[op] || op.Type == "shape" {
			continue // shapes are the same for every input
		}
		depends := false
		for _, a := range op.Inputs {
			for _, b := range a.Bindings {
				if !given[b.Name] {
					continue
				}
				depends = true
				if slices.Contains(choosing[op.Type], a.Name) {
					return &eval.Unsupported{Obstacles: []eval.Obstacle{{Op: op.Type, Output: op.Outputs[0].Name, Line: op.Line,
						Problem: a.Name + " depends on the input, so that another input may take another way through the program"}}}
				}
			}
		}
		for _, o := range op.Outputs {
			given[o.Name] = given[o.Name] || depends
		}
	}
	return nil
}
