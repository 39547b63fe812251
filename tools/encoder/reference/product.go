package reference

import "math"

// A product is cut into tiles of six rows by eight columns, whose sums stay in registers, and k into
// chains that a core's nearest cache holds. The sum of one element runs through all of k in order, one
// fused multiply-add after the other, whatever the tile, the chain, the thread and the processor.
const (
	tileRows    = 6
	tileColumns = 8
	chain       = 128
	bandRows    = 10 * tileRows // rows that one thread takes at a time
)

// matrix is a view: the element in row i and column j is v[i*row+j*column].
type matrix[T float32 | float64] struct {
	v             []T
	rows, columns int
	row, column   int
}

// view is a whole matrix, row by row.
func view[T float32 | float64](v []T, rows, columns int) matrix[T] {
	return matrix[T]{v, rows, columns, columns, 1}
}

// part is size columns of x from column at on.
func (x matrix[T]) part(at, size int) matrix[T] {
	x.v, x.columns = x.v[at*x.column:], size
	return x
}

func (x matrix[T]) transposed() matrix[T] {
	return matrix[T]{x.v, x.columns, x.rows, x.column, x.row}
}

// panels is the right side of a product: columns by eight, within a panel one row after the other.
type panels struct {
	v             []float64
	rows, columns int
}

// pack lays b out in panels; columns that b has not are zeros.
func pack[T float32 | float64](r *run, b matrix[T]) panels {
	p := panels{rows: b.rows, columns: b.columns}
	n := (b.columns + tileColumns - 1) / tileColumns
	size := n * tileColumns * b.rows
	if cap(r.packed) < size {
		r.packed = make([]float64, size)
	}
	p.v = r.packed[:size]
	r.parallel(n, func(i int) {
		to := p.v[i*tileColumns*b.rows : (i+1)*tileColumns*b.rows]
		width := min(tileColumns, b.columns-i*tileColumns)
		if width < tileColumns {
			clear(to)
		}
		for j := range width {
			from := b.v[(i*tileColumns+j)*b.column:]
			for k := range b.rows {
				to[k*tileColumns+j] = float64(from[k*b.row])
			}
		}
	})
	return p
}

// multiply writes a·b, whose rows lie stride values apart in out. Rows of a lie value beside value.
func (r *run) multiply(out []float64, stride int, a matrix[float64], b panels) {
	r.parallel((a.rows+bandRows-1)/bandRows, func(band int) {
		first := band * bandRows
		last := min(first+bandRows, a.rows)
		for k := 0; k < b.rows; k += chain {
			n := min(chain, b.rows-k)
			panel := func(j int) []float64 { return b.v[j*b.rows+k*tileColumns:][:n*tileColumns] }
			for j := 0; j < b.columns; {
				i := first
				if b.columns-j >= 2*tileColumns {
					for ; last-i >= 2*tileRows && fourTiles(n, a.v[i*a.row+k:], a.row, panel(j), panel(j+tileColumns), out[i*stride+j:], stride, k > 0); i += 2 * tileRows {
					}
				}
				// Rows that are left after four tiles at a time are so in both panels.
				end := min(j+tileColumns, b.columns)
				if i > first {
					end = j + 2*tileColumns
				}
				for ; j < end; j += tileColumns {
					for i := i; i < last; i += tileRows {
						rows, columns := min(tileRows, last-i), min(tileColumns, b.columns-j)
						left, to := a.v[i*a.row+k:], out[i*stride+j:]
						if rows == tileRows && columns == tileColumns {
							tile(n, left, a.row, panel(j), to, stride, k > 0)
						} else {
							cutOff(rows, columns, n, left, a.row, panel(j), to, stride, k > 0)
						}
					}
				}
			}
		}
	})
}

// cutOff is a tile at the edge: it goes through whole tiles of its own.
func cutOff(rows, columns, k int, a []float64, aStride int, b, c []float64, cStride int, add bool) {
	var left [tileRows * chain]float64
	var sums [tileRows * tileColumns]float64
	for i := range rows {
		copy(left[i*chain:][:k], a[i*aStride:])
		copy(sums[i*tileColumns:][:columns], c[i*cStride:])
	}
	tile(k, left[:], chain, b, sums[:], tileColumns, add)
	for i := range rows {
		copy(c[i*cStride:][:columns], sums[i*tileColumns:])
	}
}

// tileGo is tile for every processor: two rows by four columns at a time, as many sums as there are
// registers for.
func tileGo(k int, a []float64, aStride int, b, c []float64, cStride int, add bool) {
	for i := 0; i < tileRows; i += 2 {
		a0, a1 := a[i*aStride:][:k], a[(i+1)*aStride:][:k]
		for j := 0; j < tileColumns; j += 4 {
			c0, c1 := c[i*cStride+j:][:4], c[(i+1)*cStride+j:][:4]
			var s0, s1, s2, s3, t0, t1, t2, t3 float64
			if add {
				s0, s1, s2, s3 = c0[0], c0[1], c0[2], c0[3]
				t0, t1, t2, t3 = c1[0], c1[1], c1[2], c1[3]
			}
			for x, p := range a0 {
				q := a1[x]
				y := b[x*tileColumns+j:][:4]
				s0 = math.FMA(p, y[0], s0)
				s1 = math.FMA(p, y[1], s1)
				s2 = math.FMA(p, y[2], s2)
				s3 = math.FMA(p, y[3], s3)
				t0 = math.FMA(q, y[0], t0)
				t1 = math.FMA(q, y[1], t1)
				t2 = math.FMA(q, y[2], t2)
				t3 = math.FMA(q, y[3], t3)
			}
			c0[0], c0[1], c0[2], c0[3] = s0, s1, s2, s3
			c1[0], c1[1], c1[2], c1[3] = t0, t1, t2, t3
		}
	}
}
