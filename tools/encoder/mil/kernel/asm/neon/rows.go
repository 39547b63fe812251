package main

import "math"

// rowArguments loads the usual dst, src, n into R0, R1, R2.
func (f *file) rowArguments() {
	f.line("MOVD dst+0(FP), R0")
	f.line("MOVD src+8(FP), R1")
	f.line("MOVD n+16(FP), R2")
}

func (f *file) maxBlocks() {
	f.begin("maxBlocks", "src *float32, n int) (largest float32", 20)
	f.line("MOVD src+0(FP), R1")
	f.line("MOVD n+8(FP), R2")
	f.line("MOVW $0xff800000, R3")
	f.line("VDUP R3, V0.S4")
	f.move(1, 0)
	f.blocks("max", 2, func() {
		f.load2(1, 2)
		f.op3("fmax.4s", 0, 0, 2)
		f.op3("fmax.4s", 1, 1, 3)
	})
	f.op3("fmax.4s", 0, 0, 1)
	f.op2("fmaxv.4s", 0, 0)
	f.line("FMOVS F0, largest+16(FP)")
	f.end()
}

// expConstants are what exp reads, in order.
var expConstants = []uint32{
	bits(-104.5), bits(89), bits(float32(math.Log2E)), bits(0.693359375), bits(-2.12194440e-4),
	bits(0.001381446490995586), bits(0.008368780836462975), bits(0.04166839271783829), bits(0.1666651964187622), bits(0.4999999403953552), bits(1), bits(1), 127,
}

// exp replaces each lane of the registers x by e to its power; R4 points at expConstants and is moved behind them. It uses
// a temporary, and per register n, p and h, given by their first numbers.
func (f *file) exp(x []int, t, n, p, h int) {
	each := func(do func(i int)) {
		for i := range x {
			do(i)
		}
	}
	f.splat(4, t)
	each(func(i int) { f.op3("fmax.4s", x[i], x[i], t) })
	f.splat(4, t)
	each(func(i int) { f.op3("fmin.4s", x[i], x[i], t) })
	f.splat(4, t)
	each(func(i int) {
		f.op3("fmul.4s", n+i, x[i], t)
		f.op2("frintn.4s", n+i, n+i)
	})
	for range 2 { // ln 2 in two parts
		f.splat(4, t)
		each(func(i int) { f.op3("fmls.4s", x[i], n+i, t) })
	}
	f.splat(4, t)
	each(func(i int) { f.move(p+i, t) })
	f.horner(x, t, p, h, 6)
	f.splat(4, t) // 127
	each(func(i int) {
		f.op2("fcvtns.4s", n+i, n+i)
		f.shift(false, h+i, n+i, 1)
		f.op3("sub.4s", n+i, n+i, h+i)
		for _, e := range []int{h + i, n + i} {
			f.op3("add.4s", e, e, t)
			f.shift(true, e, e, 23)
			f.op3("fmul.4s", p+i, p+i, e)
		}
	})
	each(func(i int) { f.move(x[i], p+i) })
}

// horner carries a polynomial in p on by so many steps p = x*p + c, with h for the next p.
func (f *file) horner(x []int, t, p, h, steps int) {
	for range steps {
		f.splat(4, t)
		for i := range x {
			f.move(h+i, t)
			f.op3("fmla.4s", h+i, x[i], p+i)
			f.move(p+i, h+i)
		}
	}
}

// expBlocks also adds what it wrote, in eight float64 lanes that it takes and leaves in memory.
func (f *file) expBlocks() {
	f.table(name("exp"), expConstants...)
	f.begin("expBlocks", "dst *float32, src *float32, n int, sub float32, lanes *[8]float64", 40)
	f.rowArguments()
	f.line("FMOVS sub+24(FP), F31")
	f.op2("dup.4s", 31, 31)
	f.line("MOVD lanes+32(FP), R5")
	f.line("VLD1 (R5), [V24.D2, V25.D2, V26.D2, V27.D2]")
	f.blocks("exp", 2, func() {
		f.load2(1, 0)
		f.op3("fsub.4s", 0, 0, 31)
		f.op3("fsub.4s", 1, 1, 31)
		f.line("MOVD $%s<>(SB), R4", name("exp"))
		f.exp([]int{0, 1}, 2, 4, 6, 8)
		f.store2(0, 0)
		f.widened(0, func(lane, d int) { f.op3("fadd.2d", 24+lane, 24+lane, d) })
	})
	f.line("VST1 [V24.D2, V25.D2, V26.D2, V27.D2], (R5)")
	f.end()
}

