package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

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
	case halves && !wide:
		name, of = "expHalfRow", "src-sub, both rounded to float16"
	case halves:
		name, signature, of = "expHalfRowWide", "func(dst, src *float32, n int, sub float32, ahead int) float64", "src-sub, both rounded to float16"
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
	if halves {
		toHalf(sub)
	}
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
		if halves {
			toHalf(subs)
		}
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
