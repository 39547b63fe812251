package eval

import (
	"math"
	"sort"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

var table map[string]*definition

// init breaks the cycle between the table and the functions that consult it.
func init() {
	table = map[string]*definition{}
	add := func(scope string, make func(c *call), args []string, names ...string) {
		for _, n := range names {
			table[n] = &definition{args: args, scope: scope, make: make}
		}
	}
	const reals, realsOrInts = "fp16, fp32", "fp16, fp32, int32; broadcast"
	x, xy := []string{"x"}, []string{"x", "y"}

	add("any tensor or string", makeConst, []string{"val"}, "const")
	add("any tensor", makeIdentity, x, "identity")
	add("fp16, fp32, bool, int8 to int32, uint8, uint16", makeCast, []string{"x", "dtype"}, "cast")

	add(realsOrInts, pairwise(kernel.Add, func(a, b int64) int64 { return a + b }), xy, "add")
	add(realsOrInts, pairwise(kernel.Sub, func(a, b int64) int64 { return a - b }), xy, "sub")
	add(realsOrInts, pairwise(kernel.Mul, func(a, b int64) int64 { return a * b }), xy, "mul")
	add("fp16, fp32, int32 where it divides; broadcast", makeRealDiv(pairwise(kernel.Div, nil)), xy, "real_div")
	add(realsOrInts, pairwise(perPair(math.Max), func(a, b int64) int64 { return max(a, b) }), xy, "maximum")
	add(realsOrInts, pairwise(perPair(math.Min), func(a, b int64) int64 { return min(a, b) }), xy, "minimum")
	add("fp16, fp32; broadcast", pairwise(perPair(math.Pow), nil), xy, "pow")

	for name, do := range map[string]func(a, b float64) bool{
		"equal": func(a, b float64) bool { return a == b }, "not_equal": func(a, b float64) bool { return a != b },
		"less": func(a, b float64) bool { return a < b }, "less_equal": func(a, b float64) bool { return a <= b },
		"greater": func(a, b float64) bool { return a > b }, "greater_equal": func(a, b float64) bool { return a >= b },
	} {
		add(realsOrInts+" to bool", comparison(do), xy, name)
	}
	for name, do := range map[string]func(a, b bool) bool{
		"logical_and": func(a, b bool) bool { return a && b }, "logical_or": func(a, b bool) bool { return a || b },
		"logical_xor": func(a, b bool) bool { return a != b },
	} {
		add("bool; broadcast", logic(do), xy, name)
	}
	add("bool", makeNot, x, "logical_not")
	add("fp16, fp32, int32, bool; broadcast; moves bits", makeSelect, []string{"cond", "a", "b"}, "select")
	add(realsOrInts, division(floorDiv, floorDivInt), xy, "floor_div")
	add(realsOrInts, division(floorMod, floorModInt), xy, "mod")

	for name, f := range map[string]func(float64) float64{
		"abs": math.Abs, "sqrt": math.Sqrt, "square": func(x float64) float64 { return x * x }, "erf": math.Erf,
		"tanh": math.Tanh, "sigmoid": logistic, "relu": relu, "silu": func(x float64) float64 { return x * logistic(x) },
		"ceil": math.Ceil, "floor": math.Floor, "round": math.RoundToEven, "sin": math.Sin, "cos": math.Cos,
	} {
		do := perElement(f)
		add(reals, func(c *call) {
			if v := c.float("x"); !c.bad {
				c.unary(v, do)
			}
		}, x, name)
	}
	add(reals, func(c *call) {
		if v := c.float("x"); !c.bad {
			c.unary(v, kernel.Exp)
		}
	}, x, "exp")
	withEps := []string{"x", "epsilon"}
	add(reals, withEpsilon(1e-12, func(v float64) float64 { return 1 / math.Sqrt(v) }), withEps, "rsqrt")
	add(reals, withEpsilon(1e-4, func(v float64) float64 { return 1 / v }), withEps, "inverse")
	add(reals, withEpsilon(1e-45, math.Log), withEps, "log")
	add(reals, makeClip, []string{"x", "alpha", "beta"}, "clip")
	add("EXACT, TANH_APPROXIMATION, SIGMOID_APPROXIMATION", makeGelu, []string{"x", "mode"}, "gelu")

	add("one or two spatial dimensions, groups, dilations", makeConv,
		[]string{"x", "weight", "bias", "strides", "pad_type", "pad", "dilations", "groups"}, "conv")
	add(reals, makeLinear, []string{"x", "weight", "bias"}, "linear")
	add("fp16, fp32, int32 with exact sums; rank 2 to 5, batch broadcast", makeMatmul, []string{"x", "y", "transpose_x", "transpose_y"}, "matmul")
	add("nchw,nwhu->nchu and chw,whr->chr", makeEinsum, []string{"values", "equation"}, "einsum")
	add("mask boolean or of the query's type", makeAttention, []string{"query", "key", "value", "attn_mask"}, "scaled_dot_product_attention")

	add("any axis", makeSoftmax, []string{"x", "axis"}, "softmax")
	add("any axes", makeLayerNorm, []string{"x", "axes", "gamma", "beta", "epsilon"}, "layer_norm")
	for name, f := range map[string]func([]float32) float32{
		"reduce_mean": mean, "reduce_sum": sum, "reduce_sum_square": sumOfSquares, "reduce_max": largest, "reduce_min": smallest,
	} {
		add("fp16, fp32, any axes", reduction(f), []string{"x", "axes", "keep_dims"}, name)
	}

	window := []string{"x", "kernel_sizes", "strides", "pad_type", "pad", "ceil_mode"}
	add("one to three spatial dimensions, no window of padding alone", pool(false), window, "max_pool")
	add("one to three spatial dimensions, no window of padding alone", pool(true), append(window, "exclude_padding_from_average"), "avg_pool")
	add("a number for each channel, rank 3 to 5", makeBatchNorm, []string{"x", "mean", "variance", "gamma", "beta", "epsilon"}, "batch_norm")
	add(reals, makeLeakyRelu, []string{"x", "alpha"}, "leaky_relu")
	const unequal = "fp16, fp32, int32; no NaN, no equal elements to choose from"
	add(unequal, extreme(func(a, b float64) bool { return a > b }), []string{"x", "axis", "keep_dims", "output_dtype"}, "reduce_argmax")
	add(unequal, extreme(func(a, b float64) bool { return a < b }), []string{"x", "axis", "keep_dims", "output_dtype"}, "reduce_argmin")
	add(unequal, makeTopK, []string{"x", "k", "axis", "ascending", "sort", "return_indices", "output_indices_dtype"}, "topk")
	add("to int8, uint8; scalar or along one axis", makeQuantize, []string{"input", "zero_point", "scale", "axis", "output_dtype"}, "quantize")
	add("from int8, uint8; scalar or along one axis", makeDequantize, []string{"input", "zero_point", "scale", "axis"}, "dequantize")

	const moves = "any tensor; moves bits"
	add(moves, makeTranspose, []string{"x", "perm"}, "transpose")
	add(moves+"; shape may hold one -1, and 0", makeReshape, []string{"x", "shape"}, "reshape")
	add(moves, makeExpandDims, []string{"x", "axes"}, "expand_dims")
	add(moves, makeSqueeze, []string{"x", "axes"}, "squeeze")
	add(moves, makeSplit, []string{"x", "axis", "num_splits", "split_sizes"}, "split")
	add(moves, makeConcat, []string{"values", "axis", "interleave"}, "concat")
	add(moves, makeStack, []string{"values", "axis"}, "stack")
	add(moves+"; constant bounds", makeSliceByIndex,
		[]string{"x", "begin", "end", "stride", "begin_mask", "end_mask", "squeeze_mask"}, "slice_by_index")
	add(moves+"; constant bounds", makeSliceBySize, []string{"x", "begin", "size"}, "slice_by_size")

	add(moves, makeReverse, []string{"x", "axes"}, "reverse")
	add(moves, makeTile, []string{"x", "reps"}, "tile")
	add("constant, reflect, replicate; the last two of these in two dimensions", makePad, []string{"x", "pad", "mode", "constant_val"}, "pad")
	add("whole factors", makeUpsample, []string{"x", "scale_factor_height", "scale_factor_width"}, "upsample_nearest_neighbor")
	const inside = "indices inside x"
	add(inside, makeGather, []string{"x", "indices", "axis", "batch_dims", "validate_indices"}, "gather")
	add(inside, makeGatherAlongAxis, []string{"x", "indices", "axis", "validate_indices"}, "gather_along_axis")
	add(inside, makeGatherND, []string{"x", "indices", "batch_dims", "validate_indices"}, "gather_nd")
	add("known when compiled", makeShape, x, "shape")
	add("int32 constants", makeRange, []string{"start", "end", "step"}, "range_1d")
	add("constant shape", makeFill, []string{"shape", "value"}, "fill")

	const folds = "decompressed when compiled"
	add(folds, makeFolded, []string{"quantized_data", "zero_point", "scale", "axis"}, "constexpr_affine_dequantize")
	add(folds, makeFolded, []string{"source_val", "output_dtype"}, "constexpr_cast")
	add(folds, makeFolded, []string{"indices", "lut", "shape", "vector_axis"}, "constexpr_lut_to_dense")
	add(folds, makeFolded, []string{"nonzero_data", "mask", "shape"}, "constexpr_sparse_to_dense")
	add(folds, makeFolded, []string{"data", "scale", "offset"}, "constexpr_blockwise_shift_scale")
	add(folds, makeFolded, []string{"indices_mask", "indices_nonzero_data", "lut", "vector_axis"}, "constexpr_lut_to_sparse")
	add(folds, makeFolded, []string{"data_mask", "nonzero_data", "scale", "offset"}, "constexpr_sparse_blockwise_shift_scale")
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
		out = append(out, Support{name, d.args, d.scope})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Op < out[j].Op })
	return out
}
