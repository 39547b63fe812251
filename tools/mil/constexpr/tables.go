package constexpr

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
)

var tableValues = []mil.DType{mil.Int8, mil.Uint8, mil.Float16, mil.Float32}

func lutToDense(c *call) ([]mil.Tensor, error) {
	if c.has("shape") {
		return lutPacked(c)
	}
	idx, err := c.typed("indices", mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6, mil.Uint8)
	if err != nil {
		return nil, err
	}
	if err := c.fits("indices", idx.Shape); err != nil {
		return nil, err
	}
	t, err := c.lookUp(unpacked(idx), idx.DType.Bits(), idx.Shape)
	return []mil.Tensor{t}, err
}

// lutPacked is the form up to iOS 17: one table for the whole tensor.
func lutPacked(c *call) ([]mil.Tensor, error) {
	idx, err := c.typed("indices", mil.Uint8)
	if err != nil {
		return nil, err
	}
	lut, err := c.typed("lut", tableValues...)
	if err != nil {
		return nil, err
	}
	shape, n, err := c.shape()
	if err != nil {
		return nil, err
	}
	if len(lut.Shape) != 1 || !slices.Contains([]int64{2, 4, 16, 64, 256}, lut.Shape[0]) {
		return nil, fmt.Errorf("lut of shape %v: expected a vector of 2, 4, 16, 64 or 256", lut.Shape)
	}
	nbits := bits.Len64(uint64(lut.Shape[0])) - 1
	if want := (n*int64(nbits) + 7) / 8; len(idx.Shape) != 1 || idx.Shape[0] != want {
		return nil, fmt.Errorf("indices of shape %v: expected %d bytes for %d indices of %d bits", idx.Shape, want, n, nbits)
	}
	codes := idx.Data
	if nbits < 8 {
		codes = unpack(idx.Data, nbits, n)
	}
	from, to := unpackedElements(lut), newElements(lut.DType, n)
	for i := range n {
		to.set(i, from, int64(codes[i]))
	}
	return []mil.Tensor{to.tensor(shape)}, nil
}

// lookUp replaces indices by entries of the parameter lut, which holds one
// table of 2^nbits vectors for each block of the indices.
func (c *call) lookUp(codes []byte, nbits int, shape []int64) (mil.Tensor, error) {
	lut, err := c.typed("lut", tableValues...)
	if err != nil {
		return lut, err
	}
	r := len(shape)
	if len(lut.Shape) != r+2 || r == 0 {
		return lut, fmt.Errorf("lut of shape %v: expected two dimensions more than the indices %v", lut.Shape, shape)
	}
	entries, width := lut.Shape[r], lut.Shape[r+1]
	if entries != 1<<nbits || width < 1 {
		return lut, fmt.Errorf("lut of shape %v: expected %d entries for indices of %d bits", lut.Shape, 1<<nbits, nbits)
	}
	steps, err := blocks("lut", shape, lut.Shape[:r])
	if err != nil {
		return lut, err
	}
	axis := r - 1
	if c.has("vector_axis") {
		if axis, err = c.axis("vector_axis", r); err != nil {
			return lut, err
		}
	} else if width > 1 {
		return lut, errors.New("vector_axis is missing, and lut holds vectors")
	}
	outShape := slices.Clone(shape)
	outShape[axis] *= width
	if err := c.fits("result", outShape); err != nil {
		return lut, err
	}
	inner := product(shape[axis+1:])
	from, to := unpackedElements(lut), newElements(lut.DType, product(outShape))
	steps.each(func(i, block int64) {
		// An index becomes width elements along axis.
		first := i/inner*inner*width + i%inner
		entry := (block*entries + int64(codes[i])) * width
		for v := range width {
			to.set(first+v*inner, from, entry+v)
		}
	})
	return to.tensor(outShape), nil
}

func sparseToDense(c *call) ([]mil.Tensor, error) {
	data, err := c.typed("nonzero_data", quantized...)
	if err != nil {
		return nil, err
	}
	var shape []int64
	var mask []byte
	if c.has("shape") {
		shape, mask, err = c.packedMask()
	} else {
		shape, mask, err = c.mask("mask")
	}
	if err != nil {
		return nil, err
	}
	t, err := scatter(data, mask, shape)
	return []mil.Tensor{t}, err
}