// widened calls do with the four pairs of float64 that the registers v and v+1 become, in V16.
func (f *file) widened(v int, do func(pair, d int)) {
	for pair := range 4 {
		f.op2([]string{"fcvtl.2d", "fcvtl2.2d"}[pair%2], 16, v+pair/2)
		do(pair, 16)
	}
}

func (f *file) scaleBlocks() {
	f.begin("scaleBlocks", "dst *float32, src *float32, n int, by float32", 28)
	f.rowArguments()
	f.line("FMOVS by+24(FP), F31")
	f.op2("dup.4s", 31, 31)
	f.blocks("scale", 2, func() {
		f.load2(1, 0)
		f.op3("fmul.4s", 0, 0, 31)
		f.op3("fmul.4s", 1, 1, 31)
		f.store2(0, 0)
	})
	f.end()
}

// geluBlocks emits x/2 * (1 + erf(x/sqrt 2)) as geluRow of AVX2 has it.
func (f *file) geluBlocks() {
	above := []uint32{bits(4), bits(1.2579228496178985e-05), bits(-0.0003363403375260532), bits(0.0036976956762373447), bits(-0.023879343643784523),
		bits(0.1063736081123352), bits(0.6350682377815247), bits(1.128669023513794)}
	below := []uint32{bits(7.853857823647559e-05), bits(-0.0008010192541405559), bits(0.005188327748328447), bits(-0.026853810995817184),
		bits(0.1128358542919159), bits(-0.3761262595653534), bits(0.12837916612625122)}
	words := []uint32{bits(float32(math.Sqrt2 / 2)), 0x80000000}
	words = append(words, above...)
	words = append(words, expConstants...)
	words = append(words, below...)
	words = append(words, bits(1), bits(0.5))
	f.table(name("gelu"), words...)
	f.begin("geluBlocks", "dst *float32, src *float32, n int", 24)
	f.rowArguments()
	pair := []int{0, 1}
	f.blocks("gelu", 2, func() {
		const v, x, sign, t, c, q, h, n, p, big = 0, 2, 4, 6, 31, 8, 10, 12, 14, 16
		f.load2(1, v)
		f.line("MOVD $%s<>(SB), R4", name("gelu"))
		f.splat(4, c)
		for i := range pair {
			f.op3("fmul.4s", x+i, v+i, c)
		}
		f.splat(4, c)
		for i := range pair {
			f.op3("and.16b", sign+i, x+i, c)
			f.op2("fabs.4s", t+i, x+i)
		}
		f.splat(4, c)
		for i := range pair {
			f.op3("fmin.4s", t+i, t+i, c)
		}
		f.splat(4, c)
		for i := range pair {
			f.move(q+i, c)
		}
		f.horner([]int{t, t + 1}, c, q, h, len(above)-2)
		f.line("FMOVS $1.0, F30")
		f.op2("dup.4s", 30, 30)
		for i := range pair {
			f.op3("fcmge.4s", big+i, t+i, 30)
			f.op3("fmul.4s", q+i, q+i, t+i)
			f.neg(q+i, q+i)
		}
		f.exp([]int{q, q + 1}, c, n, p, h)
		for i := range pair {
			f.op3("fsub.4s", q+i, 30, q+i)
			f.op3("orr.16b", q+i, q+i, sign+i)
			f.op3("fmul.4s", t+i, x+i, x+i)
		}
		f.splat(4, c)
		for i := range pair {
			f.move(p+i, c)
		}
		f.horner([]int{t, t + 1}, c, p, h, len(below)-1)
		for i := range pair {
			f.move(h+i, x+i)
			f.op3("fmla.4s", h+i, x+i, p+i)
			f.op3("bsl.16b", big+i, q+i, h+i)
		}
		f.splat(4, c) // 1
		for i := range pair {
			f.op3("fadd.4s", big+i, big+i, c)
		}
		f.splat(4, c) // one half
		for i := range pair {
			f.op3("fmul.4s", v+i, v+i, c)
			f.op3("fmul.4s", v+i, v+i, big+i)
		}
		f.store2(0, v)
	})
	f.end()
}

