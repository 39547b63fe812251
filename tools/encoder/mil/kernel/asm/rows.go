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
