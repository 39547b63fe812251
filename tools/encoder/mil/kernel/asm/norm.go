package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// layerNormRow emits (x-mean)*(1/sqrt(variance+eps))*gamma+beta, all in float64 and
// rounded once at the end.
func layerNormRow() {
	TEXT("layerNormRow", NOSPLIT, "func(dst, src, gamma, beta *float32, n int, eps float64)")
	Pragma("noescape")
	Doc("layerNormRow normalises n values (population variance), then scales and shifts; n is at least 1.")
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	count, zero := YMM(), XMM()
	VXORPD(zero, zero, zero)
	VCVTSI2SDQ(n, zero, count.AsX())
	VBROADCASTSD(count.AsX(), count)

	sums := pairOfZeros()
	rows("lnmean", n, []Register{src}, func(mask VecVirtual) {
		widened(load(src, mask), func(half int, d VecVirtual) {
			VADDPD(d, sums[half], sums[half])
		})
	})
	mean := YMM()
	m := sumLanes(sums[0], sums[1])
	VDIVSD(count.AsX(), m, m)
	VBROADCASTSD(m, mean)

	Load(Param("src"), src)
	Load(Param("n"), n)
	squares := pairOfZeros()
	rows("lnvar", n, []Register{src}, func(mask VecVirtual) {
		v := load(src, mask)
		var wide [2]VecVirtual
		if mask != nil {
			// The widened halves of the mask silence lanes past the end.
			for i := range wide {
				wide[i] = YMM()
				h := XMM()
				VEXTRACTF128(Imm(uint64(i)), mask, h)
				VPMOVSXDQ(h, wide[i])
			}
		}
		widened(v, func(half int, d VecVirtual) {
			VSUBPD(mean, d, d)
			if mask != nil {
				VANDPD(wide[half], d, d)
			}
			VFMADD231PD(d, d, squares[half])
		})
	})
	scale := YMM()
	VBROADCASTSD(inverseDeviation(sumLanes(squares[0], squares[1]), count), scale)

	Load(Param("src"), src)
	Load(Param("n"), n)
	dst := Load(Param("dst"), GP64())
	gamma := Load(Param("gamma"), GP64())
	beta := Load(Param("beta"), GP64())
	rows("lnout", n, []Register{src, dst, gamma, beta}, func(mask VecVirtual) {
		v, g, b := load(src, mask), load(gamma, mask), load(beta, mask)
		out := [2]VecVirtual{XMM(), XMM()}
		for i := range out {
			d, w, c, h := YMM(), YMM(), YMM(), XMM()
			VEXTRACTF128(Imm(uint64(i)), v, h)
			VCVTPS2PD(h, d)
			VSUBPD(mean, d, d)
			VMULPD(scale, d, d)
			VEXTRACTF128(Imm(uint64(i)), g, h)
			VCVTPS2PD(h, w)
			VEXTRACTF128(Imm(uint64(i)), b, h)
			VCVTPS2PD(h, c)
			VFMADD213PD(c, w, d)
			VCVTPD2PSY(d, out[i])
		}
		r := YMM()
		VINSERTF128(Imm(1), out[1], out[0].AsY(), r)
		store(r, dst, mask)
	})
	VZEROUPPER()
	RET()
}

// inverseDeviation emits 1/sqrt(squares/count+eps), at the lowest lane.
func inverseDeviation(squares, count VecVirtual) VecVirtual {
	eps := XMM()
	VDIVSD(count.AsX(), squares, squares)
	VMOVSD(NewParamAddr("eps", 40), eps)
	VADDSD(eps, squares, squares)
	VSQRTSD(squares, squares, squares)
	// One division a row: a quotient and a product with the reciprocal differ by less than float32 shows.
	inverse := XMM()
	VMOVSD(one(), inverse)
	VDIVSD(squares, inverse, inverse)
	return inverse
}

// layerNormWide emits the same with all eight lanes in one register.
func layerNormWide() {
	const name = "layerNormRowWide"
	TEXT(name, NOSPLIT, "func(dst, src, gamma, beta *float32, n int, eps float64)")
	Pragma("noescape")
	Doc(name + " normalises n values (population variance), then scales and shifts; n is at least 1.")
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	count, zero := XMM(), XMM()
	VXORPD(zero, zero, zero)
	VCVTSI2SDQ(n, zero, count)

	// value is eight values, or as many as there are, in float64.
	value := func(p Register, mask Op) VecVirtual {
		d := ZMM()
		if mask == nil {
			VCVTPS2PD(Mem{Base: p}, d)
		} else {
			VCVTPS2PD_Z(Mem{Base: p}, mask, d)
		}
		return d
	}
	total := func(lanes VecVirtual) VecVirtual {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), lanes, upper)
		return sumLanes(lanes.AsY().(VecVirtual), upper)
	}
	sums := ZMM()
	VPXORQ(sums, sums, sums)
	eightRows(name+"_mean", n, []Register{src}, func(mask Op) { VADDPD(value(src, mask), sums, sums) })
	mean, m := ZMM(), total(sums)
	VDIVSD(count, m, m)
	VBROADCASTSD(m, mean)

	Load(Param("src"), src)
	Load(Param("n"), n)
	squares := ZMM()
	VPXORQ(squares, squares, squares)
	eightRows(name+"_variance", n, []Register{src}, func(mask Op) {
		d := value(src, mask)
		if mask == nil {
			VSUBPD(mean, d, d)
		} else {
			VSUBPD_Z(mean, d, mask, d)
		}
		VFMADD231PD(d, d, squares)
	})
	scale := ZMM()
	VBROADCASTSD(inverseDeviation(total(squares), count), scale)

	Load(Param("src"), src)
	Load(Param("n"), n)
	dst := Load(Param("dst"), GP64())
	gamma := Load(Param("gamma"), GP64())
	beta := Load(Param("beta"), GP64())
	out := ZMM()
	eightRows(name+"_out", n, []Register{src, dst, gamma, beta}, func(mask Op) {
		d := value(src, mask)
		VSUBPD(mean, d, d)
		VMULPD(scale, d, d)
		VFMADD213PD(value(beta, mask), value(gamma, mask), d)
		VCVTPD2PS(d, out.AsY())
		if mask == nil {
			VMOVUPS(out.AsY(), Mem{Base: dst})
		} else {
			VMOVUPS(out, mask, Mem{Base: dst})
		}
	})
	VZEROUPPER()
	RET()
}

