package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// toHalf rounds each lane to the nearest float16 and widens it again.
func toHalf(v VecVirtual) {
	var h VecVirtual = XMM()
	if isWide(v) {
		h = YMM()
	}
	VCVTPS2PH(Imm(0), v, h)
	VCVTPH2PS(h, v)
}

// halfRows emits the rounding of float32 to float16 and back, in place, as it is and after an operation, in eight lanes.
func halfRows() {
	emit := func(name, signature, doc string, with func() (by func(v VecVirtual, disp int, mask VecVirtual), pointers []Register)) {
		TEXT(name, NOSPLIT, signature)
		Pragma("noescape")
		Doc(doc + " A signalling NaN becomes quiet.")
		v := Load(Param("v"), GP64())
		n := Load(Param("n"), GP64())
		by, pointers := with()
		fourRows(name, n, append(pointers, v), func(disp int, mask VecVirtual) {
			x := loadAt(v, disp, mask)
			by(x, disp, mask)
			toHalf(x)
			storeAt(x, v, disp, mask)
		})
		VZEROUPPER()
		RET()
	}
	emit("roundHalfRow", "func(v *float32, n int)", "roundHalfRow rounds n values to the nearest float16.",
		func() (func(VecVirtual, int, VecVirtual), []Register) {
			return func(VecVirtual, int, VecVirtual) {}, nil
		})
	emit("scaleHalfRow", "func(v *float32, n int, by float32)", "scaleHalfRow multiplies n values by a factor and rounds them to the nearest float16.",
		func() (func(VecVirtual, int, VecVirtual), []Register) {
			factor := YMM()
			VBROADCASTSS(NewParamAddr("by", 16), factor)
			return func(v VecVirtual, _ int, _ VecVirtual) { VMULPS(factor, v, v) }, nil
		})
	emit("addHalfRow", "func(v, x *float32, n int)", "addHalfRow adds x to n values and rounds them to the nearest float16.",
		func() (func(VecVirtual, int, VecVirtual), []Register) {
			x := Load(Param("x"), GP64())
			return func(v VecVirtual, disp int, mask VecVirtual) { VADDPS(loadAt(x, disp, mask), v, v) }, []Register{x}
		})
}

