package constexpr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/mil/half"
)

func affine(c *call) ([]mil.Tensor, error) {
	data, err := c.typed("quantized_data", mil.Int8, mil.Uint8)
	if err != nil {
		return nil, err
	}
	if err := c.fits("quantized_data", data.Shape); err != nil {
		return nil, err
	}
	scale, err := c.typed("scale", mil.Float16, mil.Float32)
	if err != nil {
		return nil, err
	}
	zero, err := c.typed("zero_point", mil.Int8, mil.Uint8, mil.Float32)
	if err != nil {
		return nil, err
	}
	axis, err := c.axis("axis", len(data.Shape))
	if err != nil {
		return nil, err
	}
	scaleAt, err := alongAxis("scale", scale, data.Shape, axis)
	if err != nil {
		return nil, err
	}
	zeroAt, err := alongAxis("zero_point", zero, data.Shape, axis)
	if err != nil {
		return nil, err
	}
	at, err := Floats(data)
	if err != nil {
		return nil, err
	}
	n, inner, width := product(data.Shape), product(data.Shape[axis+1:]), data.Shape[axis]
	out := make([]byte, 0, n*int64(scale.DType.Bits()/8))
	for i := range n {
		ch := i / inner % width
		// coremltools subtracts and multiplies in float32 here, whatever the
		// type of scale, and rounds once at the end.
		y := (at(i) - zeroAt(ch)) * scaleAt(ch)
		if scale.DType == mil.Float16 {
			out = binary.LittleEndian.AppendUint16(out, half.FromFloat32(y))
		} else {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(y))
		}
	}
	return []mil.Tensor{{DType: scale.DType, Shape: data.Shape, Data: out}}, nil
}

// alongAxis reads a parameter that is one number, or one for each position of
// an axis.
func alongAxis(name string, t mil.Tensor, shape []int64, axis int) (func(int64) float32, error) {
	at, err := Floats(t)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(t.Shape) == 0:
		return func(int64) float32 { return at(0) }, nil
	case len(t.Shape) == 1 && t.Shape[0] == shape[axis]:
		return at, nil
	}
	return nil, fmt.Errorf("%s of shape %v: expected one number, or %d for axis %d of %v", name, t.Shape, shape[axis], axis, shape)
}

var quantized = []mil.DType{mil.Int4, mil.Uint4, mil.Int8, mil.Uint8, mil.Float16, mil.Float32}

func blockwise(c *call) ([]mil.Tensor, error) {
	data, err := c.typed("data", quantized...)
	if err != nil {
		return nil, err
	}
	t, err := c.shiftScale(data)
	return []mil.Tensor{t}, err
}

// shiftScale applies the parameters scale and offset to data.
func (c *call) shiftScale(data mil.Tensor) (mil.Tensor, error) {
	if err := c.fits("data", data.Shape); err != nil {
		return data, err
	}
	scale, err := c.typed("scale", mil.Float16, mil.Float32)
	if err != nil {
		return scale, err
	}
	steps, err := blocks("scale", data.Shape, scale.Shape)
	if err != nil {
		return scale, err
	}
	scaleAt, err := Floats(scale)
	if err != nil {
		return scale, err
	}
	offsetAt, offsetType := func(int64) float32 { return 0 }, mil.Uint8
	if c.has("offset") {
		offset, err := c.typed("offset", quantized...)
		if err != nil {
			return scale, err
		}
		if !slices.Equal(offset.Shape, scale.Shape) || !offset.DType.IsFloat() && offset.DType != data.DType {
			return scale, fmt.Errorf("offset of type %s: expected the shape of scale %v and floats or the data's type %s",
				mil.TensorOf(offset.DType, offset.Shape...), scale.Shape, data.DType)
		}
		offsetType = offset.DType
		if offsetAt, err = Floats(offset); err != nil {
			return scale, err
		}
	}
	at, err := Floats(data)
	if err != nil {
		return scale, err
	}
	a := newArith(scale.DType, data.DType, offsetType, product(data.Shape))
	steps.each(func(i, block int64) { a.put(at(i), offsetAt(block), scaleAt(block)) })
	return mil.Tensor{DType: scale.DType, Shape: data.Shape, Data: a.out}, nil
}

// stepper walks a tensor in row-major order together with the index of the
// block that each element belongs to.
type stepper struct {
	shape []int64
	size  []int64 // extent of a block, per axis
	step  []int64 // how far the block index moves along an axis
}

// blocks divides shape into as many blocks per axis as params has there.
func blocks(name string, shape, params []int64) (*stepper, error) {
	if len(shape) != len(params) || len(shape) == 0 {
		return nil, fmt.Errorf("%s of shape %v: expected rank %d as the data, at least 1", name, params, len(shape))
	}
	s := &stepper{shape: shape, size: make([]int64, len(shape)), step: make([]int64, len(shape))}
	step := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		if params[i] == 0 || shape[i]%params[i] != 0 {
			return nil, fmt.Errorf("%s of shape %v does not divide the data's shape %v", name, params, shape)
		}
		s.size[i], s.step[i] = max(shape[i]/params[i], 1), step
		step *= params[i]
	}
	return s, nil
}

func (s *stepper) each(fn func(i, block int64)) {
	if product(s.shape) == 0 {
		return // the other extents may be anything
	}
	i := int64(0)
	s.walk(0, 0, &i, fn)
}

func (s *stepper) walk(axis int, block int64, i *int64, fn func(i, block int64)) {
	last := axis == len(s.shape)-1
	for j := range s.shape[axis] {
		b := block + j/s.size[axis]*s.step[axis]
		if last {
			fn(*i, b)
			*i++
			continue
		}
		s.walk(axis+1, b, i, fn)
	}
}

func castUp(c *call) ([]mil.Tensor, error) {
	src, err := c.typed("source_val", mil.Float16)
	if err != nil {
		return nil, err
	}
	if err := c.fits("source_val", src.Shape); err != nil {
		return nil, err
	}
	b, err := c.binding("output_dtype")
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, errors.New("output_dtype is missing")
	}
	// From iOS 18 on it may be the name of a string constant; the type of the
	// result says the same, and is checked.
	if s, _ := b.Value.AsString(); b.Value != nil && s != "fp32" {
		return nil, fmt.Errorf("output_dtype %q: only fp32 is defined", s)
	}
	n := product(src.Shape)
	out := make([]byte, 0, 4*n)
	for i := range n {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(half.ToFloat32(binary.LittleEndian.Uint16(src.Data[2*i:]))))
	}
	return []mil.Tensor{{DType: mil.Float32, Shape: src.Shape, Data: out}}, nil
}
