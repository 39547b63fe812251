package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wideGemm emits a column of register tiles for processors with AVX-512: each is twelve rows by
// two packed panels. Each element is the same chain of fused multiply-adds as in
// gemm, so the bytes are the same. The left side's rows run along k, or lie in packs of six; its steps are then known, and
// additions to addresses, which compete with multiply-adds for ports, are few.
func wideGemm(packed bool) {
	const rows = 2 * tileRows
	name, signature := "gemmWide", "func(k, tiles int, a *float32, rs int, b *float32, gap int, c *float32, ldc int, add int, ahead *float32, fetch int)"
	where, step := "whose rows are rs apart", 4
	if packed {
		name, signature = "gemmWidePacked", "func(k, tiles int, a *float32, b *float32, gap int, c *float32, ldc int, add int, ahead *float32, fetch int)"
		where, step = "in packs of six rows, k-major", 4*tileRows
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name+" computes tiles of 12 by 32, one below the other, from a, "+where+", and from two panels, at b and gap after it.",
		"Strides and gap are in bytes. The first tiles, fetch of them, each ask for a part of the two panels that begin at ahead and gap after it.")
	k := Load(Param("k"), GP64())
	b := Load(Param("b"), GP64())
	gap := Load(Param("gap"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())
	ahead := Load(Param("ahead"), GP64())
	// Three rows to a register, or six where they lie close.
	base := []Register{Load(Param("a"), GP64()), GP64()}
	at := func(row int) Mem { return Mem{Base: base[row/tileRows], Disp: 4 * (row % tileRows)} }
	var rs Register
	spare := GP64()
	if packed {
		LEAQ(Mem{Base: k, Index: k, Scale: 2}, spare) // a pack is 24 bytes for each k
		LEAQ(Mem{Base: base[0], Index: spare, Scale: 8}, base[1])
	} else {
		rs = Load(Param("rs"), GP64())
		base = append(base, GP64(), GP64())
		for i := 1; i < 4; i++ {
			LEAQ(Mem{Base: base[i-1], Index: rs, Scale: 2}, base[i])
			ADDQ(rs, base[i])
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
		acc[i] = [2]VecVirtual{ZMM(), ZMM()}
	}
	Label(name + "_tile")
	for i := range acc {
		for _, sum := range acc[i] {
			VPXORD(sum, sum, sum)
		}
	}
	// The lines of c are on their way from the next cache while the sums are made.
	MOVQ(c, spare)
	for i := range acc {
		PREFETCHT0(Mem{Base: spare})
		PREFETCHT0(Mem{Base: spare, Disp: 64})
		if i+1 < rows {
			ADDQ(ldc, spare)
		}
	}
	// steps adds n products to each sum.
	steps := func(n int) {
		for u := 0; u < n; u++ {
			if u%4 == 0 && n > 1 {
				PREFETCHT0(Mem{Base: ahead, Disp: u * 16})
				PREFETCHT0(Mem{Base: ahead, Index: gap, Scale: 1, Disp: u * 16})
			}
			b0, b1 := ZMM(), ZMM()
			VMOVUPS(Mem{Base: b, Disp: u * 64}, b0)
			VMOVUPS(Mem{Base: b, Index: gap, Scale: 1, Disp: u * 64}, b1)
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
		if n > 1 {
			ADDQ(U32(n*16), ahead)
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
		ADDQ(ldc, c)
	}
	JMP(LabelRef(name + "_next"))

	Label(name + "_plain")
	for i := range acc {
		for j := 0; j < 2; j++ {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: 64 * j})
		}
		ADDQ(ldc, c)
	}

	Label(name + "_next")
	// The panels once more, and twelve rows further down.
	Load(Param("k"), k)
	MOVQ(k, spare)
	SHLQ(Imm(6), spare)
	SUBQ(spare, b)
	if packed {
		LEAQ(Mem{Base: k, Index: k, Scale: 2}, spare)
		SHLQ(Imm(3), spare)
	} else {
		LEAQ(Mem{Base: rs, Index: rs, Scale: 2}, spare)
		SUBQ(k, spare)
		SHLQ(Imm(2), spare)
	}
	for _, p := range base {
		ADDQ(spare, p)
	}
	fetch, tiles := Param("fetch"), Param("tiles")
	Load(fetch, spare)
	DECQ(spare)
	Store(spare, fetch)
	JNZ(LabelRef(name + "_fetch"))
	MOVQ(b, ahead) // which is here already
	Label(name + "_fetch")
	Load(tiles, spare)
	DECQ(spare)
	Store(spare, tiles)
	JNZ(LabelRef(name + "_tile"))
	VZEROUPPER()
	RET()
}

// manyRows is wideRows while there are count times sixteen.
func manyRows(label string, count int, n Register, ptrs []Register, body func()) {
	Label(label + "_many")
	CMPQ(n, U32(16*count))
	JL(LabelRef(label + "_wide"))
	body()
	for _, p := range ptrs {
		ADDQ(U32(64*count), p)
	}
	SUBQ(U32(16*count), n)
	JMP(LabelRef(label + "_many"))
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
