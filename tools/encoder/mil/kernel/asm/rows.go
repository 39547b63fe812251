package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// splat returns sixteen copies of a float32 in read-only memory, once per value.
func splat(v float32) Mem {
	return words(fmt.Sprintf("f%08x", math.Float32bits(v)), math.Float32bits(v))
}

// splatInt returns sixteen copies of a 32-bit word in read-only memory.
func splatInt(v uint32) Mem { return words(fmt.Sprintf("i%08x", v), v) }

var known = map[string]Mem{}

func words(name string, v uint32) Mem {
	if m, ok := known[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 16; i++ {
		DATA(4*i, U32(v))
	}
	known[name] = m
	return m
}

// single returns one copy of a float32 in read-only memory, for an instruction that repeats it in every lane: sixteen
// copies would lie across two cache lines, since Go's linker aligns data by 32 bytes at most.
func single(v float32) Mem {
	return lone(fmt.Sprintf("s%08x", math.Float32bits(v)), math.Float32bits(v))
}

// singleInt is single for a 32-bit word.
func singleInt(v uint32) Mem { return lone(fmt.Sprintf("w%08x", v), v) }

func lone(name string, v uint32) Mem {
	m, ok := known[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U32(v))
		known[name] = m
	}
	return m
}

// tailTable is eight words of ones, then eight of zeros.
func tailTable() Mem {
	m, ok := known["tailmask"]
	if !ok {
		m = GLOBL("tailmask", RODATA|NOPTR)
		for i := 0; i < 16; i++ {
			v := uint32(0)
			if i < 8 {
				v = 0xffffffff
			}
			DATA(4*i, U32(v))
		}
		known["tailmask"] = m
	}
	return m
}

// tail sets mask to n leading lanes of ones, n below 8.
func tail(n Register, mask VecVirtual) {
	p, q := GP64(), GP64()
	LEAQ(tailTable(), p)
	MOVQ(n, q)
	SHLQ(Imm(2), q)
	SUBQ(q, p)
	VMOVUPS(Mem{Base: p, Disp: 32}, mask)
}

// rows emits a loop over n elements: body for whole lanes, then body once with a mask.
func rows(label string, n Register, ptrs []Register, body func(mask VecVirtual)) {
	Label(label + "_loop")
	CMPQ(n, Imm(8))
	JL(LabelRef(label + "_tail"))
	body(nil)
	for _, p := range ptrs {
		ADDQ(Imm(32), p)
	}
	SUBQ(Imm(8), n)
	JMP(LabelRef(label + "_loop"))
	Label(label + "_tail")
	TESTQ(n, n)
	JZ(LabelRef(label + "_done"))
	mask := YMM()
	tail(n, mask)
	body(mask)
	Label(label + "_done")
}

// fourRows is rows for bodies so short that the loop itself would cost more: first four at a time, at a displacement each.
func fourRows(label string, n Register, ptrs []Register, body func(disp int, mask VecVirtual)) {
	const four = 4 * 8
	Label(label + "_four")
	CMPQ(n, Imm(four))
	JL(LabelRef(label + "_loop"))
	for i := 0; i < 4; i++ {
		body(32*i, nil)
	}
	for _, p := range ptrs {
		ADDQ(U32(4*four), p)
	}
	SUBQ(Imm(four), n)
	JMP(LabelRef(label + "_four"))
	rows(label, n, ptrs, func(mask VecVirtual) { body(0, mask) })
}

func load(p Register, mask VecVirtual) VecVirtual { return loadAt(p, 0, mask) }

func loadAt(p Register, disp int, mask VecVirtual) VecVirtual {
	v := YMM()
	if mask == nil {
		VMOVUPS(Mem{Base: p, Disp: disp}, v)
	} else {
		VMASKMOVPS(Mem{Base: p, Disp: disp}, mask, v)
	}
	return v
}

func store(v VecVirtual, p Register, mask VecVirtual) { storeAt(v, p, 0, mask) }

func storeAt(v VecVirtual, p Register, disp int, mask VecVirtual) {
	if mask == nil {
		VMOVUPS(v, Mem{Base: p, Disp: disp})
	} else {
		VMASKMOVPS(v, mask, Mem{Base: p, Disp: disp})
	}
}

