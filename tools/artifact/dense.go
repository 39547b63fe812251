package artifact

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
)

// dense is a compressed weight, decompressed, with what is known about how far
// each value may lie from the one that was compressed.
type dense struct {
	shape  []int64
	values []float32
	// slack bounds |original - value| for each value; nil where values are exact.
	slack []float32
	// pruned marks values that were set to zero whatever they were; nil: none.
	pruned []bool
	// rms bounds the root mean square of the differences, relative to the
	// values' own; 0 where slack says all.
	rms float64
	// rounded says that the values are integers that something was rounded to.
	rounded bool
}

// maxDense bounds a tensor that is decompressed in memory.
const maxDense = 1 << 25

// decompressor evaluates constexpr operations of one function.
type decompressor struct {
	weights mil.Weights
	made    map[string]*mil.Op // by the name of an output
	depth   int
}

var errUnsupported = errors.New("compression that cannot be decoded here")

// argument finds an operand in attributes (up to iOS 17) or inputs.
func (d *decompressor) argument(op *mil.Op, name string) (*dense, error) {
	x, err := d.optional(op, name)
	if err == nil && x == nil {
		return nil, fmt.Errorf("%s has no %s", op.Type, name)
	}
	return x, err
}

// optional is argument for operands that may be absent; then it returns nil.
func (d *decompressor) optional(op *mil.Op, name string) (*dense, error) {
	if v := op.Attr(name); v != nil {
		return d.constant(v)
	}
	a := op.Input(name)
	if a == nil || len(a.Bindings) == 0 {
		return nil, nil
	}
	if v := a.Bindings[0].Value; v != nil {
		return d.constant(v)
	}
	return d.named(a.Bindings[0].Name)
}

func (d *decompressor) named(name string) (*dense, error) {
	op, ok := d.made[name]
	if !ok {
		return nil, fmt.Errorf("operand %q is not a constant", name)
	}
	if op.Type == "const" {
		return d.constant(op.Attr("val"))
	}
	if d.depth++; d.depth > 8 {
		return nil, fmt.Errorf("operand %q: %w (nested too deeply)", name, errUnsupported)
	}
	defer func() { d.depth-- }()
	out := slices.IndexFunc(op.Outputs, func(p mil.Param) bool { return p.Name == name })
	return d.op(op, out)
}

// constant reads a stored tensor as float32; integers below 2^24 are exact.
func (d *decompressor) constant(v *mil.Value) (*dense, error) {
	if v == nil || !v.Type.IsTensor() {
		return nil, errors.New("operand without a tensor")
	}
	n, err := v.Type.Elements()
	if err != nil {
		return nil, err
	}
	if n > maxDense {
		return nil, fmt.Errorf("tensor of %d values, the limit is %d", n, maxDense)
	}
	t, err := mil.Resolve(v, d.weights)
	if err != nil {
		return nil, err
	}
	x := &dense{shape: t.Shape, values: make([]float32, n)}
	if typ, ok := floatTypes[t.DType]; ok {
		return x, ggml.Decode(typ, x.values, t.Data)
	}
	if !t.DType.IsInt() || t.DType.Bits() > 32 {
		return nil, fmt.Errorf("operand of type %s", t.DType)
	}
	x.rounded = true
	if t.DType == mil.Uint8 || t.DType == mil.Int8 {
		for i, b := range t.Data {
			x.values[i] = float32(b)
			if t.DType == mil.Int8 {
				x.values[i] = float32(int8(b))
			}
		}
		return x, nil
	}
	ints, err := mil.DecodeInts(v.Type, t.Data)
	if err != nil {
		return nil, err
	}
	for i, k := range ints {
		x.values[i] = float32(k)
	}
	return x, nil
}

// floatTypes are the float types of weights, in ggml's numbering.
var floatTypes = map[mil.DType]ggml.Type{mil.Float32: ggml.F32, mil.Float16: ggml.F16, mil.BFloat16: ggml.BF16}

// op decompresses one operation; out says which output is wanted.
func (d *decompressor) op(op *mil.Op, out int) (x *dense, err error) {
	switch op.Type {
	case "constexpr_affine_dequantize":
		x, err = d.affine(op)
	case "constexpr_blockwise_shift_scale":
		x, err = d.blockwise(op)
	case "constexpr_lut_to_dense":
		x, err = d.lut(op)
	case "constexpr_sparse_to_dense":
		x, err = d.sparse(op)
	case "constexpr_cast":
		x, err = d.argument(op, "source_val")
	case "constexpr_lut_to_sparse", "constexpr_sparse_blockwise_shift_scale":
		x, err = d.sparseToSparse(op, out)
	default:
		return nil, fmt.Errorf("%s: %w", op.Type, errUnsupported)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Type, err)
	}
	if out < len(op.Outputs) && op.Outputs[out].Type.IsTensor() && op.Outputs[out].Type.DType == mil.Float16 {
		for i, v := range x.values {
			x.values[i] = ggml.Float16ToFloat32(ggml.Float32ToFloat16(v))
		}
	}
	return x, nil
}

