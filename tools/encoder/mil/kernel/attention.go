package kernel

import "cmp"

// Attention is out = softmax(Q·K · Scale + Mask)·V for one head, row by row, so
// that no more than a block of scores exists at a time. The bytes are those that
// two products and a softmax between them give.
type Attention struct {
	Rows, Keys   int // positions that ask and that answer
	Inner, Outer int // extent of a query, extent of a value
	// Q is Rows by Inner, K is Inner by Keys, V is Keys by Outer.
	Q, K, V Matrix
	// Scale multiplies scores; 0 means no multiplication.
	Scale float32
	// Mask, when set, is Rows by Keys and is added after scaling.
	Mask *Matrix
	// Half rounds scores and weights to float16, as separate float16 operations
	// would.
	Half bool
	// Element (i, j) of the result is at i*OutRow + j*OutCol.
	Out            []float32
	OutHalf        []uint16
	OutRow, OutCol int
}

// attentionRows is the number of rows whose scores are held at once: a whole
// number of tiles, few enough for a core's own cache.
const attentionRows = 48

// Attend computes heads on all threads. All must have the same extents.
func (p *Pool) Attend(heads []Attention) {
	if len(heads) == 0 {
		return
	}
	a := &heads[0]
	kPanels, vPanels := (a.Keys+tileCols-1)/tileCols, (a.Outer+tileCols-1)/tileCols
	kSize, vSize := kPanels*tileCols*a.Inner, vPanels*tileCols*a.Keys
	packed := p.room(len(heads) * (kSize + vSize))
	blocks := (a.Rows + attentionRows - 1) / attentionRows
	p.RunAfter(len(heads)*(kPanels+vPanels), func(worker, i int) {
		h, panel := &heads[i/(kPanels+vPanels)], i%(kPanels+vPanels)
		dst := packed[i/(kPanels+vPanels)*(kSize+vSize):]
		if panel < kPanels {
			at := panel * tileCols
			packPanel(dst[at*a.Inner:(at+tileCols)*a.Inner], p, worker, h.K, a.Inner, at, min(tileCols, a.Keys-at))
			return
		}
		at := (panel - kPanels) * tileCols
		packPanel(dst[kSize+at*a.Keys:kSize+(at+tileCols)*a.Keys], p, worker, h.V, a.Keys, at, min(tileCols, a.Outer-at))
	}, len(heads)*blocks, func(worker, i int) {
		head, row := i/blocks, i%blocks*attentionRows
		own := packed[head*(kSize+vSize):]
		heads[head].block(p, worker, own[:kSize], own[kSize:kSize+vSize], row)
	})
}

// block computes the rows from row on.
func (h *Attention) block(p *Pool, worker int, k, v []float32, row int) {
	n := min(attentionRows, h.Rows-row)
	// A row of scores has room for whole panels, so that none is cut off and each begins a cache line.
	ld := (h.Keys + tileCols - 1) / tileCols * tileCols
	room := attentionRows * (ld + h.Outer + blockK)
	s := p.Scratch(worker, room+tileSize+widenSize+h.Keys)
	scores, s := s[:n*ld], s[attentionRows*ld:]
	out, s := s[:n*h.Outer], s[attentionRows*h.Outer:]
	left, s := s[:attentionRows*blockK], s[attentionRows*blockK:]
	tile, s := s[:tileSize], s[tileSize:]
	tmp, line := s[:widenSize], s[widenSize:widenSize+h.Keys]

	q := Matrix{F32: from(h.Q.F32, row*h.Q.Row), F16: from(h.Q.F16, row*h.Q.Row), Row: h.Q.Row, Col: h.Q.Col}
	multiplyBlock(&blockArgs{in: n, jn: ld, k: h.Inner, left: q, right: k, out: scores, ld: ld, packed: left, tile: tile, tmp: tmp})
	for i := range n {
		r := scores[i*ld : i*ld+h.Keys]
		h.weigh(r, line, row+i, ld)
	}
	multiplyBlock(&blockArgs{in: n, jn: h.Outer, k: h.Keys, left: Matrix{F32: scores, Row: ld, Col: 1}, right: v,
		out: out, ld: h.Outer, packed: left, tile: tile, tmp: tmp})
	for i := range n {
		h.store(out[i*h.Outer:(i+1)*h.Outer], (row+i)*h.OutRow)
	}
}

// weigh turns a row of scores into weights. The next row begins ahead elements after it.
func (h *Attention) weigh(r, line []float32, row, ahead int) {
	if h.Mask == nil && !h.Half {
		softmaxScaled(r, cmp.Or(h.Scale, 1), ahead)
		return
	}
	if h.Mask == nil && h.Scale == 0 {
		softmaxHalf(r, ahead)
		return
	}
	if h.Scale != 0 {
		scale(r, h.Scale)
	}
	if m := h.Mask; m != nil {
		for j := range line {
			at := row*m.Row + j*m.Col
			if m.F16 != nil {
				line[j] = HalfToFloat32(m.F16[at])
			} else {
				line[j] = m.F32[at]
			}
		}
		Add(r, r, line)
	}
	if h.Half {
		roundToHalf(r)
	}
	Softmax(r, r)
	if h.Half {
		roundToHalf(r)
	}
}

func (h *Attention) store(v []float32, at int) {
	switch {
	case h.OutCol != 1:
		for j, x := range v {
			if h.OutHalf != nil {
				h.OutHalf[at+j*h.OutCol] = Float32ToHalf(x)
			} else {
				h.Out[at+j*h.OutCol] = x
			}
		}
	case h.OutHalf != nil:
		Narrow(h.OutHalf[at:at+len(v)], v)
	default:
		copy(h.Out[at:], v)
	}
}
