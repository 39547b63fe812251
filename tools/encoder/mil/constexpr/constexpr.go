// Package constexpr decompresses the weights of ML programs: the operations
// whose names begin with constexpr_, which Core ML evaluates when it loads a
// model. Semantics are those that coremltools documents for them (iOS 16 in
// ops/defs/iOS16/constexpr_ops.py, iOS 18 in ops/defs/iOS18/compression.py):
//
//	constexpr_affine_dequantize              scale·(quantized_data − zero_point), per tensor or along axis
//	constexpr_lut_to_dense                   lut[index]; up to iOS 17 indices are packed bytes and shape is given
//	constexpr_sparse_to_dense                nonzero_data where the mask has a bit, else zero
//	constexpr_cast                           float16 to float32
//	constexpr_blockwise_shift_scale          scale·(data − offset), scale and offset repeated over blocks
//	constexpr_lut_to_sparse                  lut[index] of the non-zero elements: mask and values
//	constexpr_sparse_blockwise_shift_scale   the same for shift and scale
//
// Up to iOS 17 the parameters are attributes of the operation, from iOS 18 on
// they are inputs, which may be results of other constexpr operations. Both
// are read in either.
//
// Arithmetic is that of coremltools' own functions, step by step, each rounded
// to nearest even: constexpr_affine_dequantize in float32; the blockwise forms
// in the type of scale, to which data is converted first, or in float32 from a
// float32 offset on. Results are rounded to the type of scale. Integers are
// widened before they are subtracted, so that only a float offset makes a
// result differ from the exact one rounded once.
package constexpr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Is reports whether op is one that this package evaluates, or claims to be.
func Is(op *mil.Op) bool { return strings.HasPrefix(op.Type, "constexpr_") }

// maxElements bounds what one operation may expand to: a mask or a table can
// announce far more than it holds.
const maxElements = 1 << 28

// plan is what an operation gives: types and shapes first, elements when make
// is called, which alone reads weights.
type plan struct {
	types []*mil.Type
	make  func() ([][]byte, error)
}

// one is the plan of an operation with one result.
func one(t *mil.Type, make func() ([]byte, error)) *plan {
	return &plan{[]*mil.Type{t}, func() ([][]byte, error) {
		b, err := make()
		return [][]byte{b}, err
	}}
}

var kinds = map[string]func(*call) (*plan, error){
	"constexpr_affine_dequantize":            affine,
	"constexpr_lut_to_dense":                 lutToDense,
	"constexpr_sparse_to_dense":              sparseToDense,
	"constexpr_cast":                         castUp,
	"constexpr_blockwise_shift_scale":        blockwise,
	"constexpr_lut_to_sparse":                lutToSparse,
	"constexpr_sparse_blockwise_shift_scale": sparseBlockwise,
}

// ErrUnknown is the error for operations that are none of those.
var ErrUnknown = errors.New("not one that decompresses weights")

// Apply evaluates op. get returns the results of earlier constant operations
// by name; w finds weights and may be nil. The results agree with the types
// of op's outputs, or there is an error; nothing larger than they is made on
// the way. The error wraps ErrUnknown for an operation that is not known.
func Apply(op *mil.Op, w mil.Weights, get func(name string) (*mil.Value, error)) ([]mil.Tensor, error) {
	p, err := prepare(op, w, get)
	if err != nil {
		return nil, err
	}
	data, err := p.make()
	if err != nil {
		return nil, err
	}
	out := make([]mil.Tensor, len(data))
	for i, t := range p.types {
		out[i] = mil.Tensor{DType: t.DType, Shape: t.Shape, Data: data[i]}
	}
	return out, nil
}

// Check is Apply without elements: it finds every error that types and shapes
// show. The values that get returns need no data, but for axes, shapes and
// names of types.
func Check(op *mil.Op, get func(name string) (*mil.Value, error)) error {
	_, err := prepare(op, nil, get)
	return err
}

func prepare(op *mil.Op, w mil.Weights, get func(name string) (*mil.Value, error)) (*plan, error) {
	f, ok := kinds[op.Type]
	if !ok {
		return nil, ErrUnknown
	}
	if n, err := declared(op); err != nil {
		return nil, err
	} else if n > maxElements {
		return nil, fmt.Errorf("a result of %d elements, the limit is %d", n, maxElements)
	}
	p, err := f(&call{op: op, weights: w, get: get})
	if err != nil {
		return nil, err
	}
	return p, checkOutputs(op, p.types)
}

