package eval

import (
	"fmt"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

var indexTypes = []mil.DType{mil.Int32, mil.Int16, mil.Uint16, mil.Int8, mil.Uint8}

// gathering copies blocks of x to where indices say. One block is what an index selects.
type gathering struct {
	c          *call
	x, indices *node
}

// gathering reads the operands that all gathers have.
func (c *call) gathering() *gathering {
	g := &gathering{c: c, x: c.need("x"), indices: c.need("indices")}
	c.bool("validate_indices", false) // an index outside of x has no answer in either case
	if c.bad {
		return nil
	}
	if !slices.Contains(indexTypes, g.indices.dtype) {
		c.fail("indices: expected integers, found %s", g.indices.dtype)
		return nil
	}
	if g.x.dtype == mil.Bool {
		c.fail("x: gathering bool is not defined; cast it first")
		return nil
	}
	return g
}

// index resolves one index into a dimension. Below zero it counts from the end up to iOS 16, and is outside from iOS 17 on. One
// that is outside ends the evaluation: Core ML does not check it, so that there is no answer to compare with.
func (g *gathering) index(v float64, extent int) (int, error) {
	i := int(v)
	if i < 0 && !g.c.since(17) {
		i += extent
	}
	if i < 0 || i >= extent {
		return 0, fmt.Errorf("the index %d is outside the extent %d; Core ML does not say what it reads there", int(v), extent)
	}
	return i, nil
}

// run builds the step: for each element of out, from gives the position in x of the element that is copied, by out's position.
func (g *gathering) run(shape []int, from func(index func(at ...int) float64, at []int) (int, error)) {
	x, indices := g.x, g.indices
	out := g.c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	size := x.dtype.Bits() / 8
	g.c.step(out, func(f *frame) {
		read, src, dst := f.number(indices), f.bytes(x), f.bytes(out)
		index := func(at ...int) float64 {
			p := 0
			for d, i := range at {
				p += i * indices.strides[d]
			}
			return read(p)
		}
		f.pool.Run((out.len()+unitElements-1)/unitElements, func(_, unit int) {
			at := make([]int, len(shape))
			for i := unit * unitElements; i < min(out.len(), (unit+1)*unitElements); i++ {
				for d, rest := len(shape)-1, i; d >= 0; d-- {
					at[d] = rest % shape[d]
					rest /= shape[d]
				}
				p, err := from(index, at)
				if err != nil {
					f.fail(fmt.Errorf("%s: %w", out.name, err))
					return
				}
				copy(dst[i*size:(i+1)*size], src[p*size:(p+1)*size])
			}
		})
	}, x, indices)
}

// makeGather takes whole slices of x along an axis: out[a, i…, b] = x[a, indices[i…], b].
func makeGather(c *call) {
	g := c.gathering()
	if g == nil {
		return
	}
	axis, batch := c.int("axis", 0), int(c.int("batch_dims", 0))
	if c.bad {
		return
	}
	x, indices := g.x, g.indices
	a := c.axis("axis", axis, len(x.shape))
	if c.bad {
		return
	}
	if batch < 0 || batch > a || batch > len(indices.shape) || !slices.Equal(x.shape[:batch], indices.shape[:batch]) {
		c.fail("batch_dims %d does not fit x %v, indices %v and axis %d", batch, x.shape, indices.shape, a)
		return
	}
	inner := len(indices.shape) - batch
	shape := slices.Concat(x.shape[:a], indices.shape[batch:], x.shape[a+1:])
	g.run(shape, func(index func(at ...int) float64, at []int) (int, error) {
		where := slices.Concat(at[:batch], at[a:a+inner])
		i, err := g.index(index(where...), x.shape[a])
		p := i * x.strides[a]
		for d := range a {
			p += at[d] * x.strides[d]
		}
		for d := a + 1; d < len(x.shape); d++ {
			p += at[d-1+inner] * x.strides[d]
		}
		return p, err
	})
}

// makeGatherAlongAxis takes single elements: out[a, i, b] = x[a, indices[a, i, b], b].
func makeGatherAlongAxis(c *call) {
	g := c.gathering()
	if g == nil {
		return
	}
	axis := c.int("axis", 0)
	if c.bad {
		return
	}
	x, indices := g.x, g.indices
	a := c.axis("axis", axis, len(x.shape))
	fits := len(x.shape) == len(indices.shape)
	for d := range x.shape {
		fits = fits && (d == a || x.shape[d] == indices.shape[d])
	}
	if !fits {
		c.fail("indices %v do not fit x %v along axis %d", indices.shape, x.shape, a)
	}
	if c.bad {
		return
	}
	g.run(slices.Clone(indices.shape), func(index func(at ...int) float64, at []int) (int, error) {
		i, err := g.index(index(at...), x.shape[a])
		p := 0
		for d := range at {
			if d == a {
				p += i * x.strides[d]
			} else {
				p += at[d] * x.strides[d]
			}
		}
		return p, err
	})
}

// makeGatherND takes slices by tuples of indices: out[b, i…, r] = x[b, indices[b, i…, :], r].
func makeGatherND(c *call) {
	g := c.gathering()
	if g == nil {
		return
	}
	batch := int(c.int("batch_dims", 0))
	if c.bad {
		return
	}
	x, indices := g.x, g.indices
	r := len(indices.shape) - 1
	if batch < 0 || r < batch || batch > len(x.shape) || indices.shape[r]+batch > len(x.shape) || !slices.Equal(x.shape[:batch], indices.shape[:batch]) {
		c.fail("indices %v with batch_dims %d do not fit x %v", indices.shape, batch, x.shape)
		return
	}
	depth := indices.shape[r]
	shape := slices.Concat(indices.shape[:r], x.shape[batch+depth:])
	g.run(shape, func(index func(at ...int) float64, at []int) (int, error) {
		p := 0
		for d := range batch {
			p += at[d] * x.strides[d]
		}
		where := append(slices.Clone(at[:r]), 0)
		for k := range depth {
			where[r] = k
			i, err := g.index(index(where...), x.shape[batch+k])
			if err != nil {
				return 0, err
			}
			p += i * x.strides[batch+k]
		}
		for d := batch + depth; d < len(x.shape); d++ {
			p += at[d-batch-depth+r] * x.strides[d]
		}
		return p, nil
	})
}
