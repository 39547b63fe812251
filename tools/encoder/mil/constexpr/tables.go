package constexpr

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

var (
	tableValues = []mil.DType{mil.Int8, mil.Uint8, mil.Float16, mil.Float32}
	indexTypes  = []mil.DType{mil.Uint1, mil.Uint2, mil.Uint3, mil.Uint4, mil.Uint6, mil.Uint8}
)

func lutToDense(c *call) (*plan, error) {
	if c.has("shape") {
		return lutPacked(c)
	}
	idx, err := c.typed("indices", indexTypes...)
	if err != nil {
		return nil, err
	}
	p, err := c.palette(idx.DType, idx.Shape)
	if err != nil {
		return nil, err
	}
	return one(p.result, func() ([]byte, error) {
		t, err := idx.load()
		if err != nil {
			return nil, err
		}
		return p.lookUp(unpacked(t))
	}), nil
}

// lutPacked is the form up to iOS 17: one table for the whole tensor.
func lutPacked(c *call) (*plan, error) {
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
	return one(mil.TensorOf(lut.DType, shape...), func() ([]byte, error) {
		codes, err := idx.load()
		if err != nil {
			return nil, err
		}
		table, err := lut.load()
		if err != nil {
			return nil, err
		}
		from, to := unpackedElements(table), newElements(lut.DType, n)
		to.gatherPacked(from, codes.Data, nbits, n)
		return to.packed(), nil
	}), nil
}

// palette is the parameter lut: one table of 2^bits vectors for each block of
// indices of one shape.
type palette struct {
	result         *mil.Type
	lut            operand
	steps          *stepper
	entries, width int64
	inner          int64 // elements of the indices per position of the vectors' axis
}

func (c *call) palette(indices mil.DType, shape []int64) (*palette, error) {
	lut, err := c.typed("lut", tableValues...)
	if err != nil {
		return nil, err
	}
	r := len(shape)
	if len(lut.Shape) != r+2 || r == 0 {
		return nil, fmt.Errorf("lut of shape %v: expected two dimensions more than the indices %v", lut.Shape, shape)
	}
	p := &palette{lut: lut, entries: lut.Shape[r], width: lut.Shape[r+1]}
	if p.entries != 1<<indices.Bits() || p.width < 1 {
		return nil, fmt.Errorf("lut of shape %v: expected %d entries for indices of type %s", lut.Shape, 1<<indices.Bits(), indices)
	}
	if p.steps, err = blocks("lut", shape, lut.Shape[:r]); err != nil {
		return nil, err
	}
	axis := r - 1
	if c.has("vector_axis") {
		if axis, err = c.axis("vector_axis", r); err != nil {
			return nil, err
		}
	} else if p.width > 1 {
		return nil, errors.New("vector_axis is missing, and lut holds vectors")
	}
	p.inner = product(shape[axis+1:])
	p.result = mil.TensorOf(lut.DType, slices.Clone(shape)...)
	p.result.Shape[axis] *= p.width
	return p, nil
}

// lookUp replaces indices by entries.
func (p *palette) lookUp(codes []byte) ([]byte, error) {
	lut, err := p.lut.load()
	if err != nil {
		return nil, err
	}
	from, to := unpackedElements(lut), newElements(lut.DType, product(p.result.Shape))
	if p.width == 1 {
		p.steps.runs(func(first, end, block int64) { to.gather(first, from, block*p.entries, codes[first:end]) })
		return to.packed(), nil
	}
	p.steps.each(func(i, block int64) {
		// An index becomes width elements along the axis.
		first := i/p.inner*p.inner*p.width + i%p.inner
		entry := (block*p.entries + int64(codes[i])) * p.width
		for v := range p.width {
			to.set(first+v*p.inner, from, entry+v)
		}
	})
	return to.packed(), nil
}

// widen repeats a mask of the indices for the elements of their vectors.
func (p *palette) widen(mask []byte) []byte {
	if p.width == 1 {
		return mask
	}
	out := make([]byte, 0, int64(len(mask))*p.width)
	for at := int64(0); at < int64(len(mask)); at += p.inner {
		for range p.width {
			out = append(out, mask[at:at+p.inner]...)
		}
	}
	return out
}

func sparseToDense(c *call) (*plan, error) {
	data, err := c.nonzero("nonzero_data", quantized)
	if err != nil {
		return nil, err
	}
	read := c.mask
	if c.has("shape") {
		read = c.packedMask
	}
	m, err := read("mask")
	if err != nil {
		return nil, err
	}
	return one(mil.TensorOf(data.DType, m.shape...), func() ([]byte, error) {
		dense, err := scatter(data, m)
		return dense.Data, err
	}), nil
}

// mask says which elements of a shape are stored.
type mask struct {
	operand
	shape []int64
}