// packedMask is the form up to iOS 17: bytes of bits, padded with zeros.
func (c *call) packedMask() (shape []int64, mask []byte, err error) {
	m, err := c.typed("mask", mil.Uint8)
	if err != nil {
		return nil, nil, err
	}
	shape, n, err := c.shape()
	if err != nil {
		return nil, nil, err
	}
	if len(m.Shape) != 1 || m.Shape[0] != (n+7)/8 {
		return nil, nil, fmt.Errorf("mask of shape %v: expected %d bytes for %d elements", m.Shape, (n+7)/8, n)
	}
	if n%8 != 0 && m.Data[n/8]>>(n%8) != 0 {
		return nil, nil, errors.New("mask has bits behind its last element")
	}
	return shape, unpack(m.Data, 1, n), nil
}

func (c *call) mask(name string) (shape []int64, mask []byte, err error) {
	m, err := c.typed(name, mil.Uint1)
	if err != nil {
		return nil, nil, err
	}
	if err := c.fits(name, m.Shape); err != nil {
		return nil, nil, err
	}
	return m.Shape, unpacked(m), nil
}

// scatter puts data where mask is set, zeros elsewhere.
func scatter(data mil.Tensor, mask []byte, shape []int64) (mil.Tensor, error) {
	set := int64(bytes.Count(mask, []byte{1}))
	if len(data.Shape) != 1 || data.Shape[0] != set {
		return data, fmt.Errorf("non-zero data of shape %v: expected the %d elements that the mask has bits for", data.Shape, set)
	}
	from, to := unpackedElements(data), newElements(data.DType, int64(len(mask)))
	next := int64(0)
	for i, m := range mask {
		if m != 0 {
			to.set(int64(i), from, next)
			next++
		}
	}
	return to.tensor(shape), nil
}

// gather is the inverse of scatter.
func gather(t mil.Tensor, mask []byte) mil.Tensor {
	set := int64(bytes.Count(mask, []byte{1}))
	from, to := unpackedElements(t), newElements(t.DType, set)
	next := int64(0)
	for i, m := range mask {
		if m != 0 {
			to.set(next, from, int64(i))
			next++
		}
	}
	return to.tensor([]int64{set})
}

func sparseBlockwise(c *call) ([]mil.Tensor, error) {
	shape, mask, err := c.mask("data_mask")
	if err != nil {
		return nil, err
	}
	data, err := c.typed("nonzero_data", quantized...)
	if err != nil {
		return nil, err
	}
	dense, err := scatter(data, mask, shape)
	if err != nil {
		return nil, err
	}
	out, err := c.shiftScale(dense)
	if err != nil {
		return nil, err
	}
	return []mil.Tensor{maskTensor(mask, shape), gather(out, mask)}, nil
}

func lutToSparse(c *call) ([]mil.Tensor, error) {
	shape, mask, err := c.mask("indices_mask")
	if err != nil {
		return nil, err
	}
	data, err := c.typed("indices_nonzero_data", mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6, mil.Uint8)
	if err != nil {
		return nil, err
	}
	dense, err := scatter(data, mask, shape)
	if err != nil {
		return nil, err
	}
	out, err := c.lookUp(unpacked(dense), data.DType.Bits(), shape)
	if err != nil {
		return nil, err
	}
	wide := widen(mask, shape, out.Shape)
	return []mil.Tensor{maskTensor(wide, out.Shape), gather(out, wide)}, nil
}

// widen repeats a mask along the axis in which to is longer.
func widen(mask []byte, shape, to []int64) []byte {
	for axis := range shape {
		width := int64(1)
		if shape[axis] > 0 {
			width = to[axis] / shape[axis]
		}
		if width == 1 {
			continue
		}
		inner := product(shape[axis+1:])
		out := make([]byte, 0, product(to))
		for at := int64(0); at < int64(len(mask)); at += inner {
			for range width {
				out = append(out, mask[at:at+inner]...)
			}
		}
		return out
	}
	return mask
}

func maskTensor(mask []byte, shape []int64) mil.Tensor {
	return mil.Tensor{DType: mil.Uint1, Shape: shape, Data: pack(mask, mil.Uint1)}
}
