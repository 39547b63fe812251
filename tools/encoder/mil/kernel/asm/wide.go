package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wideGemm emits the register tile for processors with AVX-512: twelve rows by
// two packed panels. Each element is the same chain of fused multiply-adds as in
// gemm, so the bytes are the same. The left side's rows run along k, or lie in packs of six; its steps are then known, and
// additions to addresses, which compete with multiply-adds for ports, are few.
func wideGemm(packed bool) {
	const rows = 2 * tileRows
	name, signature, where := "gemmWide", "func(k int, a, a6 *float32, rs int, b, b16 *float32, c *float32, ldc int, add int, ahead *float32)", "rs bytes apart, k by k"
	step := 4
	if packed {
		name, signature, where = "gemmWidePacked", "func(k int, a, a6 *float32, b, b16 *float32, c *float32, ldc int, add int, ahead *float32)", "k-major, six to a k"
		step = 4 * tileRows
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " computes a 12 by 32 tile: rows 0 to 5 from a, 6 to 11 from a6, " + where + "; columns 0 to 15 from b, 16 to 31 from b16; ldc in bytes. What begins at ahead, 32 bytes for each k, is wanted soon.")
	k := Load(Param("k"), GP64())
	b := Load(Param("b"), GP64())
	b16 := Load(Param("b16"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())
	ahead := Load(Param("ahead"), GP64())
	base := []Register{Load(Param("a"), GP64()), Load(Param("a6"), GP64())}
	at := func(row int) Mem { return Mem{Base: base[row/tileRows], Disp: 4 * (row % tileRows)} }
	if !packed {
		// Three rows to a register.
		rs := Load(Param("rs"), GP64())
		base = []Register{base[0], GP64(), base[1], GP64()}
		for i := 0; i < 4; i += 2 {
			LEAQ(Mem{Base: base[i], Index: rs, Scale: 2}, base[i+1])
			ADDQ(rs, base[i+1])
		}
		at = func(row int) Mem {
			m := Mem{Base: base[row/3]}
			if row%3 > 0 {
				m.Index, m.Scale = rs, uint8(row%3)
			}
			return m
		}
	}

	acc := make([][2]VecVirtual, rows)
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = ZMM()
			VPXORD(acc[i][j], acc[i][j], acc[i][j])
		}
	}
	// The lines of c are on their way from the next cache while the sums are made.
	line := GP64()
	MOVQ(c, line)
	for i := range acc {
		PREFETCHT0(Mem{Base: line})
		PREFETCHT0(Mem{Base: line, Disp: 64})
		if i+1 < rows {
			ADDQ(ldc, line)
		}
	}
	// steps adds n products to each sum.
	steps := func(n int) {
		for u := 0; u < n; u++ {
			if u%2 == 0 && n > 1 {
				PREFETCHT0(Mem{Base: ahead, Disp: u * 32})
			}
			b0, b1 := ZMM(), ZMM()
			VMOVUPS(Mem{Base: b, Disp: u * 64}, b0)
			VMOVUPS(Mem{Base: b16, Disp: u * 64}, b1)
			for i := 0; i < rows; i++ {
				m := at(i)
				m.Disp += u * step
				x := ZMM()
				VBROADCASTSS(m, x)
				VFMADD231PS(b0, x, acc[i][0])
				VFMADD231PS(b1, x, acc[i][1])
			}
		}
		for _, p := range base {
			ADDQ(U32(n*step), p)
		}
		ADDQ(U32(n*64), b)
		ADDQ(U32(n*64), b16)
		if n > 1 {
			ADDQ(U32(n*32), ahead)
		}
		SUBQ(U32(n), k)
	}

	const unroll = 8
	Label(name + "_loop8")
	CMPQ(k, Imm(unroll))
	JL(LabelRef(name + "_loop1"))
	steps(unroll)
	JMP(LabelRef(name + "_loop8"))

	Label(name + "_loop1")
	TESTQ(k, k)
	JZ(LabelRef(name + "_store"))
	steps(1)
	JMP(LabelRef(name + "_loop1"))

	Label(name + "_store")
	TESTQ(add, add)
	JZ(LabelRef(name + "_plain"))
	for i := range acc {
		for j := 0; j < 2; j++ {
			m := Mem{Base: c, Disp: 64 * j}
			VADDPS(m, acc[i][j], acc[i][j])
			VMOVUPS(acc[i][j], m)
		}
		if i+1 < rows {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()

	Label(name + "_plain")
	for i := range acc {
		for j := 0; j < 2; j++ {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: 64 * j})
		}
		if i+1 < rows {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// wideRows emits a loop over rows' elements while there are sixteen.
func wideRows(label string, n Register, ptrs []Register, body func()) {
	Label(label + "_wide")
	CMPQ(n, Imm(16))
	JL(LabelRef(label + "_narrow"))
	body()
	for _, p := range ptrs {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(16), n)
	JMP(LabelRef(label + "_wide"))
	Label(label + "_narrow")
}

// One operation has one name in registers of 256 bits and another in those of 512.
func either(wide, narrow func(ops ...Op)) func(b, a, dst Op) {
	return func(b, a, dst Op) {
		if isWide(dst.(VecVirtual)) {
			wide(b, a, dst)
		} else {
			narrow(b, a, dst)
		}
	}
}

var (
	or = either(VPORD, VORPS)
	// Those whose first operand is a constant, by bits.
	and = either(VPANDD_BCST, VANDPS)
	xor = either(VPXORD_BCST, VXORPS)
)

// bits applies and or xor with a word in every lane.
func bits(op func(b, a, dst Op), word uint32, a, dst VecVirtual) {
	if isWide(dst) {
		op(singleInt(word), a, dst)
	} else {
		op(splatInt(word), a, dst)
	}
}

// constant sets every lane of v.
func constant(c float32, v VecVirtual) {
	if isWide(v) {
		VBROADCASTSS(single(c), v)
	} else {
		VMOVUPS(splat(c), v)
	}
}

func mul(c float32, a, dst VecVirtual)         { with(VMULPS_BCST, VMULPS, c, a, dst) }
func plus(c float32, a, dst VecVirtual)        { with(VADDPS_BCST, VADDPS, c, a, dst) }
func lessProduct(c float32, a, dst VecVirtual) { with(VFNMADD231PS_BCST, VFNMADD231PS, c, a, dst) }

// horner evaluates a polynomial whose highest coefficient p holds.
func horner(x, p VecVirtual, coefficients ...float32) {
	for _, c := range coefficients {
		with(VFMADD213PS_BCST, VFMADD213PS, c, x, p)
	}
}

func with(wide, narrow func(ops ...Op), c float32, a, dst VecVirtual) {
	if isWide(dst) {
		wide(single(c), a, dst)
	} else {
		narrow(splat(c), a, dst)
	}
}

// atLeastOne compares t with one; what it returns replaces in p the lanes where t was at least one by those of q.
func atLeastOne(t VecVirtual) func(q, p VecVirtual) {
	const notLess = 13
	if isWide(t) {
		k := K()
		VCMPPS_BCST(Imm(notLess), single(1), t, k)
		return func(q, p VecVirtual) { VBLENDMPS(q, p, k, p) }
	}
	big := YMM()
	VCMPPS(Imm(notLess), splat(1), t, big)
	return func(q, p VecVirtual) { VBLENDVPS(big, q, p, p) }
}
