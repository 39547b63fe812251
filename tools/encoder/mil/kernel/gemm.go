package kernel

import "unsafe"

// The register tile of the assembly, and the blocks of one unit of work.
const (
	tileRows = 6
	tileCols = 16
	blockK   = 256 // longest chain of additions before a block sum is stored
	blockM   = 96  // rows of one unit: 16 tiles
	blockN   = 576 // columns of one unit: 36 tiles
)

// Product is out[i][j] = sum over k of A[i][k]*B[k][j], plus bias.
// Out has Stride elements to a row, in float32 (Out) or rounded once to float16
// (OutHalf).
type Product struct {
	M, N, K int
	A       Matrix
	B       Source
	Out     []float32
	OutHalf []uint16
	Stride  int
	// RowBias has M values, ColBias N values; either may be nil. They are added
	// last, in float32.
	RowBias, ColBias []float32
	// Then is carried out on each finished row of a block, in order, while a cache still holds it. Where the output is
	// float16 a row is rounded before each, as if it were stored in between.
	Then []Follow
	// At is the place of the first element of Out, as Then sees it.
	At int
}

// Follow changes the values of one row in place. It has room for as many values in tmp, and is told at which place of
// the output the first of them lies. Rows come in any order and from any thread.
type Follow func(row, tmp []float32, at int)

// Multiply carries out one product on all threads.
func (p *Pool) Multiply(g *Product) {
	if g.M == 0 || g.N == 0 {
		return
	}
	// The whole right side is laid out in panels of 16 columns; within a panel k runs from 0 to K.
	panels := (g.N + tileCols - 1) / tileCols
	right := p.room(panels * tileCols * g.K)
	rows, cols := split(g.M, blockM, 2*tileRows), split(g.N, blockN, 2*tileCols)
	p.RunAfter(panels, func(worker, i int) {
		packPanel(right[i*tileCols*g.K:(i+1)*tileCols*g.K], p, worker, g.B, g.K, i*tileCols, min(tileCols, g.N-i*tileCols))
	}, rows.n*cols.n, func(worker, i int) {
		u := unit{Product: g, right: right, pool: p, worker: worker}
		row, col := place(i, rows.n, cols.n, p.threads)
		u.i0, u.in = rows.part(row)
		u.j0, u.jn = cols.part(col)
		u.run()
	})
}

// place is the block of the i-th unit. Each worker has a band of rows; within it all rows of one block of columns come
// first, so that it finds the panels in its own cache again.
func place(i, rows, cols, workers int) (row, col int) {
	band := i / cols * workers / rows
	for band > 0 && rows*band/workers*cols > i {
		band--
	}
	for rows*(band+1)/workers*cols <= i {
		band++
	}
	from, to := rows*band/workers, rows*(band+1)/workers
	i -= from * cols
	return from + i%(to-from), i / (to - from)
}

// blocks are n nearly equal parts of an extent, each a whole number of steps but the last.
type blocks struct{ extent, step, n int }

// split makes as few parts as there can be of no more than most, which is a whole number of steps.
func split(extent, most, step int) blocks {
	return blocks{extent: extent, step: step, n: (extent + most - 1) / most}
}

// part is where the i-th begins and how long it is.
func (b blocks) part(i int) (from, length int) {
	steps := (b.extent + b.step - 1) / b.step
	from = steps * i / b.n * b.step
	return from, min(steps*(i+1)/b.n*b.step, b.extent) - from
}

// kBlocks calls do for each block of k, nearly equal in length.
func kBlocks(k int, do func(k0, kn int)) {
	n := (k + blockK - 1) / blockK
	for i := range n {
		from, to := k*i/n, k*(i+1)/n
		do(from, to-from)
	}
}

// packPanel packs columns [j0, j0+jn), a block of k at a time to bound scratch.
func packPanel(dst []float32, p *Pool, worker int, b Source, k, j0, jn int) {
	tmp := p.Scratch(worker, blockK*tileCols)
	kBlocks(k, func(k0, kn int) {
		b.pack(dst[k0*tileCols:(k0+kn)*tileCols], tmp, k0, kn, j0, jn, tileCols)
	})
}

// unit is the work of one thread on one block of the output.
type unit struct {
	*Product
	right          []float32
	pool           *Pool
	worker         int
	i0, in, j0, jn int
}

