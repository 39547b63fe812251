package artifact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
)

// maxDense bounds a tensor that is held in memory whole.
const maxDense = 1 << 25

var errUnsupported = errors.New("compression that cannot be decoded here")

func isUnsupported(err error) bool { return errors.Is(err, errUnsupported) }

// floatTypes are the float types of weights, in ggml's numbering.
var floatTypes = map[mil.DType]ggml.Type{mil.Float32: ggml.F32, mil.Float16: ggml.F16, mil.BFloat16: ggml.BF16}

// decompressor finds the values of compressed weights, which package constexpr
// computes, and what is known of the values that were compressed.
type decompressor struct {
	weights   mil.Weights
	constants *constexpr.Constants
}

func newDecompressor(b *mil.Block, w mil.Weights) *decompressor {
	d := &decompressor{weights: w, constants: constexpr.NewConstants(b, mil.Read(w))}
	d.constants.Limit = maxDense
	return d
}

// values gives the last output of an operation, which for sparse ones is the
// values and not the mask.
func (d *decompressor) values(op *mil.Op) (mil.Tensor, error) {
	out, err := d.constants.Apply(op)
	switch {
	case errors.Is(err, constexpr.ErrUnknown):
		return mil.Tensor{}, fmt.Errorf("%w: %w", errUnsupported, err)
	case err != nil:
		return mil.Tensor{}, err
	}
	return out[len(out)-1], nil
}

// tensor gives an operand's elements.
func (d *decompressor) tensor(op *mil.Op, name string) (mil.Tensor, error) {
	v, from := operand(op, name)
	if from != "" {
		return d.constants.Tensor(from)
	}
	return mil.Resolve(v, mil.Read(d.weights))
}

// operand finds an operand in attributes (up to iOS 17) or inputs: a value, or
// the name of one that was made before; neither when it is absent.
func operand(op *mil.Op, name string) (v *mil.Value, from string) {
	if v := op.Attr(name); v != nil {
		return v, ""
	}
	a := op.Input(name)
	if a == nil || len(a.Bindings) == 0 {
		return nil, ""
	}
	return a.Bindings[0].Value, a.Bindings[0].Name
}

// bounds are what is known about how far decompressed values may lie from those
// that were compressed. Tensors have the extents of the values.
//
// They follow from the operations: where a palette is looked up, the bounds are
// the same indices looked up in a palette of bounds. So package constexpr
// computes them too, with other operands.
type bounds struct {
	// below and above bound how far the original may lie under and over the value; nil where values are exact.
	below, above *mil.Tensor
	// kept is 0 for values that were set to zero whatever they were; nil: none.
	kept *mil.Tensor
	// rms is the expected root mean square of the differences, relative to the
	// values' own, where not every value has a bound on either side; else 0.
	rms float64
	// rounded says that the values are integers that something was rounded to.
	rounded bool
}

// bounds finds them for an output of an operation whose values were computed, so
// that operands are there, fit together, and lead nowhere in circles.
func (d *decompressor) bounds(op *mil.Op, out int) (bounds, error) {
	b, err := d.boundsOf(op, out)
	if err != nil {
		return b, fmt.Errorf("bounds of %s: %w", op.Type, err)
	}
	return b, nil
}

func (d *decompressor) boundsOf(op *mil.Op, out int) (bounds, error) {
	switch op.Type {
	case "const":
		return bounds{rounded: op.Outputs[out].Type.DType.IsInt()}, nil
	case "constexpr_cast":
		return d.operandBounds(op, "source_val")
	case "constexpr_affine_dequantize":
		return d.affineBounds(op)
	case "constexpr_blockwise_shift_scale":
		return d.scaleBounds(op, "data")
	case "constexpr_sparse_blockwise_shift_scale":
		return d.scaleBounds(op, "nonzero_data")
	case "constexpr_lut_to_dense":
		return d.lookedUp(op, "indices")
	case "constexpr_lut_to_sparse":
		return d.lookedUp(op, "indices_nonzero_data")
	case "constexpr_sparse_to_dense":
		return d.sparseBounds(op)
	}
	return bounds{}, errUnsupported
}

// operandBounds finds them for an operand.
func (d *decompressor) operandBounds(op *mil.Op, name string) (bounds, error) {
	v, from := operand(op, name)
	if from == "" {
		return bounds{rounded: v != nil && v.Type.DType.IsInt()}, nil
	}
	maker := d.constants.Op(from)
	if maker == nil {
		return bounds{}, fmt.Errorf("operand %q is not a constant", from)
	}
	return d.bounds(maker, slices.IndexFunc(maker.Outputs, func(p mil.Param) bool { return p.Name == from }))
}

// affineBounds takes scale·(data − zero_point) along an axis for blocks that
// are one wide there.
func (d *decompressor) affineBounds(op *mil.Op) (bounds, error) {
	axis, err := d.tensor(op, "axis")
	if err != nil {
		return bounds{}, err
	}
	at, err := mil.DecodeInts(mil.TensorOf(axis.DType, axis.Shape...), axis.Data)
	if err != nil {
		return bounds{}, err
	}
	data, err := d.tensor(op, "quantized_data")
	if err != nil {
		return bounds{}, err
	}
	scale, err := d.tensor(op, "scale")
	if err != nil {
		return bounds{}, err
	}
	grid := slices.Repeat([]int64{1}, len(data.Shape))
	if len(scale.Shape) == 1 {
		grid[(at[0]+int64(len(grid)))%int64(len(grid))] = scale.Shape[0]
	}
	scale.Shape = grid
	blocks := &mil.Op{Type: "constexpr_blockwise_shift_scale", Line: op.Line, Outputs: op.Outputs, Attrs: []mil.Attr{
		{Name: "scale", Value: immediate(scale)}}}
	for _, a := range op.Inputs {
		if a.Name == "quantized_data" {
			blocks.Inputs = []mil.Arg{{Name: "data", Bindings: a.Bindings}}
		}
	}
	if v := op.Attr("quantized_data"); v != nil {
		blocks.Attrs = append(blocks.Attrs, mil.Attr{Name: "data", Value: v})
	}
	return d.scaleBounds(blocks, "data")
}

