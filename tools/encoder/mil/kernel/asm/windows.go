package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// windows emits the packing of the windows of a convolution over one dimension, at sixteen positions that lie step apart.
func windows(step int, halves bool) {
	name, signature, values, size := "windows", "func(dst, src *float32, ld, channels, taps int)", "those", 4
	if halves {
		name, signature, values, size = "widenWindows", "func(dst *float32, src *uint16, ld, channels, taps int)", "those widened", 2
	}
	apart := "one behind the other"
	if step == 2 {
		name, apart = name+"Two", "two apart"
	}
	name += "Wide"
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name+" writes sixteen values for each channel and tap: "+values+" that lie "+apart+" from the tap's place on in the channel.",
		fmt.Sprintf("Channels begin ld bytes apart, taps one value. %d values are read for each.", 16*step))
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	channels := Load(Param("channels"), GP64())
	at, taps := GP64(), GP64()
	even := ZMM()
	if step == 2 && !halves {
		VMOVDQU32(evens(), even)
	}
	Label(name + "_channel")
	Load(Param("taps"), taps)
	MOVQ(src, at)
	Label(name + "_tap")
	v := ZMM()
	switch {
	case step == 2 && halves:
		// What lies first in a pair is its lower half.
		VMOVDQU32(Mem{Base: at}, v)
		VPMOVDW(v, v.AsY())
		VCVTPH2PS(v.AsY(), v)
	case step == 2:
		pick := ZMM()
		VMOVUPS(Mem{Base: at}, v)
		VMOVAPS(even, pick)
		VPERMI2PS(Mem{Base: at, Disp: 64}, v, pick)
		v = pick
	case halves:
		VCVTPH2PS(Mem{Base: at}, v)
	default:
		VMOVUPS(Mem{Base: at}, v)
	}
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(Imm(64), dst)
	ADDQ(Imm(uint64(size)), at)
	DECQ(taps)
	JNZ(LabelRef(name + "_tap"))
	ADDQ(ld, src)
	DECQ(channels)
	JNZ(LabelRef(name + "_channel"))
	VZEROUPPER()
	RET()
}

// evens is sixteen words, 0, 2 and so on.
func evens() Mem {
	m := GLOBL("evens", RODATA|NOPTR)
	for i := 0; i < 16; i++ {
		DATA(4*i, U32(2*i))
	}
	return m
}