// Scratch of a unit: packed left rows, one loose tile, room to widen, and the
// float32 block of a float16 output.
const (
	leftSize   = blockM * blockK // and room for a row, once the block is multiplied
	tileSize   = tileRows * tileCols
	widenSize  = tileRows * blockK
	resultSize = blockM * blockN
)

func (u *unit) run() {
	s := u.pool.Scratch(u.worker, leftSize+tileSize+widenSize+resultSize)
	left, s := s[:leftSize], s[leftSize:]
	tile, s := s[:tileSize], s[tileSize:]
	tmp, block := s[:widenSize], s[widenSize:]
	out, ld := block, u.jn
	if u.OutHalf == nil {
		out, ld = u.Out[u.i0*u.Stride+u.j0:], u.Stride
	}
	multiplyBlock(&blockArgs{
		in: u.in, jn: u.jn, k: u.K,
		left:  Matrix{F32: from(u.A.F32, u.i0*u.A.Row), F16: from(u.A.F16, u.i0*u.A.Row), Row: u.A.Row, Col: u.A.Col},
		right: u.right[u.j0*u.K:], out: out, ld: ld,
		packed: left, tile: tile, tmp: tmp,
	})
	for i := range u.in {
		row := out[i*ld : i*ld+u.jn]
		if u.RowBias != nil {
			v := u.RowBias[u.i0+i]
			for j := range row {
				row[j] += v
			}
		}
		half := u.OutHalf != nil && len(u.Then) > 0 // what follows takes what would be stored
		switch {
		case u.ColBias != nil && half:
			addToHalf(row, u.ColBias[u.j0:u.j0+u.jn])
		case u.ColBias != nil:
			Add(row, row, u.ColBias[u.j0:u.j0+u.jn])
		case half:
			roundToHalf(row)
		}
		at := (u.i0+i)*u.Stride + u.j0
		for i, do := range u.Then {
			if half && i > 0 {
				roundToHalf(row)
			}
			do(row, left[:len(row)], u.At+at)
		}
		if u.OutHalf != nil {
			Narrow(u.OutHalf[at:at+u.jn], row)
		}
	}
}

func from[T any](s []T, at int) []T {
	if s == nil {
		return nil
	}
	return s[at:]
}

// blockArgs is a product over all of k whose left side starts at row zero and
// whose right side is packed panels.
type blockArgs struct {
	in, jn, k         int
	left              Matrix
	right             []float32
	out               []float32
	ld                int
	packed, tile, tmp []float32
}

func multiplyBlock(a *blockArgs) {
	if a.k == 0 {
		for i := range a.in {
			clear(a.out[i*a.ld : i*a.ld+a.jn])
		}
		return
	}
	kBlocks(a.k, func(k0, kn int) {
		left := a.lay(k0, kn)
		if useWide && k0+kn < a.k {
			a.fetch(k0 + kn)
		}
		for j := 0; j < a.jn; {
			cols, i := tileCols, 0
			if useWide && a.jn-j >= 2*tileCols {
				cols = 2 * tileCols
				i = a.wide(left, 0, min(left.direct, a.in), j, k0, kn)
				i = a.wide(left, i, a.in, j, k0, kn)
			}
			for ; i < a.in; i += tileRows {
				l, rs, cs := left.rows(i)
				for c := 0; c < cols; c += tileCols {
					a.one(l, rs, cs, a.right[(j+c)*a.k+k0*tileCols:], i, j+c, kn, k0 > 0)
				}
			}
			j += cols
		}
	})
}

// leftRows is a block of k of the left side: rows below direct lie row after row, the others in packs of six.
type leftRows struct {
	direct, row int
	plain       []float32
	packed      []float32
	kn          int
}

// lay makes a block of k ready: whole tiles of plain rows are read where they lie, rows of float16 are widened, and what
// lies otherwise is packed.
func (a *blockArgs) lay(k0, kn int) leftRows {
	l := leftRows{packed: a.packed, kn: kn}
	switch {
	case useAsm && a.left.F16 != nil && a.left.Col == 1:
		widenRows(a.packed, a.left.F16[k0:], a.left.Row, a.in, kn)
		// The last tile may reach into rows that are not there; what comes of them is cut off.
		l.direct, l.row, l.plain = a.in+tileRows, kn, a.packed
		return l
	case useAsm && a.left.F32 != nil && a.left.Col == 1:
		l.direct, l.row, l.plain = a.in/tileRows*tileRows, a.left.Row, a.left.F32[k0:]
	}
	for i := l.direct; i < a.in; i += tileRows {
		a.left.T().pack(a.packed[(i-l.direct)*kn:], a.tmp, k0, kn, i, min(tileRows, a.in-i), tileRows)
	}
	return l
}