func (c *call) mask(name string) (mask, error) {
	m, err := c.typed(name, mil.Uint1)
	if err != nil {
		return mask{}, err
	}
	return mask{m, m.Shape}, nil
}

// packedMask is the form up to iOS 17: bytes of bits, padded with zeros.
func (c *call) packedMask(name string) (mask, error) {
	m, err := c.typed(name, mil.Uint8)
	if err != nil {
		return mask{}, err
	}
	shape, n, err := c.shape()
	if err != nil {
		return mask{}, err
	}
	if len(m.Shape) != 1 || m.Shape[0] != (n+7)/8 {
		return mask{}, fmt.Errorf("%s of shape %v: expected %d bytes for %d elements", name, m.Shape, (n+7)/8, n)
	}
	return mask{m, shape}, nil
}

// packed reads the mask as it is stored: a bit for each element, the lowest first.
func (m mask) packed() ([]byte, error) {
	t, err := m.load()
	if err != nil {
		return nil, err
	}
	n := product(m.shape)
	if m.DType == mil.Uint8 && n%8 != 0 && t.Data[n/8]>>(n%8) != 0 {
		return nil, errors.New("mask has bits behind its last element")
	}
	return t.Data[:(n+7)/8], nil
}

// bits reads the mask, a byte for each bit.
func (m mask) bits() ([]byte, error) {
	packed, err := m.packed()
	if err != nil {
		return nil, err
	}
	return unpack(packed, 1, product(m.shape)), nil
}

// nonzero is a parameter that holds the elements that a mask has bits for.
func (c *call) nonzero(name string, allowed []mil.DType) (operand, error) {
	data, err := c.typed(name, allowed...)
	if err == nil && len(data.Shape) != 1 {
		err = fmt.Errorf("%s of shape %v: expected a vector", name, data.Shape)
	}
	return data, err
}

// scatter puts data where the mask is set, zeros elsewhere.
func scatter(data operand, m mask) (mil.Tensor, error) {
	set, err := m.packed()
	if err != nil {
		return mil.Tensor{}, err
	}
	n := product(m.shape)
	if ones := countOnes(set, n); ones != data.Shape[0] {
		return mil.Tensor{}, fmt.Errorf("%s of shape %v: expected the %d elements that the mask has bits for", data.name, data.Shape, ones)
	}
	t, err := data.load()
	if err != nil {
		return mil.Tensor{}, err
	}
	to := newElements(data.DType, n)
	to.scatter(set, unpackedElements(t))
	return mil.Tensor{DType: data.DType, Shape: m.shape, Data: to.packed()}, nil
}

// gather is the inverse of scatter, for results, which have whole bytes.
func gather(dense []byte, set []byte) []byte {
	if len(set) == 0 {
		return nil
	}
	size := len(dense) / len(set)
	out := make([]byte, 0, bytes.Count(set, []byte{1})*size)
	for i, on := range set {
		if on != 0 {
			out = append(out, dense[i*size:(i+1)*size]...)
		}
	}
	return out
}

func sparseBlockwise(c *call) (*plan, error) {
	m, err := c.mask("data_mask")
	if err != nil {
		return nil, err
	}
	data, err := c.nonzero("nonzero_data", quantized)
	if err != nil {
		return nil, err
	}
	s, err := c.shiftScale(mil.TensorOf(data.DType, m.shape...))
	if err != nil {
		return nil, err
	}
	types := []*mil.Type{mil.TensorOf(mil.Uint1, m.shape...), mil.TensorOf(s.result.DType, data.Shape...)}
	return &plan{types, func() ([][]byte, error) {
		set, err := m.bits()
		if err != nil {
			return nil, err
		}
		dense, err := scatter(data, m)
		if err != nil {
			return nil, err
		}
		out, err := s.apply(dense)
		return [][]byte{pack(set, mil.Uint1), gather(out, set)}, err
	}}, nil
}

func lutToSparse(c *call) (*plan, error) {
	m, err := c.mask("indices_mask")
	if err != nil {
		return nil, err
	}
	data, err := c.nonzero("indices_nonzero_data", indexTypes)
	if err != nil {
		return nil, err
	}
	p, err := c.palette(data.DType, m.shape)
	if err != nil {
		return nil, err
	}
	types := []*mil.Type{mil.TensorOf(mil.Uint1, p.result.Shape...), mil.TensorOf(p.result.DType, data.Shape[0]*p.width)}
	return &plan{types, func() ([][]byte, error) {
		set, err := m.bits()
		if err != nil {
			return nil, err
		}
		indices, err := scatter(data, m)
		if err != nil {
			return nil, err
		}
		out, err := p.lookUp(unpacked(indices))
		wide := p.widen(set)
		return [][]byte{pack(wide, mil.Uint1), gather(out, wide)}, err
	}}, nil
}
