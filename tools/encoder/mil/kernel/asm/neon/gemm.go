package main

// gemm emits the register tile of 6 by 16: 24 accumulators, four registers of the right side and one broadcast of the left.
// Each element is one chain of fused multiply-adds in order of k.
func (f *file) gemm() {
	const rows, acc, left = 6, 8, 4
	f.begin("gemmTile", "k int, a *float32, rs int, cs int, b *float32, c *float32, ldc int, add int", 64)
	f.line("MOVD k+0(FP), R0")
	f.line("MOVD a+8(FP), R1")
	f.line("MOVD rs+16(FP), R11")
	f.line("MOVD cs+24(FP), R7")
	f.line("MOVD b+32(FP), R8")
	f.line("MOVD c+40(FP), R9")
	f.line("MOVD ldc+48(FP), R10")
	for i := 1; i < rows; i++ {
		f.line("ADD R11, R%d, R%d", i, i+1)
	}
	for v := acc; v < 32; v++ {
		f.zero(v)
	}
	f.label("gemm_loop")
	f.line("CBZ R0, gemm_store")
	f.line("VLD1.P 64(R8), [V0.S4, V1.S4, V2.S4, V3.S4]")
	for i := range rows {
		f.line("VLD1R.P (R%d)(R7), [V%d.S4]", i+1, left+i%4)
		for j := range 4 {
			f.op3("fmla.4s", acc+4*i+j, j, left+i%4)
		}
	}
	f.line("SUB $1, R0, R0")
	f.line("B gemm_loop")
	f.label("gemm_store")
	f.line("MOVD add+56(FP), R11")
	f.line("CBZ R11, gemm_plain")
	for i := range rows {
		f.line("VLD1 (R9), [V0.S4, V1.S4, V2.S4, V3.S4]")
		for j := range 4 {
			f.op3("fadd.4s", acc+4*i+j, acc+4*i+j, j)
		}
		f.storeRow(acc + 4*i)
	}
	f.end()
	f.label("gemm_plain")
	for i := range rows {
		f.storeRow(acc + 4*i)
	}
	f.end()
}

func (f *file) storeRow(v int) {
	f.line("VST1 [V%d.S4, V%d.S4, V%d.S4, V%d.S4], (R9)", v, v+1, v+2, v+3)
	f.line("ADD R10, R9, R9")
}

// pack emits the packing of 16 rows whose k runs contiguously into k-major lanes, four k at a time by 4x4 transposes.
func (f *file) pack() {
	f.begin("packTransposed16", "dst *float32, src *float32, ld int, n int", 32)
	f.line("MOVD dst+0(FP), R0")
	f.line("MOVD src+8(FP), R1")
	f.line("MOVD ld+16(FP), R2")
	f.line("MOVD n+24(FP), R3")
	f.label("pack_loop")
	f.line("CMP $4, R3")
	f.line("BLT pack_done")
	f.line("MOVD R1, R4")
	for group := range 4 {
		for row := range 4 {
			f.line("VLD1 (R4), [V%d.S4]", row)
			f.line("ADD R2, R4, R4")
		}
		f.op3("trn1.4s", 4, 0, 1)
		f.op3("trn2.4s", 5, 0, 1)
		f.op3("trn1.4s", 6, 2, 3)
		f.op3("trn2.4s", 7, 2, 3)
		// Of each k four registers in a row, one for each group.
		f.op3("trn1.2d", 16+group, 4, 6)
		f.op3("trn1.2d", 20+group, 5, 7)
		f.op3("trn2.2d", 24+group, 4, 6)
		f.op3("trn2.2d", 28+group, 5, 7)
	}
	for k := range 4 {
		v := 16 + 4*k
		f.line("VST1.P [V%d.S4, V%d.S4, V%d.S4, V%d.S4], 64(R0)", v, v+1, v+2, v+3)
	}
	f.line("ADD $16, R1, R1")
	f.line("SUB $4, R3, R3")
	f.line("B pack_loop")
	f.label("pack_done")
	f.end()
}
