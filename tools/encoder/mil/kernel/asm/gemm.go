package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Rows and columns of one register tile: twelve accumulators, two lanes of the
// right side and one broadcast of the left fill fifteen of sixteen registers.
const (
	tileRows = 6
	tileCols = 16
)

// gemm emits the register tile: c[6][16] = or += sum over k of a[i][k] * b[k][j].
// The sum over k is one chain of fused multiply-adds per element, in order of k.
func gemm() {
	TEXT("gemmTile", NOSPLIT, "func(k int, a *float32, rs, cs int, b *float32, c *float32, ldc int, add int)")
	Pragma("noescape")
	Doc("gemmTile computes a 6 by 16 tile. Strides are in bytes; b is packed k-major, 16 lanes; add 0 stores, 1 adds to c.")
	k := Load(Param("k"), GP64())
	a0 := Load(Param("a"), GP64())
	rs := Load(Param("rs"), GP64())
	cs := Load(Param("cs"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())

	a3 := GP64()
	LEAQ(Mem{Base: a0, Index: rs, Scale: 2}, a3)
	ADDQ(rs, a3)

	acc := make([][2]VecVirtual, tileRows)
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = YMM()
			VXORPS(acc[i][j], acc[i][j], acc[i][j])
		}
	}
	step := func(off int) {
		b0, b1 := YMM(), YMM()
		VMOVUPS(Mem{Base: b, Disp: off * 64}, b0)
		VMOVUPS(Mem{Base: b, Disp: off*64 + 32}, b1)
		for i := 0; i < tileRows; i++ {
			base := a0
			if i >= 3 {
				base = a3
			}
			m := Mem{Base: base}
			if i%3 > 0 {
				m.Index, m.Scale = rs, uint8(i%3)
			}
			x := YMM()
			VBROADCASTSS(m, x)
			VFMADD231PS(b0, x, acc[i][0])
			VFMADD231PS(b1, x, acc[i][1])
		}
		ADDQ(cs, a0)
		ADDQ(cs, a3)
	}

	const unroll = 4
	Label("gemm_loop4")
	CMPQ(k, Imm(unroll))
	JL(LabelRef("gemm_loop1"))
	for u := 0; u < unroll; u++ {
		step(u)
	}
	ADDQ(U32(unroll*64), b)
	SUBQ(Imm(unroll), k)
	JMP(LabelRef("gemm_loop4"))

	Label("gemm_loop1")
	TESTQ(k, k)
	JZ(LabelRef("gemm_store"))
	step(0)
	ADDQ(Imm(64), b)
	DECQ(k)
	JMP(LabelRef("gemm_loop1"))

	Label("gemm_store")
	TESTQ(add, add)
	JZ(LabelRef("gemm_plain"))
	for i := 0; i < tileRows; i++ {
		for j := 0; j < 2; j++ {
			m := Mem{Base: c, Disp: 32 * j}
			VADDPS(m, acc[i][j], acc[i][j])
			VMOVUPS(acc[i][j], m)
		}
		if i+1 < tileRows {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()

	Label("gemm_plain")
	for i := 0; i < tileRows; i++ {
		for j := 0; j < 2; j++ {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: 32 * j})
		}
		if i+1 < tileRows {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// transposePack emits the packing of 16 rows whose k runs contiguously into
// k-major lanes, four k at a time by 4x4 transposes in 128-bit halves.
func transposePack() {
	TEXT("packTransposed16", NOSPLIT, "func(dst *float32, src *float32, ld int, n int)")
	Pragma("noescape")
	Doc("packTransposed16 writes dst[k*16+j] = src[j*ld/4+k] for 16 rows j and k below n, n a multiple of 4; ld in bytes.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	n := Load(Param("n"), GP64())

	base, row := sixteenRows(src, ld)
	// Once for all, since avo takes a register whose lower half is loaded for one that held something before.
	r := [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	four := func(n0 int) {
		for half := 0; half < 2; half++ {
			for i := range r {
				l, h := row(8*half+i), row(8*half+4+i)
				l.Disp, h.Disp = 4*n0, 4*n0
				VMOVUPS(l, r[i].AsX())
				VINSERTF128(Imm(1), h, r[i], r[i])
			}
			t0, t1, t2, t3 := YMM(), YMM(), YMM(), YMM()
			VUNPCKLPS(r[1], r[0], t0)
			VUNPCKHPS(r[1], r[0], t1)
			VUNPCKLPS(r[3], r[2], t2)
			VUNPCKHPS(r[3], r[2], t3)
			to := Mem{Base: dst, Disp: 64*n0 + 32*half}
			for i, pair := range [][2]VecVirtual{{t2, t0}, {t2, t0}, {t3, t1}, {t3, t1}} {
				o := YMM()
				if i%2 == 0 {
					VUNPCKLPD(pair[0], pair[1], o)
				} else {
					VUNPCKHPD(pair[0], pair[1], o)
				}
				m := to
				m.Disp += 64 * i
				VMOVUPS(o, m)
			}
		}
	}
	step := func(count int) {
		for n0 := 0; n0 < count; n0 += 4 {
			four(n0)
		}
		for i := range base {
			ADDQ(U32(4*count), base[i])
		}
		ADDQ(U32(64*count), dst)
		SUBQ(U32(count), n)
	}

	// Sixteen rows are more than the processor foresees: each cache line is asked for once, some lines before its turn.
	const ahead = 4 * 64
	Label("pack_loop16")
	CMPQ(n, Imm(16))
	JL(LabelRef("pack_loop"))
	fetchLines(row, ahead)
	step(16)
	JMP(LabelRef("pack_loop16"))
	Label("pack_loop")
	CMPQ(n, Imm(4))
	JL(LabelRef("pack_done"))
	step(4)
	JMP(LabelRef("pack_loop"))
	Label("pack_done")
	VZEROUPPER()
	RET()
}

// sixteenRows is where each of sixteen rows lies, which begin ld bytes apart: every fourth has a base of its own, and ld*3 is
// kept.
func sixteenRows(src, ld Register) (base [4]Register, row func(i int) Mem) {
	ld3 := GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, ld3)
	base = [4]Register{src, GP64(), GP64(), GP64()}
	for i := 1; i < 4; i++ {
		LEAQ(Mem{Base: base[i-1], Index: ld, Scale: 4}, base[i])
	}
	return base, func(i int) Mem {
		m := Mem{Base: base[i/4]}
		switch i % 4 {
		case 1:
			m.Index, m.Scale = ld, 1
		case 2:
			m.Index, m.Scale = ld, 2
		case 3:
			m.Index, m.Scale = ld3, 1
		}
		return m
	}
}

// fetchLines asks for a cache line of each of sixteen rows.
func fetchLines(row func(i int) Mem, ahead int) {
	for i := 0; i < 16; i++ {
		m := row(i)
		m.Disp = ahead
		PREFETCHT0(m)
	}
}

// rowsPack emits the packing of rows of 16 values that lie apart, of float32 or of float16.
func rowsPack(halves bool) {
	const rowsAheadLog = 3 // eight rows
	name, of, signature := "packRows16", "src[k*ld/4+j]", "func(dst *float32, src *float32, ld int, n int)"
	if halves {
		name, of, signature = "widenRows16", "src[k*ld/2+j] widened", "func(dst *float32, src *uint16, ld int, n int)"
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " writes dst[k*16+j] = " + of + " for 16 columns j and n rows k; ld in bytes.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	n := Load(Param("n"), GP64())
	// Rows far apart are not foreseen by the processor.
	next := GP64()
	MOVQ(ld, next)
	SHLQ(Imm(rowsAheadLog), next)
	ADDQ(src, next)
	Label(name + "_loop")
	TESTQ(n, n)
	JZ(LabelRef(name + "_done"))
	PREFETCHT0(Mem{Base: next})
	for half := 0; half < 2; half++ {
		v := YMM()
		if halves {
			VCVTPH2PS(Mem{Base: src, Disp: 16 * half}, v)
		} else {
			VMOVUPS(Mem{Base: src, Disp: 32 * half}, v)
		}
		VMOVUPS(v, Mem{Base: dst, Disp: 32 * half})
	}
	ADDQ(ld, src)
	ADDQ(ld, next)
	ADDQ(Imm(64), dst)
	DECQ(n)
	JMP(LabelRef(name + "_loop"))
	Label(name + "_done")
	VZEROUPPER()
	RET()
}