// declared is the number of elements of op's largest output.
func declared(op *mil.Op) (int64, error) {
	var largest int64
	for _, o := range op.Outputs {
		n, err := o.Type.Elements()
		if err != nil {
			return 0, fmt.Errorf("result %s: %w", o.Name, err)
		}
		largest = max(largest, n)
	}
	return largest, nil
}

func checkOutputs(op *mil.Op, types []*mil.Type) error {
	if len(types) != len(op.Outputs) {
		return fmt.Errorf("expected %d results, the program names %d", len(types), len(op.Outputs))
	}
	for i, o := range op.Outputs {
		if !types[i].Equal(o.Type) {
			return fmt.Errorf("result %s: the program says %s, the operands give %s", o.Name, o.Type, types[i])
		}
	}
	return nil
}

// call is one operation with the means to find its parameters.
type call struct {
	op      *mil.Op
	weights mil.Weights
	get     func(name string) (*mil.Value, error)
}

func (c *call) has(name string) bool { return c.op.Attr(name) != nil || c.op.Input(name) != nil }

// value finds a parameter among inputs and attributes.
func (c *call) value(name string) (*mil.Value, error) {
	v, a := c.op.Attr(name), c.op.Input(name)
	switch {
	case v != nil && a != nil:
		return nil, fmt.Errorf("%s is given as input and as attribute", name)
	case v != nil:
		return v, nil
	case a == nil:
		return nil, fmt.Errorf("%s is missing", name)
	case len(a.Bindings) != 1:
		return nil, fmt.Errorf("%s: expected one value, found %d", name, len(a.Bindings))
	case a.Bindings[0].Value != nil:
		return a.Bindings[0].Value, nil
	}
	v, err := c.get(a.Bindings[0].Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// operand is a parameter whose elements are read last.
type operand struct {
	*mil.Type
	name    string
	value   *mil.Value
	weights mil.Weights
}

// typed is a parameter of one of the element types that the operation's
// definition allows.
func (c *call) typed(name string, allowed ...mil.DType) (operand, error) {
	v, err := c.value(name)
	if err != nil {
		return operand{}, err
	}
	if n, err := v.Type.Elements(); err != nil {
		return operand{}, fmt.Errorf("%s: %w", name, err)
	} else if n > maxElements {
		return operand{}, fmt.Errorf("%s: %d elements, the limit is %d", name, n, maxElements)
	}
	if !slices.Contains(allowed, v.Type.DType) {
		return operand{}, fmt.Errorf("%s: element type %s is not allowed here", name, v.Type.DType)
	}
	return operand{v.Type, name, v, c.weights}, nil
}

// load reads the elements; as many as the type says, so that what follows can
// index without looking.
func (o operand) load() (mil.Tensor, error) {
	t, err := mil.Resolve(o.value, o.weights)
	if err != nil {
		err = fmt.Errorf("%s: %w", o.name, err)
	}
	return t, err
}

// floats is load for reading numbers by index.
func (o operand) floats() (func(int64) float32, error) {
	t, err := o.load()
	if err != nil {
		return nil, err
	}
	return Floats(t)
}

// ints is a parameter of few integers, such as axis or shape.
func (c *call) ints(name string) ([]int64, error) {
	v, err := c.value(name)
	if err != nil {
		return nil, err
	}
	if n, err := v.Type.Elements(); err != nil || n > 1<<7 || !v.Type.DType.IsInt() {
		return nil, fmt.Errorf("%s: expected a few integers, found %s", name, v.Type)
	}
	t, err := mil.Resolve(v, c.weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return mil.DecodeInts(v.Type, t.Data)
}

// axis is a scalar parameter within −rank … rank−1, made non-negative.
func (c *call) axis(name string, rank int) (int, error) {
	v, err := c.ints(name)
	if err != nil {
		return 0, err
	}
	if len(v) != 1 || v[0] < -int64(rank) || v[0] >= int64(rank) {
		return 0, fmt.Errorf("%s: expected one number from %d to %d, found %v", name, -rank, rank-1, v)
	}
	if v[0] < 0 {
		v[0] += int64(rank)
	}
	return int(v[0]), nil
}

// shape is the output shape of operations up to iOS 17, and its product.
func (c *call) shape() ([]int64, int64, error) {
	s, err := c.ints("shape")
	if err != nil {
		return nil, 0, err
	}
	n, err := mil.TensorOf(mil.Uint8, s...).Elements()
	if err != nil {
		return nil, 0, fmt.Errorf("shape: %w", err)
	}
	if n > maxElements {
		return nil, 0, fmt.Errorf("shape %v: %d elements, the limit is %d", s, n, maxElements)
	}
	return s, n, nil
}

func product(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}
