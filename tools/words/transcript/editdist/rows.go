package editdist

import "math/bits"

const wordBits = 64

// A block is 64 vertical differences of one matrix row: a bit of plus where the value grows from a cell to the next
// along the reference, a bit of minus where it falls.
type block struct{ plus, minus uint64 }

// A band is the range of diagonals (reference position minus hypothesis position) that paths of a given cost reach.
type band struct{ lo, hi int }

// bandOf gives the diagonals on which a path of at most cost edits can lie between sequences of m and n elements.
func bandOf(m, n, cost int) band {
	delta := m - n
	slack := (cost - max(delta, -delta)) / 2
	return band{min(0, delta) - slack, max(0, delta) + slack}
}

// blocks gives the first and last block that hold the band's cells after j elements of the hypothesis; m > 0.
func (b band) blocks(j, m int) (first, last int) {
	lo := min(max(j+b.lo, 1), m)
	hi := min(max(j+b.hi, 1), m)
	return (lo - 1) / wordBits, (hi - 1) / wordBits
}

// rowState is the working memory of rows, kept between calls.
type rowState struct {
	blocks []block
	equal  [2][]uint64 // bits where the reference holds the hypothesis' next element, and the one after
	first  int         // blocks[first:lastB+1] hold the last row
	lastB  int
	base   int // value of the cell above block first
	m      int
}

// A recorder gets every row of blocks: the bits of row j (from 0) begin with block first.
type recorder func(j, first int, row []block)

// rows computes the first n rows of the matrix of span s within the band for cost; reversed reads both sides from
// their ends. Values outside the band may be too large, values on a path of at most cost are exact. The span's sides
// are not empty.
func (p *problem) rows(s span, n, cost int, reversed bool, record recorder) *rowState {
	st, m := &p.row, s.refLen()
	words := (m + wordBits - 1) / wordBits
	st.reset(words)
	st.m = m
	within := bandOf(m, s.hypLen(), cost)
	st.first, st.lastB = within.blocks(0, m)
	for j := 1; j <= n; {
		// Two rows at once overlap in the processor; a recorder wants to see each.
		pair := j < n && record == nil
		first, last := within.blocks(j, m)
		if pair {
			_, last = within.blocks(j+1, m)
		}
		for ; st.first < first; st.first++ {
			b := st.blocks[st.first]
			st.base += bits.OnesCount64(b.plus) - bits.OnesCount64(b.minus)
		}
		st.lastB = last
		run := st.blocks[first : last+1]
		p.markEqual(st.equal[0], s, j, first, last, reversed)
		if pair {
			p.markEqual(st.equal[1], s, j+1, first, last, reversed)
			advanceTwo(run, st.equal[0][first:last+1], st.equal[1][first:last+1])
			st.base += 2
			j += 2
			continue
		}
		advance(run, st.equal[0][first:last+1])
		st.base++
		if record != nil {
			record(j-1, first, run)
		}
		j++
	}
	return st
}

func (st *rowState) reset(words int) {
	if cap(st.blocks) < words {
		st.blocks = make([]block, words)
		st.equal = [2][]uint64{make([]uint64, words), make([]uint64, words)}
	}
	st.blocks = st.blocks[:words]
	for i := range st.blocks {
		st.blocks[i] = block{plus: ^uint64(0)}
	}
	st.base = 0
}

// advance computes the next row of a run of blocks from the last one and the bits of equal elements. The value above
// the run grows by one, as at the matrix's edge; inside a matrix that is the largest it can be.
func advance(row []block, equal []uint64) {
	plusIn, minusIn := uint64(1), uint64(0)
	equal = equal[:len(row)]
	for i := range row {
		plus, minus := row[i].plus, row[i].minus
		x := equal[i] | minusIn
		diagonal := (((x & plus) + plus) ^ plus) | x | minus
		across := minus | ^(diagonal | plus)
		down := diagonal & plus
		acrossIn := across<<1 | plusIn
		row[i] = block{plus: down<<1 | minusIn | ^(diagonal | acrossIn), minus: acrossIn & diagonal}
		plusIn, minusIn = across>>63, down>>63
	}
}

// advanceTwo does what two calls of advance do, one after the other.
func advanceTwo(row []block, equal, equal2 []uint64) {
	plusIn, minusIn := uint64(1), uint64(0)
	plusIn2, minusIn2 := uint64(1), uint64(0)
	equal, equal2 = equal[:len(row)], equal2[:len(row)]
	for i := range row {
		plus, minus := row[i].plus, row[i].minus
		x := equal[i] | minusIn
		diagonal := (((x & plus) + plus) ^ plus) | x | minus
		across := minus | ^(diagonal | plus)
		down := diagonal & plus
		acrossIn := across<<1 | plusIn
		plus, minus = down<<1|minusIn|^(diagonal|acrossIn), acrossIn&diagonal
		plusIn, minusIn = across>>63, down>>63

		x = equal2[i] | minusIn2
		diagonal = (((x & plus) + plus) ^ plus) | x | minus
		across = minus | ^(diagonal | plus)
		down = diagonal & plus
		acrossIn = across<<1 | plusIn2
		row[i] = block{plus: down<<1 | minusIn2 | ^(diagonal | acrossIn), minus: acrossIn & diagonal}
		plusIn2, minusIn2 = across>>63, down>>63
	}
}

// last gives the value of the last cell of the last row.
func (st *rowState) last() int {
	d := st.base
	for i := st.first; i <= st.lastB; i++ {
		b := st.blocks[i]
		if n := st.m - i*wordBits; n < wordBits {
			mask := uint64(1)<<n - 1
			b.plus &= mask
			b.minus &= mask
		}
		d += bits.OnesCount64(b.plus) - bits.OnesCount64(b.minus)
	}
	return d
}

// tooLarge stands for the value of a cell outside the band.
const tooLarge = 1 << 40

// values writes the values of the last row, one for each cell 0 … m, into dst.
func (st *rowState) values(dst []int) []int {
	dst = dst[:0]
	for range st.first * wordBits {
		dst = append(dst, tooLarge)
	}
	v := st.base
	dst = append(dst, v)
	for i := st.first; i <= st.lastB; i++ {
		b := st.blocks[i]
		for n := min(wordBits, st.m-i*wordBits); n > 0; n-- {
			v += int(b.plus&1) - int(b.minus&1)
			b.plus >>= 1
			b.minus >>= 1
			dst = append(dst, v)
		}
	}
	for len(dst) <= st.m {
		dst = append(dst, tooLarge)
	}
	return dst
}
