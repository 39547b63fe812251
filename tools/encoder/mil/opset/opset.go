// Package opset says which operation set of Core ML brought which operation.
//
// The table is that of coremltools 9.0 (converters/mil/mil/ops/defs, by the
// first opset that an operation is registered for); write_state is what
// coreml_update_state becomes in a program. ML programs begin with iOS 15.
package opset

import "strings"

// since is the specification version that goes with the operation set.
var since = map[string]int32{}

func init() {
	for version, names := range byVersion {
		for name := range strings.FieldsSeq(names) {
			since[name] = version
		}
	}
}

var byVersion = map[int32]string{
	6: `abs acos add affine argsort asin atan atanh avg_pool band_part batch_norm batch_to_space cast ceil
		clamped_relu classify clip concat cond const conv conv_quantized conv_transpose cos cosh crop crop_resize
		cumsum depth_to_space einsum elu equal erf exp exp2 expand_dims fill flatten2d floor floor_div gather
		gather_along_axis gather_nd gelu greater greater_equal gru identity instance_norm inverse l2_norm l2_pool
		layer_norm leaky_relu less less_equal linear linear_activation list_gather list_length list_read list_scatter
		list_write local_response_norm log logical_and logical_not logical_or logical_xor lstm make_list matmul
		max_pool maximum minimum mod mul non_maximum_suppression non_zero not_equal one_hot pad pixel_shuffle pow
		prelu random_bernoulli random_categorical random_normal random_uniform range_1d real_div reduce_argmax
		reduce_argmin reduce_l1_norm reduce_l2_norm reduce_log_sum reduce_log_sum_exp reduce_max reduce_mean
		reduce_min reduce_prod reduce_sum reduce_sum_square relu relu6 resample reshape resize_bilinear
		resize_nearest_neighbor reverse reverse_sequence rnn round rsqrt scaled_tanh scatter scatter_along_axis
		scatter_nd select shape sigmoid sigmoid_hard sign silu sin sinh slice_by_index slice_by_size sliding_windows
		softmax softplus softplus_parametric softsign space_to_batch space_to_depth split sqrt square squeeze stack
		sub tan tanh threshold thresholded_relu tile topk transpose upsample_bilinear upsample_nearest_neighbor
		while_loop`,
	7: `constexpr_affine_dequantize constexpr_cast constexpr_lut_to_dense constexpr_sparse_to_dense fill_like
		pixel_unshuffle reshape_like`,
	8: `dequantize quantize resize`,
	9: `constexpr_blockwise_shift_scale constexpr_lut_to_sparse constexpr_sparse_blockwise_shift_scale read_state
		scaled_dot_product_attention slice_update write_state`,
}

// systems says by which name a specification version's operation set goes.
var systems = map[int32]string{6: "iOS 15", 7: "iOS 16", 8: "iOS 17", 9: "iOS 18", 10: "iOS 26"}

// Since gives the specification version that brought an operation, false for one that no operation set has. A prefix
// such as "ios16." is left out of account.
func Since(operation string) (int32, bool) {
	if i := strings.LastIndexByte(operation, '.'); i >= 0 {
		operation = operation[i+1:]
	}
	v, ok := since[operation]
	return v, ok
}

// Name is the operation set of a specification version, such as "iOS 18".
func Name(version int32) string { return systems[version] }
