package eval

import (
	"fmt"
	"slices"
)

// pooling is a window over one to three spatial dimensions of x [batch, channels, …].
type pooling struct {
	kernel, strides, before []int
	// counted says that padding counts as zeros in an average.
	counted bool
}

// pool builds max_pool and avg_pool. A window that holds padding alone has no answer that is documented, nor has an average
// under ceil_mode whose window reaches beyond the padding; both are refused.
func pool(average bool) func(c *call) {
	return func(c *call) {
		x := c.float("x")
		if c.bad {
			return
		}
		spatial := len(x.shape) - 2
		if spatial < 1 || spatial > 3 {
			c.fail("expected x [batch, channels, …] with one to three spatial dimensions, found %v", x.shape)
			return
		}
		p := &pooling{}
		shape := p.geometry(c, x, spatial, average)
		if c.bad {
			return
		}
		out := c.result(0, x.dtype, append(slices.Clone(x.shape[:2]), shape...))
		if out == nil {
			return
		}
		c.step(out, func(f *frame) { p.run(f, x, out, average) }, x)
	}
}

// geometry fills in the window and returns the output's spatial extents.
func (p *pooling) geometry(c *call, x *node, spatial int, average bool) []int {
	kernel, strides := c.ints("kernel_sizes", nil), c.ints("strides", slices.Repeat([]int64{1}, spatial))
	pad := c.ints("pad", make([]int64, 2*spatial))
	kind, ceil := c.string("pad_type", ""), c.bool("ceil_mode", false)
	p.counted = average && !c.bool("exclude_padding_from_average", false)
	if c.bad {
		return nil
	}
	if len(kernel) != spatial || len(strides) != spatial || len(pad) != 2*spatial {
		c.fail("kernel_sizes %v, strides %v and pad %v do not fit %d spatial dimension(s)", kernel, strides, pad, spatial)
		return nil
	}
	if ceil && (kind == "same" || kind == "same_lower" || spatial > 2) {
		c.fail("ceil_mode goes with pad_type valid or custom and at most two spatial dimensions, found %q and %d", kind, spatial)
		return nil
	}
	if kind == "same_lower" && !c.since(16) {
		c.fail("pad_type \"same_lower\" of pooling is known from iOS 16 on, found the operation set %s", c.opset)
		return nil
	}
	var shape []int
	for d := range spatial {
		in, k, s := x.shape[2+d], int(kernel[d]), int(strides[d])
		if kernel[d] < 1 || strides[d] < 1 || kernel[d] > 1<<20 || strides[d] > 1<<20 {
			c.fail("kernel size %d or stride %d is out of range", kernel[d], strides[d])
			return nil
		}
		left, right := padding(c, kind, in, k, s, pad[2*d], pad[2*d+1])
		if c.bad {
			return nil
		}
		n := (in+left+right-k)/s + 1
		if ceil {
			if left != right {
				c.fail("pad %v: ceil_mode needs as much padding before as behind", pad)
				return nil
			}
			n = (in+left+right-k+s-1)/s + 1
			if (n-1)*s >= in+left && left > 0 {
				n--
			}
		}
		last := (n-1)*s - left // where the last window begins
		switch {
		case in+left+right < k:
			c.fail("the kernel's extent %d is larger than the padded input %d", k, in+left+right)
		case left >= k || last >= in:
			c.fail("a window of %d over %d elements, padded by %d and %d, holds padding alone", k, in, left, right)
		case p.counted && last+k > in+right:
			c.fail("ceil_mode makes an average reach beyond the padding, and what it is divided by is not documented")
		}
		if c.bad {
			return nil
		}
		shape = append(shape, n)
		p.kernel, p.strides, p.before = append(p.kernel, k), append(p.strides, s), append(p.before, left)
	}
	return shape
}

// padding is what a kind of padding adds before and behind a dimension.
func padding(c *call, kind string, in, extent, stride int, left, right int64) (int, int) {
	switch kind {
	case "valid":
		return 0, 0
	case "custom":
		if left < 0 || right < 0 || left > 1<<20 || right > 1<<20 {
			c.fail("pad %d and %d is out of range", left, right)
			return 0, 0
		}
		return int(left), int(right)
	case "same", "same_lower":
		total := max(0, ((in+stride-1)/stride-1)*stride+extent-in)
		if kind == "same" {
			return total / 2, total - total/2
		}
		return total - total/2, total / 2
	}
	c.fail("pad_type %q is not known", kind)
	return 0, 0
}

// run computes every output in float64 and rounds it once. A NaN in a window makes its result NaN.
func (p *pooling) run(f *frame, x, out *node, average bool) {
	read, put := f.number(x), f.store(out)
	rank := len(out.shape)
	planes := out.shape[0] * out.shape[1]
	f.pool.Run(planes, func(_, plane int) {
		at := make([]int, rank)
		at[0], at[1] = plane/out.shape[1], plane%out.shape[1]
		for range out.len() / planes {
			v := p.window(read, x, at, average)
			to := 0
			for d, i := range at {
				to += i * out.strides[d]
			}
			if err := put(to, v); err != nil {
				f.fail(fmt.Errorf("%s: %w", out.name, err))
				return
			}
			for d := rank - 1; d >= 2; d-- {
				if at[d]++; at[d] < out.shape[d] {
					break
				}
				at[d] = 0
			}
		}
	})
}

// window is the largest or the mean of the elements that the window at an output's position covers.
func (p *pooling) window(read func(at int) float64, x *node, at []int, average bool) float64 {
	base := at[0]*x.strides[0] + at[1]*x.strides[1]
	var low, high [3]int
	cells := 1
	for d, k := range p.kernel {
		from := at[2+d]*p.strides[d] - p.before[d]
		low[d], high[d] = max(from, 0), min(from+k, x.shape[2+d])
		cells *= k
	}
	var sum float64
	largest, n := 0.0, 0
	for d := len(p.kernel); d < 3; d++ {
		low[d], high[d] = 0, 1
	}
	stride := [3]int{}
	copy(stride[:], x.strides[2:])
	for i := low[0]; i < high[0]; i++ {
		for j := low[1]; j < high[1]; j++ {
			for k := low[2]; k < high[2]; k++ {
				v := read(base + i*stride[0] + j*stride[1] + k*stride[2])
				sum += v
				if n == 0 {
					largest = v
				}
				largest = max(largest, v)
				n++
			}
		}
	}
	switch {
	case !average:
		return largest
	case p.counted:
		return sum / float64(cells)
	}
	return sum / float64(n)
}
