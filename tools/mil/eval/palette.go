package eval

import (
	"math/bits"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/mil"
)

// shapeArgument reads the shape of the older sparse and palettised forms.
func (c *call) shapeArgument() []int {
	v := c.ints("shape", nil)
	if c.bad {
		return nil
	}
	types := make([]int64, len(v))
	copy(types, v)
	shape, err := looseShape(&mil.Type{Kind: mil.TensorKind, DType: mil.Uint8, Shape: types})
	if err != nil || len(v) == 0 {
		c.fail("shape %v: %v", v, err)
	}
	return shape
}

func makeLUTToDense(c *call) {
	lut := c.stored("lut", paletteOf...)
	indices := c.stored("indices", indexTypes...)
	if c.bad {
		return
	}
	if len(lut.shape) == 1 {
		c.packedLUT(lut, indices)
		return
	}
	g := c.palette(indices.shape, indices.dtype, lut)
	if c.bad {
		return
	}
	c.folded(0, lut.dtype, g.out, func() []byte {
		index, table := c.numbers(indices), c.numbers(lut)
		out := make([]float64, product(g.out))
		g.each(func(i, from, to int) { out[to] = table[from+int(index[i])*g.vector] })
		return c.packed(lut.dtype, out)
	})
}

// packedLUT is the form up to iOS 17: indices are packed into bytes.
func (c *call) packedLUT(lut, indices *node) {
	shape := c.shapeArgument()
	if c.bad {
		return
	}
	n := lut.shape[0]
	width := bits.Len(uint(n)) - 1
	if n != 1<<width || width < 1 || width > 8 || len(indices.shape) != 1 || indices.dtype != mil.Uint8 ||
		indices.shape[0] != (width*product(shape)+7)/8 {
		c.fail("a table of %d and %s indices %v do not fit shape %v", n, indices.dtype, indices.shape, shape)
		return
	}
	c.folded(0, lut.dtype, shape, func() []byte {
		table := c.numbers(lut)
		out := make([]float64, product(shape))
		for i := range out {
			index := 0
			for b := range width {
				at := i*width + b
				index |= int(indices.constant[at/8]>>(at%8)&1) << b
			}
			out[i] = table[index]
		}
		return c.packed(lut.dtype, out)
	})
}

// palette is the geometry of lookup tables over blocks of a tensor: lut has the
// tensor's dimensions in blocks, then entries, then elements of an entry, which
// run along the vector axis.
type palette struct {
	indices, blocks, out        []int
	entries, vector, vectorAxis int
}

func (c *call) palette(indices []int, d mil.DType, lut *node) *palette {
	r := len(indices)
	axis := c.int("vector_axis", 0)
	if c.bad {
		return nil
	}
	if len(lut.shape) != r+2 {
		c.fail("lut %v: expected rank %d, two more than the indices %v", lut.shape, r+2, indices)
		return nil
	}
	g := &palette{indices: indices, blocks: lut.shape[:r], out: slices.Clone(indices), entries: lut.shape[r], vector: lut.shape[r+1]}
	g.vectorAxis = c.axis("vector_axis", axis, r)
	for i := range indices {
		if indices[i]%g.blocks[i] != 0 {
			c.fail("lut %v does not divide the indices %v", lut.shape, indices)
		}
	}
	if g.entries != 1<<d.Bits() {
		c.fail("lut %v has %d entries; %s indices call for %d", lut.shape, g.entries, d, 1<<d.Bits())
	}
	if g.vector > 1 && c.op.Input("vector_axis") == nil {
		c.fail("argument \"vector_axis\" is missing though entries have %d elements", g.vector)
	}
	if !c.bad {
		g.out[g.vectorAxis] *= g.vector
	}
	return g
}

// each calls do for every output element: the index that it comes from, where
// its entry's element lies in the table of index zero, and its own place.
func (g *palette) each(do func(index, from, to int)) {
	at := make([]int, len(g.out))
	is, os := denseStrides(g.indices), denseStrides(g.out)
	for i := range product(g.indices) {
		block, to := 0, 0
		for d, s := range is {
			at[d] = i / s % g.indices[d]
			block = block*g.blocks[d] + at[d]/(g.indices[d]/g.blocks[d])
			p := at[d]
			if d == g.vectorAxis {
				p *= g.vector
			}
			to += p * os[d]
		}
		for v := range g.vector {
			do(i, block*g.entries*g.vector+v, to+v*os[g.vectorAxis])
		}
	}
}

func makeLUTToSparse(c *call) {
	mask, indices := c.stored("indices_mask", mil.Uint1), c.stored("indices_nonzero_data", indexTypes...)
	lut := c.stored("lut", paletteOf...)
	if c.bad {
		return
	}
	g := c.palette(mask.shape, indices.dtype, lut)
	if c.bad {
		return
	}
	wide := make([]bool, product(g.out))
	var found []float64
	c.folded(0, mil.Uint1, g.out, func() []byte {
		set := bitsOf(mask.constant, mask.len())
		index, table := c.numbers(indices), c.numbers(lut)
		if n := count(set); n != len(index) {
			c.fail("the mask has %d ones, but there are %d indices", n, len(index))
			return nil
		}
		order := make([]int, len(set)) // the rank of each set position
		next := 0
		for i, on := range set {
			order[i] = next
			if on {
				next++
			}
		}
		dense := make([]float64, len(wide))
		g.each(func(i, from, to int) {
			if set[i] {
				wide[to] = true
				dense[to] = table[from+int(index[order[i]])*g.vector]
			}
		})
		for i, on := range wide {
			if on {
				found = append(found, dense[i])
			}
		}
		ones := make([]float64, len(wide))
		for i, on := range wide {
			if on {
				ones[i] = 1
			}
		}
		return c.packed(mil.Uint1, ones)
	})
	c.folded(1, lut.dtype, []int{product(indices.shape) * g.vector}, func() []byte { return c.packed(lut.dtype, found) })
}
