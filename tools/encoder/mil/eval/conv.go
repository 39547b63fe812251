package eval

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// convolution has its geometry in two spatial dimensions; the first has extent
// one where the program has only one.
type convolution struct {
	x, w, b        *node
	images, groups int
	ins, outs      int // channels of one group
	window         kernel.Windows
}

// makeConv builds convolutions over one or two spatial dimensions.
func makeConv(c *call) {
	x, w := c.float("x"), c.float("weight")
	b := c.maybeFloat("bias", x)
	if c.bad {
		return
	}
	spatial := len(x.shape) - 2
	if x.dtype != w.dtype || spatial < 1 || spatial > 2 || len(w.shape) != len(x.shape) {
		c.fail("expected x [batch, channels, (height,) width] and weight of one type and rank 3 or 4, found %s %v and %s %v",
			x.dtype, x.shape, w.dtype, w.shape)
		return
	}
	v := &convolution{x: x, w: w, b: b, groups: int(c.int("groups", 1)), images: x.shape[0]}
	if c.bad {
		return
	}
	if v.groups < 1 || w.shape[0]%v.groups != 0 || w.shape[1]*v.groups != x.shape[1] {
		c.fail("weight %v in %d group(s) does not fit x %v", w.shape, v.groups, x.shape)
		return
	}
	if b != nil && !slices.Equal(b.shape, w.shape[:1]) {
		c.fail("bias %v does not fit weight %v", b.shape, w.shape)
		return
	}
	v.ins, v.outs = w.shape[1], w.shape[0]/v.groups
	extents := v.geometry(c, spatial)
	if c.bad {
		return
	}
	// All windows side by side are laid out at once.
	taps, limit := product(w.shape[1:]), c.options.limit()
	if taps*4 > limit || product(extents) > limit/(taps*4) {
		c.fail("%d taps at %v positions need more than the limit of %d bytes", taps, extents, limit)
		return
	}
	out := c.result(0, x.dtype, append([]int{x.shape[0], w.shape[0]}, extents...))
	if out == nil {
		return
	}
	v.x, v.w, v.b = c.dense(c, x), c.dense(c, w), c.dense(c, b)
	c.product(out, v.run, v.x, v.w, v.b)
}

// geometry fills in the window and returns the spatial extents of the output.
func (v *convolution) geometry(c *call, spatial int) []int {
	ones := slices.Repeat([]int64{1}, spatial)
	strides, dilations := c.ints("strides", ones), c.ints("dilations", ones)
	pad := c.ints("pad", slices.Repeat([]int64{0}, 2*spatial))
	padType := c.string("pad_type", "valid")
	if c.bad {
		return nil
	}
	if len(strides) != spatial || len(dilations) != spatial || (padType == "custom" && len(pad) != 2*spatial) {
		c.fail("strides %v, dilations %v and pad %v do not fit %d spatial dimension(s)", strides, dilations, pad, spatial)
		return nil
	}
	out := make([]int, spatial)
	var before [2]int
	for d := range spatial {
		in, k, s, dil := v.x.shape[2+d], v.w.shape[2+d], int(strides[d]), int(dilations[d])
		if s < 1 || dil < 1 || s > in+1<<20 || dil > 1<<20 {
			c.fail("stride %d or dilation %d is out of range", s, dil)
			return nil
		}
		extent := (k-1)*dil + 1
		var left, right int
		switch padType {
		case "valid":
		case "custom":
			if pad[2*d] < 0 || pad[2*d+1] < 0 || pad[2*d] > 1<<20 || pad[2*d+1] > 1<<20 {
				c.fail("pad %v is out of range", pad)
				return nil
			}
			left, right = int(pad[2*d]), int(pad[2*d+1])
		case "same", "same_lower":
			total := max(0, ((in+s-1)/s-1)*s+extent-in)
			left, right = total/2, total-total/2
			if padType == "same_lower" {
				left, right = right, left
			}
		default:
			c.fail("pad_type %q is not known", padType)
			return nil
		}
		if in+left+right < extent {
			c.fail("the kernel's extent %d is larger than the padded input %d", extent, in+left+right)
			return nil
		}
		out[d] = (in+left+right-extent)/s + 1
		before[d] = left
	}
	w := kernel.Windows{Height: 1, KernelH: 1, StrideH: 1, DilationH: 1, OutH: 1}
	l := spatial - 1
	w.Width, w.KernelW, w.StrideW, w.DilationW = v.x.shape[2+l], v.w.shape[2+l], int(strides[l]), int(dilations[l])
	w.PadLeft, w.OutW = before[l], out[l]
	if spatial == 2 {
		w.Height, w.KernelH, w.StrideH, w.DilationH = v.x.shape[2], v.w.shape[2], int(strides[0]), int(dilations[0])
		w.PadTop, w.OutH = before[0], out[0]
	}
	v.window = w
	return out
}

func (v *convolution) run(f *frame, out *node, then []kernel.Follow) {
	w := &v.window
	k, n := v.ins*w.KernelH*w.KernelW, w.OutH*w.OutW
	plane := w.Height * w.Width
	bias := f.floats(v.b)
	// A kernel of one cell over every position is a plain product.
	pointwise := w.KernelH*w.KernelW == 1 && w.StrideH*w.StrideW == 1 && n == plane
	for i := range v.images * v.groups {
		group := i % v.groups
		at := i * v.ins * plane
		g := &kernel.Product{M: v.outs, N: n, K: k, Stride: n, A: f.matrix(v.w, group*v.outs*k, k, 1)}
		if bias != nil {
			g.RowBias = bias[group*v.outs : (group+1)*v.outs]
		}
		if pointwise {
			g.B = f.matrix(v.x, at, plane, 1)
		} else {
			win := *w
			if v.x.dtype == mil.Float16 {
				win.F16 = f.f16(v.x)[at:]
			} else {
				win.F32 = f.f32(v.x)[at:]
			}
			g.B = &win
		}
		f.into(g, out, i*v.outs*n)
		g.Then, g.At = then, i*v.outs*n
		f.pool.Multiply(g)
	}
}