// eightRows emits a loop over n elements: body while there are eight, then body once with a mask of the lanes that are left.
func eightRows(label string, n Register, ptrs []Register, body func(mask Op)) {
	Label(label + "_loop")
	CMPQ(n, Imm(8))
	JL(LabelRef(label + "_rest"))
	body(nil)
	for _, p := range ptrs {
		ADDQ(Imm(32), p)
	}
	SUBQ(Imm(8), n)
	JMP(LabelRef(label + "_loop"))
	Label(label + "_rest")
	rest(label, n, body)
}

// one is 1 as a float64 in read-only memory.
func one() Mem {
	m, ok := known["one"]
	if !ok {
		m = GLOBL("one", RODATA|NOPTR)
		DATA(0, U64(math.Float64bits(1)))
		known["one"] = m
	}
	return m
}

func pairOfZeros() [2]VecVirtual {
	p := [2]VecVirtual{YMM(), YMM()}
	for _, v := range p {
		VXORPD(v, v, v)
	}
	return p
}

// widened calls do with the lower and the upper half of v in float64.
func widened(v VecVirtual, do func(half int, d VecVirtual)) {
	h, d0, d1 := XMM(), YMM(), YMM()
	VEXTRACTF128(Imm(1), v, h)
	VCVTPS2PD(v.AsX(), d0)
	do(0, d0)
	VCVTPS2PD(h, d1)
	do(1, d1)
}

// binaryRows emits the element-wise pairs.
func binaryRows() {
	for _, o := range []struct {
		name string
		op   func(b, a, dst Op)
	}{
		{"add", VADDPS_}, {"sub", VSUBPS_}, {"mul", VMULPS_}, {"div", VDIVPS_},
	} {
		TEXT(o.name+"Rows", NOSPLIT, "func(dst, x, y *float32, n int)")
		Pragma("noescape")
		Doc(o.name + "Rows writes x " + o.name + " y for n elements.")
		dst := Load(Param("dst"), GP64())
		x := Load(Param("x"), GP64())
		y := Load(Param("y"), GP64())
		n := Load(Param("n"), GP64())
		fourRows(o.name, n, []Register{dst, x, y}, func(disp int, mask VecVirtual) {
			a, b := loadAt(x, disp, mask), loadAt(y, disp, mask)
			o.op(b, a, a)
			storeAt(a, dst, disp, mask)
		})
		VZEROUPPER()
		RET()
	}
}

// The instruction functions of avo are variadic in this version; these have
// one type.
func VADDPS_(b, a, dst Op) { VADDPS(b, a, dst) }
func VSUBPS_(b, a, dst Op) { VSUBPS(b, a, dst) }
func VMULPS_(b, a, dst Op) { VMULPS(b, a, dst) }
func VDIVPS_(b, a, dst Op) { VDIVPS(b, a, dst) }

// half emits the conversions between float16 and float32, eight at a time.
func half() {
	convert := func(name, from, to, doc string, srcStep, dstStep uint64, body func(src, dst Mem)) {
		TEXT(name, NOSPLIT, "func(dst *"+to+", src *"+from+", n int)")
		Pragma("noescape")
		Doc(doc)
		dst := Load(Param("dst"), GP64())
		src := Load(Param("src"), GP64())
		n := Load(Param("n"), GP64())
		Label(name + "_loop")
		CMPQ(n, Imm(8))
		JL(LabelRef(name + "_done"))
		body(Mem{Base: src}, Mem{Base: dst})
		ADDQ(Imm(srcStep), src)
		ADDQ(Imm(dstStep), dst)
		SUBQ(Imm(8), n)
		JMP(LabelRef(name + "_loop"))
		Label(name + "_done")
		VZEROUPPER()
		RET()
	}
	convert("widenHalf", "uint16", "float32",
		"widenHalf converts n float16, n a multiple of 8; a signalling NaN becomes quiet.", 16, 32,
		func(src, dst Mem) {
			v := YMM()
			VCVTPH2PS(src, v)
			VMOVUPS(v, dst)
		})
	convert("narrowHalf", "float32", "uint16",
		"narrowHalf rounds n float32 to nearest even, n a multiple of 8; a signalling NaN becomes quiet.", 32, 16,
		func(src, dst Mem) {
			v := YMM()
			VMOVUPS(src, v)
			VCVTPS2PH(Imm(0), v, dst)
		})
}
