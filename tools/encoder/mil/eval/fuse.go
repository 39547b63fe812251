package eval

import (
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// fuse joins a product, the softmax that alone reads it and the product that
// alone reads that, so that no whole matrix of scores is stored. The joined step
// computes the same bytes.
func fuse(steps []*step, outputs []*node) []*step {
	readers := map[*node]int{}
	for _, s := range steps {
		for _, n := range s.ins {
			readers[n.root]++
		}
	}
	for _, n := range outputs {
		readers[n.root] += 2 // an output must be stored
	}
	maker := map[*node]*step{}
	drop := map[*step]bool{}
	for i, s := range steps {
		for _, n := range s.outs {
			maker[n] = s
		}
		if second, ok := s.fuse.(*matmul); ok {
			if joined, parts := attention(second, maker, readers); joined != nil {
				joined.line = s.line
				steps[i] = joined
				for _, p := range parts {
					drop[p] = true
				}
			}
		}
	}
	return slices.DeleteFunc(steps, func(s *step) bool { return drop[s] })
}

// attention recognises the plain form, scores·V with softmax over the last axis,
// and the form of the Neural Engine, V·scores with softmax over the keys in
// front.
func attention(second *matmul, maker map[*node]*step, readers map[*node]int) (*step, []*step) {
	for _, turned := range []bool{false, true} {
		weights, wm := second.x, second.xm
		if turned {
			weights, wm = second.y, second.ym
		}
		mid := maker[weights]
		if mid == nil || readers[weights.root] != 1 || weights.root != weights {
			continue
		}
		soft, ok := mid.fuse.(*softmax)
		if !ok || readers[soft.x.root] != 1 || soft.x.root != soft.x {
			continue
		}
		start := maker[soft.x]
		if start == nil {
			continue
		}
		first, ok := start.fuse.(*matmul)
		if !ok || !slices.Equal(first.batch, second.batch) || !slices.Equal(first.batch, weightsBatch(second, turned)) {
			continue
		}
		// The rows of a softmax must be the sums of the second product, and lie
		// in it as the first product wrote them.
		keys := wm.cols
		stride := wm.col
		rows := first.xm.rows
		if turned {
			keys, stride, rows = wm.rows, wm.row, first.ym.cols
		}
		if soft.axisStride != stride || soft.axisExtent != keys || soft.x.len() != product(first.batch)*rows*keys {
			continue
		}
		if plain := !turned && first.ym.cols == keys && first.row == keys; !plain && (!turned || first.xm.rows != keys) {
			continue
		}
		a := &joined{first: first, second: second, turned: turned, rows: rows, keys: keys, half: second.out.dtype == mil.Float16}
		return &step{op: "attention", ins: append(slices.Clone(start.ins), other(second, turned)), outs: []*node{second.out}, run: a.run},
			[]*step{start, mid}
	}
	return nil, nil
}

func other(m *matmul, turned bool) *node {
	if turned {
		return m.x
	}
	return m.y
}

// weightsBatch is the batch shape that the weights themselves have.
func weightsBatch(m *matmul, turned bool) []int {
	strides := m.xs
	if turned {
		strides = m.ys
	}
	out := slices.Clone(m.batch)
	for d := range out {
		if out[d] > 1 && strides[d] == 0 {
			out[d] = 1 // broadcast: one softmax would serve several products
		}
	}
	return out
}

// joined is the fused step.
type joined struct {
	first, second *matmul
	turned        bool
	rows, keys    int
	half          bool
}

func (j *joined) run(f *frame) {
	one, two := j.first, j.second
	l := &loops{shape: one.batch, strides: [][]int{one.xs, one.ys, two.xs, two.ys, two.os}}
	var heads []kernel.Attention
	for i := range product(one.batch) {
		x, y := f.matrix(one.x, l.position(i, 0), one.xm.row, one.xm.col), f.matrix(one.y, l.position(i, 1), one.ym.row, one.ym.col)
		h := kernel.Attention{Rows: j.rows, Keys: j.keys, Inner: one.xm.cols, Half: j.half}
		if j.turned {
			// (K·Q)ᵀ = Qᵀ·Kᵀ, and out = V·P = (Pᵀ·Vᵀ)ᵀ.
			h.Q, h.K = y.T(), x.T()
			h.Outer = two.xm.rows
			h.V = f.matrix(two.x, l.position(i, 2), two.xm.row, two.xm.col).T()
			h.OutRow, h.OutCol = 1, two.row
		} else {
			h.Q, h.K = x, y
			h.Outer = two.ym.cols
			h.V = f.matrix(two.y, l.position(i, 3), two.ym.row, two.ym.col)
			h.OutRow, h.OutCol = two.row, 1
		}
		at := l.position(i, 4)
		if j.half {
			h.OutHalf = f.f16(two.out)[at:]
		} else {
			h.Out = f.f32(two.out)[at:]
		}
		heads = append(heads, h)
	}
	f.pool.Attend(heads)
}

// makeAttention builds scaled_dot_product_attention as one operation: what is in
// between is float32 even in float16 programs.
func makeAttention(c *call) {
	q, k, v := c.float("query"), c.float("key"), c.float("value")
	mask := c.maybe("attn_mask")
	if c.bad {
		return
	}
	r := len(q.shape)
	if r < 3 || len(k.shape) != r || len(v.shape) != r || k.dtype != q.dtype || v.dtype != q.dtype ||
		!slices.Equal(k.shape[:r-2], q.shape[:r-2]) || !slices.Equal(v.shape[:r-2], q.shape[:r-2]) ||
		k.shape[r-1] != q.shape[r-1] || v.shape[r-2] != k.shape[r-2] {
		c.fail("query %s %v, key %s %v and value %s %v do not fit", q.dtype, q.shape, k.dtype, k.shape, v.dtype, v.shape)
		return
	}
	rows, keys, inner, outer := q.shape[r-2], k.shape[r-2], q.shape[r-1], v.shape[r-1]
	batch := q.shape[:r-2]
	ms, ok := maskStrides(c, mask, q.dtype, append(slices.Clone(batch), rows, keys))
	if !ok {
		return
	}
	out := c.result(0, q.dtype, append(slices.Clone(batch), rows, outer))
	if out == nil {
		return
	}
	l := &loops{shape: batch, strides: [][]int{q.strides[:r-2], k.strides[:r-2], v.strides[:r-2], out.strides[:r-2], ms[:r-2]}}
	scale := float32(1 / math.Sqrt(float64(inner)))
	c.step(out, func(f *frame) {
		var heads []kernel.Attention
		var added []float32
		if mask != nil && mask.dtype == mil.Bool {
			added = f.addend(mask)
		}
		for i := range product(batch) {
			h := kernel.Attention{Rows: rows, Keys: keys, Inner: inner, Outer: outer, Scale: scale, OutRow: outer, OutCol: 1,
				Q: f.matrix(q, l.position(i, 0), q.strides[r-2], q.strides[r-1]),
				K: f.matrix(k, l.position(i, 1), k.strides[r-2], k.strides[r-1]).T(),
				V: f.matrix(v, l.position(i, 2), v.strides[r-2], v.strides[r-1])}
			switch {
			case added != nil:
				h.Mask = &kernel.Matrix{F32: added[l.position(i, 4):], Row: ms[r-2], Col: ms[r-1]}
			case mask != nil:
				m := f.matrix(mask, l.position(i, 4), ms[r-2], ms[r-1])
				h.Mask = &m
			}
			if at := l.position(i, 3); out.dtype == mil.Float16 {
				h.OutHalf = f.f16(out)[at:]
			} else {
				h.Out = f.f32(out)[at:]
			}
			heads = append(heads, h)
		}
		f.pool.Attend(heads)
	}, q, k, v, mask)
}

// maskStrides are the strides by which a mask, which may be nil, is read for scores of a shape. It fails the call and says
// false where the mask does not fit.
func maskStrides(c *call, mask *node, dtype mil.DType, scores []int) ([]int, bool) {
	if mask == nil {
		return make([]int, len(scores)), true
	}
	if mask.dtype != dtype && mask.dtype != mil.Bool {
		c.fail("attn_mask is %s; expected bool or %s", mask.dtype, dtype)
		return nil, false
	}
	shape, _, strides, ok := broadcast(&node{shape: scores, strides: make([]int, len(scores))}, mask)
	if !ok || !slices.Equal(shape, scores) {
		c.fail("attn_mask %v does not broadcast to %v", mask.shape, scores)
		return nil, false
	}
	return strides, true
}

// addend is a boolean mask as what is added to scores: nothing where an element takes part, minus infinity where
// it does not. It has the mask's own strides. A row in which no element takes part has no softmax: it becomes NaN.
func (f *frame) addend(mask *node) []float32 {
	span := 1
	for i, d := range mask.shape {
		span += (d - 1) * mask.strides[i]
	}
	out := make([]float32, span)
	for i, on := range f.u8(mask)[:span] {
		if on == 0 {
			out[i] = float32(math.Inf(-1))
		}
	}
	return out
}
