package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wideGemm emits the register tile for processors with AVX-512: twelve rows by
// two packed panels. Each element is the same chain of fused multiply-adds as in
// gemm, so the bytes are the same.
func wideGemm() {
	const rows = 2 * tileRows
	TEXT("gemmWide", NOSPLIT, "func(k int, a, a6 *float32, rs, cs int, b, b16 *float32, c *float32, ldc int, add int)")
	Pragma("noescape")
	Doc("gemmWide computes a 12 by 32 tile: rows 0 to 5 from a, 6 to 11 from a6, columns 0 to 15 from b, 16 to 31 from b16. Strides are in bytes.")
	k := Load(Param("k"), GP64())
	rs := Load(Param("rs"), GP64())
	cs := Load(Param("cs"), GP64())
	b := Load(Param("b"), GP64())
	b16 := Load(Param("b16"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())
	base := [4]Register{Load(Param("a"), GP64()), GP64(), Load(Param("a6"), GP64()), GP64()}
	for i := 0; i < 4; i += 2 {
		LEAQ(Mem{Base: base[i], Index: rs, Scale: 2}, base[i+1])
		ADDQ(rs, base[i+1])
	}

	acc := make([][2]VecVirtual, rows)
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = ZMM()
			VPXORD(acc[i][j], acc[i][j], acc[i][j])
		}
	}
	// The lines of c are on their way from the next cache while the sums are made.
	at := GP64()
	MOVQ(c, at)
	for i := range acc {
		PREFETCHT0(Mem{Base: at})
		PREFETCHT0(Mem{Base: at, Disp: 64})
		if i+1 < rows {
			ADDQ(ldc, at)
		}
	}
	step := func(off int) {
		b0, b1 := ZMM(), ZMM()
		VMOVUPS(Mem{Base: b, Disp: off * 64}, b0)
		VMOVUPS(Mem{Base: b16, Disp: off * 64}, b1)
		for i := 0; i < rows; i++ {
			m := Mem{Base: base[i/3]}
			if i%3 > 0 {
				m.Index, m.Scale = rs, uint8(i%3)
			}
			x := ZMM()
			VBROADCASTSS(m, x)
			VFMADD231PS(b0, x, acc[i][0])
			VFMADD231PS(b1, x, acc[i][1])
		}
		for _, p := range base {
			ADDQ(cs, p)
		}
	}

	const unroll = 4
	Label("wide_loop4")
	CMPQ(k, Imm(unroll))
	JL(LabelRef("wide_loop1"))
	for u := 0; u < unroll; u++ {
		step(u)
	}
	ADDQ(U32(unroll*64), b)
	ADDQ(U32(unroll*64), b16)
	SUBQ(Imm(unroll), k)
	JMP(LabelRef("wide_loop4"))

	Label("wide_loop1")
	TESTQ(k, k)
	JZ(LabelRef("wide_store"))
	step(0)
	ADDQ(Imm(64), b)
	ADDQ(Imm(64), b16)
	DECQ(k)
	JMP(LabelRef("wide_loop1"))

	Label("wide_store")
	TESTQ(add, add)
	JZ(LabelRef("wide_plain"))
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

	Label("wide_plain")
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
