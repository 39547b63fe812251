package editdist

import "sort"

// A problem is a pair of sequences, their elements numbered, with the positions of each element in the reference.
type problem struct {
	ref, hyp []int32
	starts   []int32 // positions of element x: positions[starts[x]:starts[x+1]], ascending
	position []int32
	dense    [][]uint64 // for elements that are frequent, else nil: bits of their positions, then of the same reversed
	row      rowState
}

// A span is a part of a problem: ref[r0:r1] against hyp[h0:h1].
type span struct{ r0, r1, h0, h1 int }

func (s span) refLen() int { return s.r1 - s.r0 }
func (s span) hypLen() int { return s.h1 - s.h0 }

func newProblem[T comparable](ref, hyp []T) *problem {
	p := &problem{ref: make([]int32, len(ref)), hyp: make([]int32, len(hyp))}
	number := make(map[T]int32, len(ref))
	for i, x := range ref {
		n, ok := number[x]
		if !ok {
			n = int32(len(number))
			number[x] = n
		}
		p.ref[i] = n
	}
	for i, x := range hyp {
		n, ok := number[x]
		if !ok {
			n = -1 // is nowhere in the reference, and equality within the hypothesis is never asked
		}
		p.hyp[i] = n
	}
	p.starts = make([]int32, len(number)+1)
	for _, x := range p.ref {
		p.starts[x+1]++
	}
	for i := 1; i < len(p.starts); i++ {
		p.starts[i] += p.starts[i-1]
	}
	p.position = make([]int32, len(ref))
	fill := append([]int32(nil), p.starts...)
	for i, x := range p.ref {
		p.position[fill[x]] = int32(i)
		fill[x]++
	}
	p.buildDense()
	return p
}

// buildDense makes bit vectors for the elements that are in the reference more often than it has words: copying
// their vector costs less than setting bits one by one. There are fewer than 64 of them.
func (p *problem) buildDense() {
	n := len(p.ref)
	words := n/wordBits + 2
	p.dense = make([][]uint64, len(p.starts)-1)
	for x := range p.dense {
		list := p.position[p.starts[x]:p.starts[x+1]]
		if len(list) < words {
			continue
		}
		d := make([]uint64, 2*words)
		for _, at := range list {
			i, j := int(at), n-1-int(at)
			d[i/wordBits] |= 1 << (i % wordBits)
			d[words+j/wordBits] |= 1 << (j % wordBits)
		}
		p.dense[x] = d
	}
}

func (p *problem) whole() span { return span{0, len(p.ref), 0, len(p.hyp)} }

// trim takes common prefix and suffix off a span.
func (p *problem) trim(s span) span {
	for s.r0 < s.r1 && s.h0 < s.h1 && p.ref[s.r0] == p.hyp[s.h0] {
		s.r0++
		s.h0++
	}
	for s.r0 < s.r1 && s.h0 < s.h1 && p.ref[s.r1-1] == p.hyp[s.h1-1] {
		s.r1--
		s.h1--
	}
	return s
}

// markEqual sets the bits of blocks first to last of dst where the reference's span holds element j, counted from 1, of
// the hypothesis' span. reversed counts both sides from their ends.
func (p *problem) markEqual(dst []uint64, s span, j, first, last int, reversed bool) {
	x := p.hyp[s.h0+j-1]
	if reversed {
		x = p.hyp[s.h1-j]
	}
	dst = dst[first : last+1]
	if x < 0 {
		clear(dst)
		return
	}
	lo, hi := first*wordBits, min((last+1)*wordBits, s.refLen())
	if d := p.dense[x]; d != nil {
		from := s.r0 + lo
		if reversed {
			d, from = d[len(d)/2:], len(p.ref)-s.r1+lo
		}
		copyBits(dst, d, from)
		return
	}
	clear(dst)
	if reversed {
		for _, at := range p.occurrences(x, s.r1-hi, s.r1-lo) {
			i := s.r1 - 1 - int(at) - lo
			dst[i/wordBits] |= 1 << (i % wordBits)
		}
		return
	}
	for _, at := range p.occurrences(x, s.r0+lo, s.r0+hi) {
		i := int(at) - s.r0 - lo
		dst[i/wordBits] |= 1 << (i % wordBits)
	}
}

// copyBits fills dst with the bits of src from bit from on; src ends in a word of zeros. Bits past a span's end may be
// set: no cell that counts lies there.
func copyBits(dst, src []uint64, from int) {
	src = src[from/wordBits:]
	shift := from % wordBits
	for i := range dst {
		if i+1 >= len(src) {
			clear(dst[i:])
			return
		}
		dst[i] = src[i]>>shift | src[i+1]<<(wordBits-shift)
	}
}

// occurrences gives the positions of element x of the reference within [lo, hi).
func (p *problem) occurrences(x int32, lo, hi int) []int32 {
	list := p.position[p.starts[x]:p.starts[x+1]]
	if len(list) > 0 && int(list[0]) < lo {
		list = list[sort.Search(len(list), func(i int) bool { return int(list[i]) >= lo }):]
	}
	if len(list) > 0 && int(list[len(list)-1]) >= hi {
		list = list[:sort.Search(len(list), func(i int) bool { return int(list[i]) >= hi })]
	}
	return list
}

// distance of a span: a narrow band is tried first. What it finds is the cost of some path, so that a band of that
// width, if it was too narrow, holds an optimal one.
func (p *problem) distance(s span) int {
	s = p.trim(s)
	if s.refLen() == 0 || s.hypLen() == 0 {
		return s.refLen() + s.hypLen()
	}
	bound := firstGuess(s)
	d := p.rows(s, s.hypLen(), bound, false, nil).last()
	if d > bound {
		d = p.rows(s, s.hypLen(), d, false, nil).last()
	}
	return d
}

// firstGuess is a distance that transcripts of the same speech seldom exceed; a band for it costs an eighth of all.
func firstGuess(s span) int {
	m, n := s.refLen(), s.hypLen()
	return max(m-n, n-m) + max(64, min(m, n)/16)
}