// scaleBounds are for scale·(data − offset). Where data are rounded integers
// the original lay within one step of the grid: half a step of rounding, and
// the rest for the rounding of the scale itself.
func (d *decompressor) scaleBounds(op *mil.Op, name string) (bounds, error) {
	b, err := d.operandBounds(op, name)
	if err != nil {
		return b, err
	}
	if b.below == nil {
		data, err := d.tensor(op, name)
		if err != nil {
			return b, err
		}
		b.below = steps(data.Shape, b.rounded)
		b.above = b.below
	}
	scale, err := d.tensor(op, "scale")
	if err != nil {
		return b, err
	}
	sizes, err := float32s(scale)
	if err != nil {
		return b, err
	}
	turned := false
	for i, s := range sizes {
		turned = turned || s < 0
		sizes[i] = float32(math.Abs(float64(s)))
	}
	if turned {
		// A negative scale exchanges the sides of its values. Hardly any quantiser has one, so the wider side stands for both.
		if b.below, err = wider(*b.below, *b.above); err != nil {
			return b, err
		}
		b.above = b.below
	}
	b.rounded = false
	err = b.eachSide(func(side mil.Tensor) (mil.Tensor, error) {
		return d.with(op, mil.Float32, map[string]mil.Tensor{name: side, "scale": tensor32(sizes, scale.Shape)}, "offset")
	})
	return b, err
}

// eachSide replaces both sides.
func (b *bounds) eachSide(change func(mil.Tensor) (mil.Tensor, error)) error {
	same := b.below == b.above
	for _, side := range []**mil.Tensor{&b.below, &b.above} {
		if same && side == &b.above {
			b.above = b.below
			continue
		}
		t, err := change(**side)
		if err != nil {
			return err
		}
		*side = &t
	}
	return nil
}

// wider is the larger of two tensors, element by element.
func wider(a, b mil.Tensor) (*mil.Tensor, error) {
	x, err := float32s(a)
	if err != nil {
		return nil, err
	}
	y, err := float32s(b)
	if err != nil {
		return nil, err
	}
	for i := range x {
		x[i] = max(x[i], y[i])
	}
	t := tensor32(x, a.Shape)
	return &t, nil
}

// steps is one step for each value, or none.
func steps(shape []int64, one bool) *mil.Tensor {
	t := &mil.Tensor{DType: mil.Uint8, Shape: shape, Data: make([]byte, product(shape))}
	if one {
		for i := range t.Data {
			t.Data[i] = 1
		}
	}
	return t
}

// sparseBounds scatters what is known of the values that were kept.
func (d *decompressor) sparseBounds(op *mil.Op) (bounds, error) {
	b, err := d.operandBounds(op, "nonzero_data")
	if err != nil {
		return b, err
	}
	data, err := d.tensor(op, "nonzero_data")
	if err != nil {
		return b, err
	}
	kept, err := d.with(op, mil.Uint8, map[string]mil.Tensor{"nonzero_data": *steps(data.Shape, true)})
	if err != nil {
		return b, err
	}
	b.kept = &kept
	if b.below == nil {
		return b, nil
	}
	err = b.eachSide(func(side mil.Tensor) (mil.Tensor, error) {
		return d.with(op, side.DType, map[string]mil.Tensor{"nonzero_data": side})
	})
	return b, err
}

// with evaluates op with other operands, and without those in drop. The result,
// its last, is then of type typ.
func (d *decompressor) with(op *mil.Op, typ mil.DType, operands map[string]mil.Tensor, drop ...string) (mil.Tensor, error) {
	gone := func(name string) bool {
		_, other := operands[name]
		return other || slices.Contains(drop, name)
	}
	o := &mil.Op{Type: op.Type, Line: op.Line, Outputs: slices.Clone(op.Outputs)}
	o.Inputs = slices.DeleteFunc(slices.Clone(op.Inputs), func(a mil.Arg) bool { return gone(a.Name) })
	o.Attrs = slices.DeleteFunc(slices.Clone(op.Attrs), func(a mil.Attr) bool { return gone(a.Name) })
	for name, t := range operands {
		o.Attrs = append(o.Attrs, mil.Attr{Name: name, Value: immediate(t)})
	}
	last := &o.Outputs[len(o.Outputs)-1]
	last.Type = mil.TensorOf(typ, last.Type.Shape...)
	return d.values(o)
}

func immediate(t mil.Tensor) *mil.Value {
	return &mil.Value{Type: mil.TensorOf(t.DType, t.Shape...), Data: t.Data}
}

// float32s reads a tensor whole: a scale or a palette.
func float32s(t mil.Tensor) ([]float32, error) {
	at, err := constexpr.Floats(t)
	if err != nil {
		return nil, err
	}
	v := make([]float32, product(t.Shape))
	for i := range v {
		v[i] = at(int64(i))
	}
	return v, nil
}

func tensor32(v []float32, shape []int64) mil.Tensor {
	t := mil.Tensor{DType: mil.Float32, Shape: shape, Data: make([]byte, 0, 4*len(v))}
	for _, x := range v {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(x))
	}
	return t
}

func product(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}