// norms emits the three passes of layer_norm, in float64: sums, sums of squares of differences, and the result.
func (f *file) norms() {
	f.begin("sumBlocks", "src *float32, n int, lanes *[8]float64", 24)
	f.line("MOVD src+0(FP), R1")
	f.line("MOVD n+8(FP), R2")
	f.line("MOVD lanes+16(FP), R5")
	f.line("VLD1 (R5), [V24.D2, V25.D2, V26.D2, V27.D2]")
	f.blocks("sum", 2, func() {
		f.load2(1, 0)
		f.widened(0, func(lane, d int) { f.op3("fadd.2d", 24+lane, 24+lane, d) })
	})
	f.line("VST1 [V24.D2, V25.D2, V26.D2, V27.D2], (R5)")
	f.end()

	f.begin("squareBlocks", "src *float32, n int, mean float64, lanes *[8]float64", 32)
	f.line("MOVD src+0(FP), R1")
	f.line("MOVD n+8(FP), R2")
	f.line("FMOVD mean+16(FP), F31")
	f.op2("dup.2d", 31, 31)
	f.line("MOVD lanes+24(FP), R5")
	f.line("VLD1 (R5), [V24.D2, V25.D2, V26.D2, V27.D2]")
	f.blocks("square", 2, func() {
		f.load2(1, 0)
		f.widened(0, func(lane, d int) {
			f.op3("fsub.2d", d, d, 31)
			f.op3("fmla.2d", 24+lane, d, d)
		})
	})
	f.line("VST1 [V24.D2, V25.D2, V26.D2, V27.D2], (R5)")
	f.end()

	f.begin("normBlocks", "dst *float32, src *float32, gamma *float32, beta *float32, n int, mean float64, scale float64", 56)
	f.line("MOVD dst+0(FP), R0")
	f.line("MOVD src+8(FP), R1")
	f.line("MOVD gamma+16(FP), R3")
	f.line("MOVD beta+24(FP), R4")
	f.line("MOVD n+32(FP), R2")
	f.line("FMOVD mean+40(FP), F31")
	f.op2("dup.2d", 31, 31)
	f.line("FMOVD scale+48(FP), F30")
	f.op2("dup.2d", 30, 30)
	f.blocks("norm", 2, func() {
		f.load2(1, 0)
		f.load2(3, 2)
		f.load2(4, 4)
		f.widened(0, func(lane, d int) {
			wide := []string{"fcvtl.2d", "fcvtl2.2d"}[lane%2]
			narrow := []string{"fcvtn.2s", "fcvtn2.4s"}[lane%2]
			f.op3("fsub.2d", d, d, 31)
			f.op3("fmul.2d", d, d, 30)
			f.op2(wide, 17, 2+lane/2)
			f.op2(wide, 18, 4+lane/2)
			f.op3("fmla.2d", 18, 17, d)
			f.op2(narrow, 6+lane/2, 18)
		})
		f.store2(0, 6)
	})
	f.end()
}

func (f *file) binary() {
	for _, name := range []string{"add", "sub", "mul", "div"} {
		f.begin(name+"Blocks", "dst *float32, x *float32, y *float32, n int", 32)
		f.line("MOVD dst+0(FP), R0")
		f.line("MOVD x+8(FP), R1")
		f.line("MOVD y+16(FP), R3")
		f.line("MOVD n+24(FP), R2")
		f.blocks(name, 2, func() {
			f.load2(1, 0)
			f.load2(3, 2)
			f.op3("f"+name+".4s", 0, 0, 2)
			f.op3("f"+name+".4s", 1, 1, 3)
			f.store2(0, 0)
		})
		f.end()
	}
}

func (f *file) half() {
	f.begin("widenHalf", "dst *float32, src *uint16, n int", 24)
	f.rowArguments()
	f.blocks("widen", 2, func() {
		f.line("VLD1.P 16(R1), [V0.H8]")
		f.op2("fcvtl.4s", 2, 0)
		f.op2("fcvtl2.4s", 3, 0)
		f.store2(0, 2)
	})
	f.end()
	f.begin("narrowHalf", "dst *uint16, src *float32, n int", 24)
	f.rowArguments()
	f.blocks("narrow", 2, func() {
		f.load2(1, 0)
		f.op2("fcvtn.4h", 2, 0)
		f.op2("fcvtn2.8h", 2, 1)
		f.line("VST1.P [V2.H8], 16(R0)")
	})
	f.end()
}