// fetch asks for the left side's block of k from k0 on, which is wanted next.
func (a *blockArgs) fetch(k0 int) {
	if a.left.Col != 1 {
		return
	}
	n := min(blockK, a.k-k0)
	if h := a.left.F16; h != nil {
		_ = h[(a.in-1)*a.left.Row+k0+n-1]
		fetchRows((*byte)(unsafe.Pointer(&h[k0])), 2*a.left.Row, a.in, 2*n)
	} else {
		f := a.left.F32
		_ = f[(a.in-1)*a.left.Row+k0+n-1]
		fetchRows((*byte)(unsafe.Pointer(&f[k0])), 4*a.left.Row, a.in, 4*n)
	}
}

// rows is where the rows from i on lie, with the steps from row to row and from k to k.
func (l *leftRows) rows(i int) (at []float32, rs, cs int) {
	if i < l.direct {
		return l.plain[i*l.row:], l.row, 1
	}
	return l.packed[(i-l.direct)*l.kn:], 1, tileRows
}

// wide computes tiles of two by two at column j in registers of 512 bits, as many as there are in rows i to end, which lie
// in one way. It returns the first row that is left.
func (a *blockArgs) wide(left leftRows, i, end, j, k0, kn int) int {
	const rows, cols = 2 * tileRows, 2 * tileCols
	tiles := (end - i) / rows
	if tiles <= 0 {
		return i
	}
	l, rs, _ := left.rows(i)
	b, c, gap := a.right[j*a.k+k0*tileCols:], a.out[i*a.ld+j:], tileCols*a.k
	_, _ = b[gap+kn*tileCols-1], c[(rows*tiles-1)*a.ld+cols-1]
	mode := 0
	if k0 > 0 {
		mode = 1
	}
	// The panels to come, which four tiles fetch.
	next, fetch := b, 4
	if n := j + cols; n+cols <= a.jn {
		next = a.right[n*a.k+k0*tileCols:]
	} else if k0+kn < a.k {
		next = a.right[(k0+kn)*tileCols:]
	} else {
		fetch = 0
	}
	if i < left.direct {
		_ = l[(rows*tiles-1)*rs+kn-1]
		gemmWide(kn, tiles, &l[0], 4*rs, &b[0], 4*gap, &c[0], 4*a.ld, mode, &next[0], fetch)
	} else {
		_ = l[rows*tiles*kn-1]
		gemmWidePacked(kn, tiles, &l[0], &b[0], 4*gap, &c[0], 4*a.ld, mode, &next[0], fetch)
	}
	return i + rows*tiles
}

// one computes a tile at (i, j), through a loose tile where it is cut off.
func (a *blockArgs) one(l []float32, rs, cs int, b []float32, i, j, kn int, add bool) {
	rows, cols := min(tileRows, a.in-i), min(tileCols, a.jn-j)
	if rows == tileRows && cols == tileCols {
		c := a.out[i*a.ld+j:]
		_ = c[(tileRows-1)*a.ld+tileCols-1]
		tileProduct(kn, l, rs, cs, b, c, a.ld, add)
		return
	}
	tileProduct(kn, l, rs, cs, b, a.tile, tileCols, false)
	for r := range rows {
		to := a.out[(i+r)*a.ld+j : (i+r)*a.ld+j+cols]
		for c, v := range a.tile[r*tileCols : r*tileCols+cols] {
			if add {
				v += to[c]
			}
			to[c] = v
		}
	}
}

func tileProduct(k int, a []float32, rs, cs int, b, c []float32, ldc int, add bool) {
	if useAsm {
		_, _ = a[(tileRows-1)*rs+(k-1)*cs], b[k*tileCols-1]
		mode := 0
		if add {
			mode = 1
		}
		gemmTile(k, &a[0], 4*rs, 4*cs, &b[0], &c[0], 4*ldc, mode)
		return
	}
	for i := range tileRows {
		var acc [tileCols]float32
		for x := range k {
			v := a[i*rs+x*cs]
			for j, w := range b[x*tileCols : (x+1)*tileCols] {
				acc[j] += float32(v * w)
			}
		}
		row := c[i*ldc : i*ldc+tileCols]
		for j, v := range acc {
			if add {
				v += row[j]
			}
			row[j] = v
		}
	}
}