// rowMax emits the largest value of a row. Order does not matter to it, so that wide may take sixteen lanes.
func rowMax(wide bool) {
	name, lanes := "maxRow", VecVirtual(YMM())
	if wide {
		name, lanes = "maxRowWide", ZMM()
	}
	step := int(lanes.Size())
	TEXT(name, NOSPLIT, "func(src *float32, n int) float32")
	Pragma("noescape")
	Doc(name + " returns the largest of n values; a NaN may or may not be it.")
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	low := float32(math.Inf(-1))
	// Four at a time, since each waits for the one before it.
	var four [4]VecVirtual
	for i := range four {
		four[i] = like(lanes)
		constant(low, four[i])
	}
	Label(name + "_four")
	CMPQ(n, U32(step))
	JL(LabelRef(name + "_one"))
	for i, m := range four {
		VMAXPS(Mem{Base: src, Disp: step * i}, m, m)
	}
	ADDQ(U32(4*step), src)
	SUBQ(U32(step), n)
	JMP(LabelRef(name + "_four"))
	Label(name + "_one")
	for _, other := range four[1:] {
		VMAXPS(other, four[0], four[0])
	}
	m := four[0].AsY().(VecVirtual)
	if wide {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), four[0], upper)
		VMAXPS(upper, m, m)
	}
	rows(name, n, []Register{src}, func(mask VecVirtual) {
		v := load(src, mask)
		if mask != nil {
			fill := YMM()
			constant(low, fill)
			VBLENDVPS(mask, v, fill, v)
		}
		VMAXPS(v, m, m)
	})
	h, t := XMM(), XMM()
	VEXTRACTF128(Imm(1), m, h)
	VMAXPS(h, m.AsX(), h)
	VPERMILPS(Imm(0x4e), h, t)
	VMAXPS(t, h, h)
	VPERMILPS(Imm(0xb1), h, t)
	VMAXPS(t, h, h)
	Store(h, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// like is a fresh register as wide as v.
func like(v VecVirtual) VecVirtual {
	if isWide(v) {
		return ZMM()
	}
	return YMM()
}

func isWide(v VecVirtual) bool { return v.Size() == 64 }

// exp replaces each lane of each x by e to its power: range reduction by ln 2 in two
// parts, a polynomial fitted for the least relative error (3e-9), and scaling in
// two halves so that subnormal results are right. NaN stays NaN. Several registers go step by step together, since
// each step waits for the one before it, longer than the processor looks ahead.
func exp(xs ...VecVirtual) {
	wide := isWide(xs[0])
	ns, ps := make([]VecVirtual, len(xs)), make([]VecVirtual, len(xs))
	each := func(step func(x, n, p VecVirtual)) {
		for i, x := range xs {
			step(x, ns[i], ps[i])
		}
	}
	low, high := like(xs[0]), like(xs[0])
	constant(-104.5, low)
	constant(89, high)
	for i, x := range xs {
		ns[i], ps[i] = like(x), like(x)
	}
	each(func(x, _, _ VecVirtual) { VMAXPS(x, low, x) }) // a NaN in x comes back from either comparison
	each(func(x, _, _ VecVirtual) { VMINPS(x, high, x) })
	each(func(x, n, _ VecVirtual) { mul(math.Log2E, x, n) })
	each(func(_, n, _ VecVirtual) {
		if wide {
			VRNDSCALEPS(Imm(8), n, n)
		} else {
			VROUNDPS(Imm(8), n, n)
		}
	})
	each(func(x, n, _ VecVirtual) { lessProduct(0.693359375, n, x) })
	each(func(x, n, _ VecVirtual) { lessProduct(-2.12194440e-4, n, x) })
	each(func(_, _, p VecVirtual) { constant(0.001381446490995586, p) })
	for _, c := range []float32{0.008368780836462975, 0.04166839271783829, 0.1666651964187622, 0.4999999403953552, 1, 1} {
		each(func(x, _, p VecVirtual) { horner(x, p, c) })
	}
	each(func(x, n, p VecVirtual) {
		if wide {
			VSCALEFPS(n, p, x) // rounds once, as the two halves do
			return
		}
		VCVTPS2DQ(n, n)
		h := like(x)
		VPSRAD(Imm(1), n, h)
		VPSUBD(h, n, n)
		for _, e := range []VecVirtual{h, n} {
			VPADDD(splatInt(127), e, e)
			VPSLLD(Imm(23), e, e)
			VMULPS(e, p, p)
		}
		VMOVUPS(p, x)
	})
}

// expRow emits the row in eight lanes; wide takes sixteen while there are as many, and adds to the same eight sums
// in the same order. Wide also changes what it reads: it multiplies by a factor, in a rounding of its own, or rounds to float16.
func expRow(wide, halves bool) {
	name, signature, of := "expRow", "func(dst, src *float32, n int, sub float32) float64", "src-sub"
	switch {
	case halves:
		name, signature, of = "expHalfRowWide", "func(dst, src *float32, n int, sub float32, ahead int) float64", "src-sub, src rounded to float16"
	case wide:
		name, signature, of = "expRowWide", "func(dst, src *float32, n int, sub, by float32, ahead int) float64", "src*by-sub"
	}
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " writes exp(" + of + ") and returns the sum of what it wrote, in eight float64 lanes added in a fixed tree.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	sub, s0, s1 := YMM(), YMM(), YMM()
	VBROADCASTSS(NewParamAddr("sub", 24), sub)
	VXORPD(s0, s0, s0)
	VXORPD(s1, s1, s1)
	by := YMM()
	if wide {
		// What is ahead bytes further on is wanted next: it is on its way while the processor computes.
		ahead := Load(Param("ahead"), GP64())
		factors, subs, sums := ZMM(), ZMM(), ZMM()
		if !halves {
			VBROADCASTSS(NewParamAddr("by", 28), by)
			VBROADCASTSS(NewParamAddr("by", 28), factors)
		}
		VBROADCASTSS(NewParamAddr("sub", 24), subs)
		VPXORQ(sums, sums, sums)
		several := func(count int) {
			v := make([]VecVirtual, count)
			for i := range v {
				v[i] = ZMM()
				PREFETCHT0(Mem{Base: src, Index: ahead, Scale: 1, Disp: 64 * i})
				if halves {
					VMOVUPS(Mem{Base: src, Disp: 64 * i}, v[i])
					toHalf(v[i])
				} else {
					VMULPS(Mem{Base: src, Disp: 64 * i}, factors, v[i])
				}
			}
			for _, v := range v {
				VSUBPS(subs, v, v)
			}
			exp(v...)
			for i, v := range v {
				VMOVUPS(v, Mem{Base: dst, Disp: 64 * i})
				for half := 0; half < 2; half++ {
					// From memory, since a half of a register would have to be moved first.
					d := ZMM()
					VCVTPS2PD(Mem{Base: dst, Disp: 64*i + 32*half}, d)
					VADDPD(d, sums, sums)
				}
			}
		}
		together := 4
		if halves {
			together = 8 // whose chains are longer
		}
		manyRows(name, together, n, []Register{dst, src}, func() { several(together) })
		wideRows(name, n, []Register{dst, src}, func() { several(1) })
		VMOVUPD(sums.AsY(), s0)
		VEXTRACTF64X4(Imm(1), sums, s1)
	}
	rows(name, n, []Register{dst, src}, func(mask VecVirtual) {
		v := load(src, mask)
		switch {
		case halves:
			toHalf(v)
		case wide:
			VMULPS(by, v, v)
		}
		VSUBPS(sub, v, v)
		exp(v)
		store(v, dst, mask)
		if mask != nil {
			VANDPS(mask, v, v)
		}
		d, h := YMM(), XMM()
		VCVTPS2PD(v.AsX(), d)
		VADDPD(d, s0, s0)
		VEXTRACTF128(Imm(1), v, h)
		VCVTPS2PD(h, d)
		VADDPD(d, s1, s1)
	})
	Store(sumLanes(s0, s1), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// sumLanes adds eight float64 lanes in a fixed tree.
func sumLanes(s0, s1 VecVirtual) VecVirtual {
	VADDPD(s1, s0, s0)
	h, t := XMM(), XMM()
	VEXTRACTF128(Imm(1), s0, h)
	VADDPD(h, s0.AsX(), h)
	VPERMILPD(Imm(1), h, t)
	VADDPD(t, h, h)
	return h
}

func scaleRow() {
	TEXT("scaleRow", NOSPLIT, "func(dst, src *float32, n int, by float32)")
	Pragma("noescape")
	Doc("scaleRow writes src*by.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	by := YMM()
	VBROADCASTSS(NewParamAddr("by", 24), by)
	fourRows("scale", n, []Register{dst, src}, func(disp int, mask VecVirtual) {
		v := loadAt(src, disp, mask)
		VMULPS(by, v, v)
		storeAt(v, dst, disp, mask)
	})
	VZEROUPPER()
	RET()
}

// geluRow emits x/2 * (1 + erf(x/sqrt 2)). Below one, erf is x + x*P(x²); above,
// 1 - exp(-t*Q(t)) with Q fitted to -ln(erfc(t))/t; both to about 1e-9. Wide is as for expRow.
func geluRow(wide bool) {
	name := "geluRow"
	if wide {
		name = "geluRowWide"
	}
	TEXT(name, NOSPLIT, "func(dst, src *float32, n int)")
	Pragma("noescape")
	Doc(name + " writes the exact (error function) Gaussian linear unit of src.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	if wide {
		several := func(count int) {
			v := make([]VecVirtual, count)
			for i := range v {
				v[i] = ZMM()
				VMOVUPS(Mem{Base: src, Disp: 64 * i}, v[i])
			}
			gelu(v...)
			for i, v := range v {
				VMOVUPS(v, Mem{Base: dst, Disp: 64 * i})
			}
		}
		const together = 4
		manyRows(name, together, n, []Register{dst, src}, func() { several(together) })
		wideRows(name, n, []Register{dst, src}, func() { several(1) })
	}
	rows(name, n, []Register{dst, src}, func(mask VecVirtual) {
		v := load(src, mask)
		gelu(v)
		store(v, dst, mask)
	})
	VZEROUPPER()
	RET()
}

// gelu replaces each lane of each v, step by step together as exp does.
func gelu(vs ...VecVirtual) {
	fresh := func() []VecVirtual {
		rs := make([]VecVirtual, len(vs))
		for i := range rs {
			rs[i] = like(vs[i])
		}
		return rs
	}
	each := func(step func(i int)) {
		for i := range vs {
			step(i)
		}
	}
	// polynomial sets p to one in x, whose coefficients begin with the highest.
	polynomial := func(x, p []VecVirtual, highest float32, others ...float32) {
		each(func(i int) { constant(highest, p[i]) })
		for _, c := range others {
			each(func(i int) { horner(x[i], p[i], c) })
		}
	}
	x, t, q, lim := fresh(), fresh(), fresh(), like(vs[0])
	constant(4, lim)
	each(func(i int) { mul(math.Sqrt2/2, vs[i], x[i]) })
	each(func(i int) { bits(and, 0x7fffffff, x[i], t[i]) })
	each(func(i int) { VMINPS(t[i], lim, t[i]) })
	polynomial(t, q, 1.2579228496178985e-05, -0.0003363403375260532, 0.0036976956762373447, -0.023879343643784523,
		0.1063736081123352, 0.6350682377815247, 1.128669023513794)
	choose := make([]func(q, p VecVirtual), len(vs))
	each(func(i int) { choose[i] = atLeastOne(t[i]) })
	each(func(i int) { VMULPS(t[i], q[i], q[i]) })
	each(func(i int) { bits(xor, 0x80000000, q[i], q[i]) })
	exp(q...)
	one, sign := like(vs[0]), fresh()
	constant(1, one)
	each(func(i int) { VSUBPS(q[i], one, q[i]) })
	each(func(i int) { bits(and, 0x80000000, x[i], sign[i]) })
	each(func(i int) { or(sign[i], q[i], q[i]) })

	s, p := fresh(), fresh()
	each(func(i int) { VMULPS(x[i], x[i], s[i]) })
	polynomial(s, p, 7.853857823647559e-05, -0.0008010192541405559, 0.005188327748328447, -0.026853810995817184,
		0.1128358542919159, -0.3761262595653534, 0.12837916626125122)
	each(func(i int) { VFMADD213PS(x[i], x[i], p[i]) })
	each(func(i int) { choose[i](q[i], p[i]) })
	each(func(i int) { plus(1, p[i], p[i]) })
	each(func(i int) { mul(0.5, vs[i], vs[i]) })
	each(func(i int) { VMULPS(p[i], vs[i], vs[i]) })
}
