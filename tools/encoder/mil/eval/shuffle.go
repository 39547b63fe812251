package eval

import (
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

func makeSplit(c *call) {
	x := c.need("x")
	axis := c.int("axis", 0)
	parts := c.int("num_splits", 0)
	sizes := c.ints("split_sizes", nil)
	if c.bad {
		return
	}
	a := c.axis("axis", axis, len(x.shape))
	if c.bad {
		return
	}
	if sizes == nil {
		if parts < 1 || int64(x.shape[a])%parts != 0 {
			c.fail("num_splits %d does not divide the %d elements of axis %d", parts, x.shape[a], a)
			return
		}
		sizes = slices.Repeat([]int64{int64(x.shape[a]) / parts}, int(parts))
	}
	total := int64(0)
	for _, s := range sizes {
		if s < 1 || s > int64(x.shape[a]) {
			c.fail("split_sizes %v: expected positive sizes", sizes)
			return
		}
		total += s
	}
	if total != int64(x.shape[a]) || len(sizes) != len(c.op.Outputs) || parts != 0 && parts != int64(len(sizes)) {
		c.fail("split_sizes %v and num_splits %d do not fit axis %d of %v and %d outputs", sizes, parts, a, x.shape, len(c.op.Outputs))
		return
	}
	at := 0
	for i, s := range sizes {
		shape := slices.Clone(x.shape)
		shape[a] = int(s)
		c.view(i, x, shape, x.strides, at*x.strides[a])
		at += int(s)
	}
}

func makeConcat(c *call) {
	values := c.bindings("values")
	axis := c.int("axis", 0)
	interleave := c.bool("interleave", false)
	if c.bad {
		return
	}
	if len(values) == 0 {
		c.fail("argument \"values\" is missing or empty")
		return
	}
	for i, v := range values {
		// Scalars join as vectors of one element.
		if len(v.shape) == 0 {
			one := *v
			one.shape, one.strides = []int{1}, []int{1}
			values[i] = &one
		}
	}
	first := values[0]
	a := c.axis("axis", axis, len(first.shape))
	if c.bad {
		return
	}
	shape := slices.Clone(first.shape)
	shape[a] = 0
	for _, v := range values {
		if err := computable(v.dtype); err != nil {
			c.fail("argument \"values\": %v", err)
			return
		}
		same := len(v.shape) == len(shape) && v.dtype == first.dtype
		for d := range shape {
			same = same && (d == a && !interleave || v.shape[d] == first.shape[d])
		}
		if !same {
			c.fail("values %s %v and %s %v do not join along axis %d", first.dtype, first.shape, v.dtype, v.shape, a)
			return
		}
		shape[a] += v.shape[a]
	}
	out := c.result(0, first.dtype, shape)
	if out == nil {
		return
	}
	at := 0
	var windows []*node
	for i, v := range values {
		w := &node{dtype: out.dtype, shape: v.shape, strides: slices.Clone(out.strides), root: out, offset: at * out.strides[a]}
		if interleave {
			w.offset = i * out.strides[a]
			w.strides[a] *= len(values)
		}
		at += v.shape[a]
		windows = append(windows, w)
	}
	c.step(out, func(f *frame) {
		for i, v := range values {
			f.move(windows[i], v)
		}
	}, values...)
}

func makeStack(c *call) {
	values := c.bindings("values")
	axis := c.int("axis", 0)
	if c.bad {
		return
	}
	if len(values) == 0 {
		c.fail("argument \"values\" is missing or empty")
		return
	}
	first := values[0]
	a := c.axis("axis", axis, len(first.shape)+1)
	for _, v := range values {
		if v.dtype != first.dtype || !slices.Equal(v.shape, first.shape) || computable(v.dtype) != nil {
			c.fail("values %s %v and %s %v do not stack", first.dtype, first.shape, v.dtype, v.shape)
		}
	}
	if c.bad {
		return
	}
	out := c.result(0, first.dtype, slices.Insert(slices.Clone(first.shape), a, len(values)))
	if out == nil {
		return
	}
	c.step(out, func(f *frame) {
		for i, v := range values {
			f.move(&node{dtype: out.dtype, shape: v.shape, strides: slices.Delete(slices.Clone(out.strides), a, a+1),
				root: out, offset: i * out.strides[a]}, v)
		}
	}, values...)
}

// makeSliceByIndex builds x[begin:end:stride, …] as a view.
func makeSliceByIndex(c *call) {
	x := c.need("x")
	if c.bad {
		return
	}
	rank := len(x.shape)
	begin, end := c.ints("begin", nil), c.ints("end", nil)
	strides := c.ints("stride", slices.Repeat([]int64{1}, rank))
	none := make([]int64, rank)
	noBegin, noEnd, gone := c.ints("begin_mask", none), c.ints("end_mask", none), c.ints("squeeze_mask", none)
	if c.bad {
		return
	}
	if end == nil && len(noEnd) == rank && !slices.Contains(noEnd, 0) {
		end = none
	}
	for _, v := range [][]int64{begin, end, strides, noBegin, noEnd, gone} {
		if len(v) != rank {
			c.fail("begin, end, stride and masks: expected %d values each for x %v, found %d", rank, x.shape, len(v))
			return
		}
	}
	var shape, steps []int
	offset := 0
	for d, extent := range x.shape {
		first, n, ok := slice(int64(extent), begin[d], end[d], strides[d], noBegin[d] != 0, noEnd[d] != 0, gone[d] != 0)
		if !ok {
			c.fail("begin %d, end %d, stride %d select nothing from axis %d of extent %d", begin[d], end[d], strides[d], d, extent)
			return
		}
		offset += first * x.strides[d]
		if gone[d] == 0 {
			shape, steps = append(shape, n), append(steps, x.strides[d]*int(strides[d]))
		}
	}
	if slices.Min(append(slices.Clone(steps), 0)) >= 0 {
		c.view(0, x, shape, steps, offset)
		return
	}
	// Views only run forwards, so what runs backwards is copied.
	out := c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	from := &node{dtype: x.dtype, shape: shape, strides: steps, offset: x.offset + offset, root: x.root}
	c.step(out, func(f *frame) { f.moveBack(out, from) }, x)
}

// slice gives the first index and the number of indices, as NumPy does.
func slice(extent, begin, end, stride int64, noBegin, noEnd, single bool) (first, n int, ok bool) {
	if begin < 0 {
		begin += extent
	}
	if end < 0 {
		end += extent
	}
	if single {
		return int(begin), 1, begin >= 0 && begin < extent
	}
	if stride == 0 || stride == math.MinInt64 {
		return 0, 0, false
	}
	low, high := int64(0), extent
	if stride < 0 {
		low, high = -1, extent-1
	}
	begin, end = min(max(begin, low), high), min(max(end, low), high)
	if noBegin {
		begin = map[bool]int64{true: 0, false: extent - 1}[stride > 0]
	}
	if noEnd {
		end = map[bool]int64{true: extent, false: -1}[stride > 0]
	}
	count := (end - begin + stride - sign(stride)) / stride
	return int(begin), int(count), count > 0
}

func sign(v int64) int64 {
	if v < 0 {
		return -1
	}
	return 1
}

func makeSliceBySize(c *call) {
	x, begin, size := c.need("x"), c.ints("begin", nil), c.ints("size", nil)
	if c.bad {
		return
	}
	if len(begin) != len(x.shape) || len(size) != len(x.shape) {
		c.fail("begin %v and size %v do not fit x %v", begin, size, x.shape)
		return
	}
	shape := make([]int, len(size))
	offset := 0
	for d, extent := range x.shape {
		b, n := begin[d], size[d]
		if b < 0 {
			b += int64(extent)
		}
		if n == -1 {
			n = int64(extent) - b
		}
		if b < 0 || n < 1 || n > int64(extent)-b {
			c.fail("begin %v and size %v leave x %v", begin, size, x.shape)
			return
		}
		shape[d] = int(n)
		offset += int(b) * x.strides[d]
	}
	c.view(0, x, shape, x.strides, offset)
}

// makeEinsum builds the one product that Core ML's einsum has:
// [b, c, h, w] with [b, w, h, u] to [b, c, h, u], or the same without b.
func makeEinsum(c *call) {
	values := c.bindings("values")
	equation := c.string("equation", "")
	if c.bad {
		return
	}
	if len(values) != 2 {
		c.fail("argument \"values\": expected two tensors, found %d", len(values))
		return
	}
	x, y := values[0], values[1]
	rank := len(x.shape)
	if x.dtype != y.dtype || x.dtype != mil.Float32 && x.dtype != mil.Float16 || len(y.shape) != rank {
		c.fail("expected two fp32 or fp16 tensors of one rank, found %s %v and %s %v", x.dtype, x.shape, y.dtype, y.shape)
		return
	}
	if canonical(equation) != map[int]string{4: "abcd,adce->abce", 3: "abc,cbd->abd"}[rank] || rank < 3 || rank > 4 {
		c.fail("equation %q for rank %d: Core ML has nchw,nwhu->nchu and chw,whr->chr only", equation, rank)
		return
	}
	// The planes are the last and the third dimension from the end.
	xm := plane{x.shape[rank-3], x.shape[rank-1], x.strides[rank-3], x.strides[rank-1]}
	ym := plane{y.shape[rank-3], y.shape[rank-1], y.strides[rank-3], y.strides[rank-1]}
	rest := func(n *node) *node {
		return &node{shape: slices.Delete(slices.Clone(n.shape[:rank-1]), rank-3, rank-2),
			strides: slices.Delete(slices.Clone(n.strides[:rank-1]), rank-3, rank-2)}
	}
	batch, xs, ys, ok := broadcast(rest(x), rest(y))
	if !ok || xm.cols != ym.rows {
		c.fail("x %v does not fit y %v", x.shape, y.shape)
		return
	}
	shape := slices.Insert(append(slices.Clone(batch), ym.cols), rank-3, xm.rows)
	out := c.result(0, x.dtype, shape)
	if out == nil {
		return
	}
	m := &matmul{x: x, y: y, out: out, xm: xm, ym: ym, batch: batch, xs: xs, ys: ys,
		os: slices.Delete(slices.Clone(out.strides[:rank-1]), rank-3, rank-2), row: out.strides[rank-3]}
	c.step(out, m.run, x, y).fuse = m
}

// canonical renames the letters of an equation in order of appearance.
func canonical(equation string) string {
	names := map[rune]rune{}
	var out []rune
	for _, r := range equation {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			if names[r] == 0 {
				names[r] = 'a' + rune(len(names))
			}
			out = append(out, names[r])
		case r != ' ':
			out = append(out, r)
		}
	}
	return string(out)
}
