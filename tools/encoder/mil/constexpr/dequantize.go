package constexpr

import (
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

const (
	together = 1 << 10 // values of a channel that are computed at once
	few      = 16      // are not worth it
)

func affine(c *call) (*plan, error) {
	data, err := c.typed("quantized_data", mil.Int8, mil.Uint8)
	if err != nil {
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
	for _, p := range []operand{scale, zero} {
		if len(p.Shape) > 1 || len(p.Shape) == 1 && p.Shape[0] != data.Shape[axis] {
			return nil, fmt.Errorf("%s of shape %v: expected one number, or %d for axis %d of %v", p.name, p.Shape, data.Shape[axis], axis, data.Shape)
		}
	}
	return one(mil.TensorOf(scale.DType, data.Shape...), func() ([]byte, error) {
		at, err := data.floats()
		if err != nil {
			return nil, err
		}
		scaleAt, err := scale.floats()
		if err != nil {
			return nil, err
		}
		zeroAt, err := zero.floats()
		if err != nil {
			return nil, err
		}
		n, inner, width := product(data.Shape), product(data.Shape[axis+1:]), data.Shape[axis]
		// coremltools subtracts and multiplies in float32 here, whatever the
		// type of scale, and rounds once at the end.
		of := func(ch int64) (zeroPoint, by float32) { // 0 times ch, for one number
			return zeroAt(ch * int64(len(zero.Shape))), scaleAt(ch * int64(len(scale.Shape)))
		}
		if len(scale.Shape)+len(zero.Shape) == 0 {
			inner, width = n, 1
		}
		if inner < few {
			a := newNumbers(scale.DType, n)
			for i := range n {
				zeroPoint, by := of(i / inner % width)
				a.put((at(i) - zeroPoint) * by)
			}
			return a.out, nil
		}
		t, err := data.load()
		if err != nil {
			return nil, err
		}
		to := newElements(scale.DType, n)
		room := make([]float32, min(inner, together))
		for first := int64(0); first < n; first += inner {
			zeroPoint, by := of(first / inner % width)
			for at := first; at < first+inner; at += int64(len(room)) {
				values := room[:min(int64(len(room)), first+inner-at)]
				kernel.Dequantize(values, t.Data[at:at+int64(len(values))], data.DType == mil.Int8, zeroPoint, by)
				to.put(at, values)
			}
		}
		return to.data, nil
	}), nil
}

var quantized = []mil.DType{mil.Int4, mil.Uint4, mil.Int8, mil.Uint8, mil.Float16, mil.Float32}

func blockwise(c *call) (*plan, error) {
	data, err := c.typed("data", quantized...)
	if err != nil {
		return nil, err
	}
	s, err := c.shiftScale(data.Type)
	if err != nil {
		return nil, err
	}
	return one(s.result, func() ([]byte, error) {
		t, err := data.load()
		if err != nil {
			return nil, err
		}
		return s.apply(t)
	}), nil
}

// shiftScale is the parameters scale and offset, fit for data of one type.
type shiftScale struct {
	result        *mil.Type
	steps         *stepper
	scale, offset operand // offset has no type where none is given
}

func (c *call) shiftScale(data *mil.Type) (*shiftScale, error) {
	scale, err := c.typed("scale", mil.Float16, mil.Float32)
	if err != nil {
		return nil, err
	}
	steps, err := blocks("scale", data.Shape, scale.Shape)
	if err != nil {
		return nil, err
	}
	s := &shiftScale{result: mil.TensorOf(scale.DType, data.Shape...), steps: steps, scale: scale}
	if c.has("offset") {
		o, err := c.typed("offset", quantized...)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(o.Shape, scale.Shape) || !o.DType.IsFloat() && o.DType != data.DType {
			return nil, fmt.Errorf("offset of type %s: expected the shape of scale %v and floats or the data's type %s", o.Type, scale.Shape, data.DType)
		}
		s.offset = o
	}
	return s, nil
}

// apply computes as numpy does in coremltools: data is first converted to the
// type of scale; each step rounds to the wider type of its operands; the
// result is converted to the type of scale again.
func (s *shiftScale) apply(data mil.Tensor) ([]byte, error) {
	at, err := Floats(data)
	if err != nil {
		return nil, err
	}
	scaleAt, err := s.scale.floats()
	if err != nil {
		return nil, err
	}
	offsetAt, offsetType := func(int64) float32 { return 0 }, data.DType
	if s.offset.Type != nil {
		offsetType = s.offset.DType
		if offsetAt, err = s.offset.floats(); err != nil {
			return nil, err
		}
	}
	same := func(x float32) float32 { return x }
	convert, round := same, same
	if s.result.DType == mil.Float16 {
		// Float16 holds integers of 8 bits and their differences.
		if data.DType == mil.Float32 {
			convert = toHalf
		}
		if offsetType != mil.Float32 && (data.DType.IsFloat() || offsetType.IsFloat()) {
			round = toHalf
		}
	}
	a := newNumbers(s.result.DType, product(data.Shape))
	s.steps.each(func(i, block int64) { a.put(scaleAt(block) * round(convert(at(i))-offsetAt(block))) })
	return a.out, nil
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
	s.runs(func(first, end, block int64) {
		for i := first; i < end; i++ {
			fn(i, block)
		}
	})
}

// runs gives elements that follow each other in one block together.
func (s *stepper) runs(fn func(first, end, block int64)) {
	if product(s.shape) == 0 {
		return // the other extents may be anything
	}
	// The axes from the last one that is divided on: within a block of it, all is one run.
	last := len(s.shape) - 1
	for last > 0 && s.size[last] == s.shape[last] {
		last--
	}
	i := int64(0)
	s.walk(0, last, 0, product(s.shape[last+1:]), &i, fn)
}

func (s *stepper) walk(axis, last int, block, inner int64, i *int64, fn func(first, end, block int64)) {
	for j := int64(0); j < s.shape[axis]; {
		b := block + j/s.size[axis]*s.step[axis]
		if axis < last {
			s.walk(axis+1, last, b, inner, i, fn)
			j++
			continue
		}
		end := *i + s.size[axis]*inner
		fn(*i, end, b)
		*i = end
		j += s.size[axis]
	}
}

func castUp(c *call) (*plan, error) {
	src, err := c.typed("source_val", mil.Float16)
	if err != nil {
		return nil, err
	}
	v, err := c.value("output_dtype")
	if err != nil {
		return nil, err
	}
	if s, _ := v.AsString(); s != "fp32" {
		return nil, fmt.Errorf("output_dtype %q: only fp32 is defined", s)
	}
	return one(mil.TensorOf(mil.Float32, src.Shape...), func() ([]byte, error) {
		at, err := src.floats()
		if err != nil {
			return nil, err
		}
		a := newNumbers(mil.Float32, product(src.Shape))
		for i := range product(src.Shape) {
			a.put(at(i))
		}
		return a.out, nil
	}), nil
}
