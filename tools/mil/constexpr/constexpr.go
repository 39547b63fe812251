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
// Arithmetic is in the type of scale, each step rounded to nearest even, as
// coremltools computes it; integers are widened before they are subtracted.
package constexpr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
)

// Is reports whether op is one that this package evaluates, or claims to be.
func Is(op *mil.Op) bool { return strings.HasPrefix(op.Type, "constexpr_") }

// maxElements bounds what one operation may expand to: a mask or a table can
// announce far more than it holds.
const maxElements = 1 << 28

var kinds = map[string]func(*call) ([]mil.Tensor, error){
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
func Apply(op *mil.Op, w mil.Weights, get func(name string) (mil.Tensor, error)) ([]mil.Tensor, error) {
	out, err := apply(op, w, get)
	if err != nil {
		return nil, fmt.Errorf("operation %s at line %d: %w", op.Type, op.Line, err)
	}
	return out, nil
}

func apply(op *mil.Op, w mil.Weights, get func(name string) (mil.Tensor, error)) ([]mil.Tensor, error) {
	f, ok := kinds[op.Type]
	if !ok {
		return nil, ErrUnknown
	}
	limit, err := declared(op)
	if err != nil {
		return nil, err
	}
	out, err := f(&call{op: op, weights: w, get: get, limit: limit})
	if err != nil {
		return nil, err
	}
	return out, checkOutputs(op, out)
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
	if largest > maxElements {
		return 0, fmt.Errorf("a result of %d elements, the limit is %d", largest, maxElements)
	}
	return largest, nil
}

func checkOutputs(op *mil.Op, out []mil.Tensor) error {
	if len(out) != len(op.Outputs) {
		return fmt.Errorf("expected %d results, the program names %d", len(out), len(op.Outputs))
	}
	for i, o := range op.Outputs {
		if got := mil.TensorOf(out[i].DType, out[i].Shape...); !got.Equal(o.Type) {
			return fmt.Errorf("result %s: the program says %s, the operands give %s", o.Name, o.Type, got)
		}
	}
	return nil
}

// call is one operation with the means to find its parameters.
type call struct {
	op      *mil.Op
	weights mil.Weights
	get     func(name string) (mil.Tensor, error)
	// limit is how many elements a result may have.
	limit int64
}

// fits refuses, before anything is made, what is larger than the results that
// the program declares.
func (c *call) fits(what string, shape []int64) error {
	if n, err := mil.TensorOf(mil.Uint8, shape...).Elements(); err != nil || n > c.limit {
		return fmt.Errorf("%s of shape %v: the program declares a result of %d elements", what, shape, c.limit)
	}
	return nil
}

// binding finds a parameter among inputs and attributes; nil when absent.
func (c *call) binding(name string) (*mil.Binding, error) {
	v := c.op.Attr(name)
	a := c.op.Input(name)
	switch {
	case v != nil && a != nil:
		return nil, fmt.Errorf("%s is given as input and as attribute", name)
	case v != nil:
		return &mil.Binding{Value: v}, nil
	case a == nil:
		return nil, nil
	case len(a.Bindings) != 1:
		return nil, fmt.Errorf("%s: expected one value, found %d", name, len(a.Bindings))
	}
	return &a.Bindings[0], nil
}

func (c *call) has(name string) bool { return c.op.Attr(name) != nil || c.op.Input(name) != nil }

func (c *call) tensor(name string) (mil.Tensor, error) {
	b, err := c.binding(name)
	if err != nil {
		return mil.Tensor{}, err
	}
	if b == nil {
		return mil.Tensor{}, fmt.Errorf("%s is missing", name)
	}
	var t mil.Tensor
	if b.Value != nil {
		t, err = mil.Resolve(b.Value, c.weights)
	} else {
		t, err = c.get(b.Name)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	return t, checkTensor(name, t)
}

// checkTensor holds a tensor's bytes against its shape, so that what follows
// can index without looking.
func checkTensor(name string, t mil.Tensor) error {
	n, err := mil.TensorOf(t.DType, t.Shape...).Elements()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n > maxElements {
		return fmt.Errorf("%s: %d elements, the limit is %d", name, n, maxElements)
	}
	size, err := mil.PackedSize(t.DType, n)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(t.Data)) != size {
		return fmt.Errorf("%s: expected %d bytes, found %d", name, size, len(t.Data))
	}
	return nil
}

// typed is tensor with the element types that the operation's definition allows.
func (c *call) typed(name string, allowed ...mil.DType) (mil.Tensor, error) {
	t, err := c.tensor(name)
	if err != nil {
		return t, err
	}
	for _, d := range allowed {
		if t.DType == d {
			return t, nil
		}
	}
	return t, fmt.Errorf("%s: element type %s is not allowed here", name, t.DType)
}

// ints is a parameter of few integers, such as axis or shape.
func (c *call) ints(name string) ([]int64, error) {
	t, err := c.tensor(name)
	if err != nil {
		return nil, err
	}
	if !t.DType.IsInt() || len(t.Data) > 1<<10 {
		return nil, fmt.Errorf("%s: expected a few integers, found %s", name, mil.TensorOf(t.DType, t.Shape...))
	}
	return mil.DecodeInts(mil.TensorOf(t.DType, t.Shape...), t.Data)
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

// shape is the output shape of operations up to iOS 17.
func (c *call) shape() ([]int64, int64, error) {
	s, err := c.ints("shape")
	if err != nil {
		return nil, 0, err
	}
	if err := c.fits("shape", s); err != nil {
		return nil, 0, err
	}
	return s, product(s), nil
}

func product(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}