func product(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}

// affine: scale * (data - zero_point), both along one axis or single.
func (d *decompressor) affine(op *mil.Op) (*dense, error) {
	data, err := d.argument(op, "quantized_data")
	if err != nil {
		return nil, err
	}
	zero, err := d.argument(op, "zero_point")
	if err != nil {
		return nil, err
	}
	scale, err := d.argument(op, "scale")
	if err != nil {
		return nil, err
	}
	axis, err := d.axis(op, "axis", len(data.shape))
	if err != nil {
		return nil, err
	}
	if len(zero.values) != 1 && len(zero.values) != len(scale.values) {
		// One scale for all and a zero point for each: spread the scale.
		if len(scale.values) != 1 {
			return nil, fmt.Errorf("%d zero points for %d scales", len(zero.values), len(scale.values))
		}
		scale = &dense{values: slices.Repeat(scale.values, len(zero.values))}
	}
	grid := slices.Repeat([]int64{1}, len(data.shape))
	if len(scale.values) != 1 {
		grid[axis] = int64(len(scale.values))
	}
	return shiftScale(data, &dense{shape: grid, values: scale.values}, zero)
}

func (d *decompressor) axis(op *mil.Op, name string, rank int) (int, error) {
	x, err := d.argument(op, name)
	if err != nil {
		return 0, err
	}
	if len(x.values) != 1 {
		return 0, fmt.Errorf("%s has %d values", name, len(x.values))
	}
	a := int(x.values[0])
	if a < 0 {
		a += rank
	}
	if a < 0 || a >= rank {
		return 0, fmt.Errorf("%s %d of a tensor of rank %d", name, int(x.values[0]), rank)
	}
	return a, nil
}

func (d *decompressor) blockwise(op *mil.Op) (*dense, error) {
	data, err := d.argument(op, "data")
	if err != nil {
		return nil, err
	}
	scale, err := d.argument(op, "scale")
	if err != nil {
		return nil, err
	}
	offset, err := d.optional(op, "offset")
	if err != nil {
		return nil, err
	}
	return shiftScale(data, scale, offset)
}

// blocks calls visit for every element of shape with its flat index and the
// flat index of the block that it lies in; grid counts the blocks along each
// axis.
func blocks(shape, grid []int64, visit func(i, block int)) error {
	if len(shape) != len(grid) {
		return fmt.Errorf("blocks %v for a tensor of extents %v", grid, shape)
	}
	for k := range shape {
		if grid[k] < 1 || shape[k]%grid[k] != 0 {
			return fmt.Errorf("blocks %v for a tensor of extents %v", grid, shape)
		}
	}
	at := make([]int64, len(shape))
	for i := range int(product(shape)) {
		block := int64(0)
		for k := range shape {
			block = block*grid[k] + at[k]/(shape[k]/grid[k])
		}
		visit(i, int(block))
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < shape[k] {
				break
			}
			at[k] = 0
		}
	}
	return nil
}

// shiftScale computes scale * (data - offset), block by block. Where data are
// rounded integers the original lay within one step of the grid: half a step of
// rounding, and the rest for the rounding of the scale itself.
func shiftScale(data, scale, offset *dense) (*dense, error) {
	x := &dense{shape: data.shape, values: make([]float32, len(data.values)), slack: make([]float32, len(data.values)), pruned: data.pruned, rms: data.rms}
	if offset != nil && len(offset.values) != len(scale.values) && len(offset.values) != 1 {
		return nil, fmt.Errorf("%d offsets for %d scales", len(offset.values), len(scale.values))
	}
	err := blocks(data.shape, scale.shape, func(i, b int) {
		s, v := scale.values[b], data.values[i]
		if offset != nil {
			v -= offset.values[min(b, len(offset.values)-1)]
		}
		x.values[i] = s * v
		switch {
		case data.slack != nil:
			x.slack[i] = float32(min(math.Abs(float64(s))*float64(data.slack[i]), math.MaxFloat32))
		case data.rounded:
			x.slack[i] = float32(math.Abs(float64(s)))
		}
	})
	return x, err
}
