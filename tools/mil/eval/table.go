package eval

import (
	"sort"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil/kernel"
)

var table map[string]*definition

// init breaks the cycle between the table and the functions that consult it.
func init() {
	table = map[string]*definition{
		"const":       {args: []string{"val"}, doc: "any tensor or string", make: makeConst},
		"identity":    {args: []string{"x"}, doc: "any tensor", make: makeIdentity},
		"cast":        {args: []string{"x", "dtype"}, doc: "fp16, fp32", make: makeCast},
		"add":         {args: []string{"x", "y"}, doc: "fp16, fp32, broadcast", make: pairwise(kernel.Add)},
		"sub":         {args: []string{"x", "y"}, doc: "fp16, fp32, broadcast", make: pairwise(kernel.Sub)},
		"mul":         {args: []string{"x", "y"}, doc: "fp16, fp32, broadcast", make: pairwise(kernel.Mul)},
		"real_div":    {args: []string{"x", "y"}, doc: "fp16, fp32, broadcast", make: pairwise(kernel.Div)},
		"gelu":        {args: []string{"x", "mode"}, doc: "EXACT, TANH_APPROXIMATION, SIGMOID_APPROXIMATION", make: makeGelu},
		"conv":        {args: []string{"x", "weight", "bias", "strides", "pad_type", "pad", "dilations", "groups"}, doc: "one or two spatial dimensions", make: makeConv},
		"linear":      {args: []string{"x", "weight", "bias"}, doc: "fp16, fp32", make: makeLinear},
		"matmul":      {args: []string{"x", "y", "transpose_x", "transpose_y"}, doc: "rank 2 to 5, batch broadcast", make: makeMatmul},
		"softmax":     {args: []string{"x", "axis"}, doc: "any axis", make: makeSoftmax},
		"layer_norm":  {args: []string{"x", "axes", "gamma", "beta", "epsilon"}, doc: "any axes", make: makeLayerNorm},
		"transpose":   {args: []string{"x", "perm"}, doc: "any tensor", make: makeTranspose},
		"reshape":     {args: []string{"x", "shape"}, doc: "fixed shape, one extent may be -1", make: makeReshape},
		"expand_dims": {args: []string{"x", "axes"}, doc: "any tensor", make: makeExpandDims},
		"squeeze":     {args: []string{"x", "axes"}, doc: "any tensor", make: makeSqueeze},
	}
}

// Support is one operation that is evaluated.
type Support struct {
	Op        string   `json:"op"`
	Arguments []string `json:"arguments"`
	Scope     string   `json:"scope"`
}

// Operations lists what is evaluated, by name.
func Operations() []Support {
	out := make([]Support, 0, len(table))
	for name, d := range table {
		out = append(out, Support{name, d.args, d.doc})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Op < out[j].Op })
	return out
}