// halfRowsWide emits the same in sixteen lanes, and the widening of rows. All take rows of any length: what does not fill a
// register is masked.
func halfRowsWide() {
	emit := func(name, signature, doc string, with func() (by func(v VecVirtual, mask Op), pointers []Register)) {
		TEXT(name, NOSPLIT, signature)
		Pragma("noescape")
		Doc(doc + " A signalling NaN becomes quiet.")
		v := Load(Param("v"), GP64())
		n := Load(Param("n"), GP64())
		by, pointers := with()
		whole := func() {
			x := ZMM()
			VMOVUPS(Mem{Base: v}, x)
			by(x, nil)
			toHalf(x)
			VMOVUPS(x, Mem{Base: v})
		}
		wideRows(name, n, append(pointers, v), whole)
		rest(name, n, func(mask Op) {
			x := ZMM()
			VMOVUPS_Z(Mem{Base: v}, mask, x)
			by(x, mask)
			toHalf(x)
			VMOVUPS(x, mask, Mem{Base: v})
		})
		VZEROUPPER()
		RET()
	}
	emit("roundHalfWide", "func(v *float32, n int)", "roundHalfWide rounds n values to the nearest float16.",
		func() (func(VecVirtual, Op), []Register) { return func(VecVirtual, Op) {}, nil })
	emit("scaleHalfWide", "func(v *float32, n int, by float32)", "scaleHalfWide multiplies n values by a factor and rounds them to the nearest float16.",
		func() (func(VecVirtual, Op), []Register) {
			factor := ZMM()
			VBROADCASTSS(NewParamAddr("by", 16), factor)
			return func(v VecVirtual, _ Op) { VMULPS(factor, v, v) }, nil
		})
	emit("addHalfWide", "func(v, x *float32, n int)", "addHalfWide adds x to n values and rounds them to the nearest float16.",
		func() (func(VecVirtual, Op), []Register) {
			x := Load(Param("x"), GP64())
			return func(v VecVirtual, mask Op) {
				if mask == nil {
					VADDPS(Mem{Base: x}, v, v)
				} else {
					VADDPS_Z(Mem{Base: x}, v, mask, v)
				}
			}, []Register{x}
		})

	const name = "widenRowsWide"
	TEXT(name, NOSPLIT, "func(dst *float32, src *uint16, ld, rows, n int)")
	Pragma("noescape")
	Doc(name + " widens rows of n float16, which begin ld bytes apart, one behind the other. A signalling NaN becomes quiet.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	count := Load(Param("rows"), GP64())
	row, n := GP64(), GP64()
	Label(name + "_row")
	Load(Param("n"), n)
	MOVQ(src, row)
	wideRows(name, n, []Register{dst}, func() {
		x := ZMM()
		VCVTPH2PS(Mem{Base: row}, x)
		VMOVUPS(x, Mem{Base: dst})
		ADDQ(Imm(32), row)
	})
	rest(name, n, func(mask Op) {
		x := ZMM()
		VCVTPH2PS_Z(Mem{Base: row}, mask, x)
		VMOVUPS(x, mask, Mem{Base: dst})
		LEAQ(Mem{Base: dst, Index: n, Scale: 4}, dst)
	})
	ADDQ(ld, src)
	DECQ(count)
	JNZ(LabelRef(name + "_row"))
	VZEROUPPER()
	RET()
}

// dequantize emits the computing of values from codes of one byte.
func dequantize(signed bool) {
	name, read := "dequantizeWide", VPMOVZXBD
	readPart := VPMOVZXBD_Z
	if signed {
		name, read, readPart = "dequantizeSignedWide", VPMOVSXBD, VPMOVSXBD_Z
	}
	TEXT(name, NOSPLIT, "func(dst *float32, codes *byte, n int, zero, by float32)")
	Pragma("noescape")
	Doc(name + " writes (code-zero)*by for n codes.")
	dst := Load(Param("dst"), GP64())
	codes := Load(Param("codes"), GP64())
	n := Load(Param("n"), GP64())
	zero, by := ZMM(), ZMM()
	VBROADCASTSS(NewParamAddr("zero", 24), zero)
	VBROADCASTSS(NewParamAddr("by", 28), by)
	value := func(x VecVirtual) {
		VCVTDQ2PS(x, x)
		VSUBPS(zero, x, x)
		VMULPS(by, x, x)
	}
	wideRows(name, n, []Register{dst}, func() {
		x := ZMM()
		read(Mem{Base: codes}, x)
		value(x)
		VMOVUPS(x, Mem{Base: dst})
		ADDQ(Imm(16), codes)
	})
	rest(name, n, func(mask Op) {
		x := ZMM()
		readPart(Mem{Base: codes}, mask, x)
		value(x)
		VMOVUPS(x, mask, Mem{Base: dst})
	})
	VZEROUPPER()
	RET()
}

// expand emits the copying of values to the places that a mask has bits for, sixteen at a time while as many are left.
func expand() {
	const name = "expandWide"
	TEXT(name, NOSPLIT, "func(dst, src *uint16, mask *byte, groups, stored int) int")
	Pragma("noescape")
	Doc(name+" writes groups of sixteen values, those of src in order where mask has a bit and zeros elsewhere, and returns how many groups.",
		"It ends before a group for which fewer than sixteen of the stored values are left, since it reads as many.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	mask := Load(Param("mask"), GP64())
	groups := Load(Param("groups"), GP64())
	stored := Load(Param("stored"), GP64())
	done, ones := GP64(), GP64()
	XORQ(done, done)
	Label(name + "_group")
	CMPQ(done, groups)
	JGE(LabelRef(name + "_end"))
	CMPQ(stored, Imm(16))
	JL(LabelRef(name + "_end"))
	set, v := K(), ZMM()
	KMOVW(Mem{Base: mask}, set)
	VPMOVZXWD(Mem{Base: src}, v)
	VPEXPANDD_Z(v, set, v)
	VPMOVDW(v, Mem{Base: dst})
	MOVWLZX(Mem{Base: mask}, ones.As32())
	POPCNTL(ones.As32(), ones.As32())
	SUBQ(ones, stored)
	LEAQ(Mem{Base: src, Index: ones, Scale: 2}, src)
	ADDQ(Imm(32), dst)
	ADDQ(Imm(2), mask)
	INCQ(done)
	JMP(LabelRef(name + "_group"))
	Label(name + "_end")
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// narrowRow emits the rounding of float32 to float16.
func narrowRow() {
	const name = "narrowHalfWide"
	TEXT(name, NOSPLIT, "func(dst *uint16, src *float32, n int)")
	Pragma("noescape")
	Doc(name + " rounds n float32 to nearest even. A signalling NaN becomes quiet.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	wideRows(name, n, []Register{src}, func() {
		x := ZMM()
		VMOVUPS(Mem{Base: src}, x)
		VCVTPS2PH(Imm(0), x, Mem{Base: dst})
		ADDQ(Imm(32), dst)
	})
	rest(name, n, func(mask Op) {
		x := ZMM()
		VMOVUPS_Z(Mem{Base: src}, mask, x)
		VCVTPS2PH(Imm(0), x, mask, Mem{Base: dst})
	})
	VZEROUPPER()
	RET()
}

// transposeHalves emits the packing of 16 rows of float16 whose k runs contiguously into k-major lanes of float32, eight k
// at a time: rows i and i+8 lie in the halves of a register, which an 8 by 8 transposition turns into the rows of each k.
func transposeHalves() {
	const name = "widenTransposed16"
	TEXT(name, NOSPLIT, "func(dst *float32, src *uint16, ld int, n int)")
	Pragma("noescape")
	Doc(name + " writes dst[k*16+j] = src[j*ld/2+k] widened for 16 rows j and k below n, n a multiple of 8; ld in bytes. A signalling NaN becomes quiet.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	n := Load(Param("n"), GP64())
	base, row := sixteenRows(src, ld)
	// All sixteen registers, by name: there is no other that AVX2 could use.
	v, to := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7}, []VecPhysical{Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	// Sixteen rows are more than the processor foresees.
	const ahead = 4 * 64
	Label(name + "_loop")
	CMPQ(n, Imm(8))
	JL(LabelRef(name + "_done"))
	for i, r := range v {
		VMOVDQU(row(i), r.AsX())
		VINSERTI128(Imm(1), row(i+8), r, r)
	}
	TESTQ(U32(31), n) // a cache line of each row has 32
	JNZ(LabelRef(name + "_turn"))
	fetchLines(row, ahead)
	Label(name + "_turn")
	// To interleave rows i and i+4 moves the three bits of a place behind the first of the three of a row: done three times,
	// places have become rows.
	for range 3 {
		for i := 0; i < 4; i++ {
			VPUNPCKLWD(v[i+4], v[i], to[2*i])
			VPUNPCKHWD(v[i+4], v[i], to[2*i+1])
		}
		v, to = to, v
	}
	for k, of := range v {
		low, high := to[k%4], to[4+k%4]
		VCVTPH2PS(of.AsX(), low)
		VEXTRACTI128(Imm(1), of, high.AsX())
		VCVTPH2PS(high.AsX(), high)
		VMOVUPS(low, Mem{Base: dst, Disp: 64 * k})
		VMOVUPS(high, Mem{Base: dst, Disp: 64*k + 32})
	}
	for _, b := range base {
		ADDQ(Imm(16), b)
	}
	ADDQ(U32(8*64), dst)
	SUBQ(Imm(8), n)
	JMP(LabelRef(name + "_loop"))
	Label(name + "_done")
	VZEROUPPER()
	RET()
}

// rest emits body once, with a mask of the n lanes that are left of sixteen, where there are any.
func rest(label string, n Register, body func(mask Op)) {
	TESTQ(n, n)
	JZ(LabelRef(label + "_all"))
	lanes, mask := GP32(), K()
	MOVL(U32(0xffff), lanes)
	BZHIL(n.(GPVirtual).As32(), lanes, lanes)
	KMOVW(lanes, mask)
	body(mask)
	Label(label + "_all")
}

// fetchRows emits requests for rows of bytes to come to the second cache.
func fetchRows() {
	const name, line = "fetchRows", 64
	TEXT(name, NOSPLIT, "func(src *byte, ld, rows, n int)")
	Pragma("noescape")
	Doc(name + " asks for rows of n bytes, which begin ld bytes apart, to come to the second cache.")
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	count := Load(Param("rows"), GP64())
	at, n := GP64(), GP64()
	Label(name + "_row")
	Load(Param("n"), n)
	MOVQ(src, at)
	Label(name + "_line")
	PREFETCHT1(Mem{Base: at})
	ADDQ(Imm(line), at)
	SUBQ(Imm(line), n)
	JG(LabelRef(name + "_line"))
	ADDQ(ld, src)
	DECQ(count)
	JNZ(LabelRef(name + "_row"))
	RET()
}
