package editdist

import "slices"

// An aligner collects the edits of an alignment from left to right.
type aligner struct {
	*problem
	edits       []edit
	left, right []int
	stored      []block
}

// storedLimit is the size in bytes of the bit vectors that are stored; a larger problem is divided. It decides ties,
// see the package comment.
const storedLimit = 1 << 20

// align adds the edits of span s, whose distance is at most bound.
func (a *aligner) align(s span, bound int) {
	s = a.trim(s)
	m, n := s.refLen(), s.hypLen()
	bound = min(bound, max(m, n))
	wide := min(m, 2*bound+1)
	if 2*wide*n/8 < storedLimit || m < 65 || n < 10 {
		a.alignStored(s, bound)
		return
	}
	mid, leftCost, rightCost := a.divide(s)
	a.align(span{s.r0, s.r0 + mid, s.h0, s.h0 + n/2}, leftCost)
	a.align(span{s.r0 + mid, s.r1, s.h0 + n/2, s.h1}, rightCost)
}

// divide finds the smallest position in the reference through which an optimal path passes at the middle of the
// hypothesis, with the distances of both parts.
func (a *aligner) divide(s span) (mid, leftCost, rightCost int) {
	m, n := s.refLen(), s.hypLen()
	for bound := firstGuess(s); ; bound = leftCost + rightCost {
		a.right = a.rows(s, n-n/2, bound, true, nil).values(a.right)
		a.left = a.rows(s, n/2, bound, false, nil).values(a.left)
		best := tooLarge
		for i, l := range a.left {
			if r := a.right[m-i]; l+r < best {
				best, mid, leftCost, rightCost = l+r, i, l, r
			}
		}
		if best <= bound {
			return mid, leftCost, rightCost
		}
	}
}

// alignStored stores every row within the band and walks back from the end.
func (a *aligner) alignStored(s span, bound int) {
	m, n := s.refLen(), s.hypLen()
	row, col := n, m
	at := len(a.edits)
	if m > 0 && n > 0 {
		type place struct{ first, begin int }
		places := make([]place, n)
		a.stored = a.stored[:0]
		a.rows(s, n, bound, false, func(j, first int, blocks []block) {
			places[j] = place{first, len(a.stored)}
			a.stored = append(a.stored, blocks...)
		})
		at := func(j, i int) (block, uint64) { // the block of row j that holds bit i, if it was stored
			p := places[j]
			b := i/wordBits - p.first
			end := len(a.stored)
			if j+1 < n {
				end = places[j+1].begin
			}
			if b < 0 || p.begin+b >= end {
				return block{}, 0
			}
			return a.stored[p.begin+b], 1 << (i % wordBits)
		}
		for row > 0 && col > 0 {
			if b, bit := at(row-1, col-1); b.plus&bit != 0 {
				col--
				a.add(Delete, s, col, row)
				continue
			}
			row--
			if row > 0 {
				if b, bit := at(row-1, col-1); b.minus&bit != 0 {
					a.add(Insert, s, col, row)
					continue
				}
			}
			col--
			if a.ref[s.r0+col] != a.hyp[s.h0+row] {
				a.add(Substitute, s, col, row)
			}
		}
	}
	for ; col > 0; col-- {
		a.add(Delete, s, col-1, row)
	}
	for ; row > 0; row-- {
		a.add(Insert, s, col, row-1)
	}
	slices.Reverse(a.edits[at:])
}

func (a *aligner) add(op Op, s span, col, row int) {
	a.edits = append(a.edits, edit{op, int32(s.r0 + col), int32(s.h0 + row)})
}
