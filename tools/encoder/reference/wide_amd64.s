//go:build !purego

#include "textflag.h"

// One row of a tile: the value of a at P goes against the eight of b in Y12 and Y13. A product is
// rounded, then added: two instructions, so that the sum is what Go's own code gives.
#define ROW(P, LOW, HIGH) \
	VBROADCASTSD P, Y14        \
	VMULPD       Y12, Y14, Y15 \
	VADDPD       Y15, LOW, LOW \
	VMULPD       Y13, Y14, Y14 \
	VADDPD       Y14, HIGH, HIGH

#define ZERO(LOW, HIGH) \
	VXORPD LOW, LOW, LOW    \
	VXORPD HIGH, HIGH, HIGH

#define LOAD(P, LOW, HIGH) \
	VMOVUPD (P), LOW    \
	VMOVUPD 32(P), HIGH

#define STORE(P, LOW, HIGH) \
	VMOVUPD LOW, (P)    \
	VMOVUPD HIGH, 32(P)

// func tile256(k int, a *float64, aStride int, b, c *float64, cStride int, add bool)
TEXT ·tile256(SB), NOSPLIT, $0-49
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ aStride+16(FP), DX
	MOVQ b+24(FP), BX
	MOVQ c+32(FP), DI
	MOVQ cStride+40(FP), R8
	SHLQ $3, DX
	SHLQ $3, R8
	LEAQ (SI)(DX*2), R9
	ADDQ DX, R9             // a's fourth row
	LEAQ (DI)(R8*1), R10    // c's other rows
	LEAQ (R10)(R8*1), R11
	LEAQ (R11)(R8*1), R12
	LEAQ (R12)(R8*1), R13
	LEAQ (R13)(R8*1), AX
	MOVBLZX add+48(FP), R14
	TESTL R14, R14
	JNZ   old
	ZERO(Y0, Y1)
	ZERO(Y2, Y3)
	ZERO(Y4, Y5)
	ZERO(Y6, Y7)
	ZERO(Y8, Y9)
	ZERO(Y10, Y11)
	JMP next

old:
	LOAD(DI, Y0, Y1)
	LOAD(R10, Y2, Y3)
	LOAD(R11, Y4, Y5)
	LOAD(R12, Y6, Y7)
	LOAD(R13, Y8, Y9)
	LOAD(AX, Y10, Y11)

next:
	VMOVUPD (BX), Y12
	VMOVUPD 32(BX), Y13
	ROW((SI), Y0, Y1)
	ROW((SI)(DX*1), Y2, Y3)
	ROW((SI)(DX*2), Y4, Y5)
	ROW((R9), Y6, Y7)
	ROW((R9)(DX*1), Y8, Y9)
	ROW((R9)(DX*2), Y10, Y11)
	ADDQ $8, SI
	ADDQ $8, R9
	ADDQ $64, BX
	DECQ CX
	JNZ  next

	STORE(DI, Y0, Y1)
	STORE(R10, Y2, Y3)
	STORE(R11, Y4, Y5)
	STORE(R12, Y6, Y7)
	STORE(R13, Y8, Y9)
	STORE(AX, Y10, Y11)
	VZEROUPPER
	RET

// The numbers of exp (arithmetic.go), four of each.
DATA numbers<>+0(SB)/8, $-708.0
DATA numbers<>+8(SB)/8, $0x3FF71547652B82FE  // log2(e)
DATA numbers<>+16(SB)/8, $0x4338000000000000 // 1.5 * 2^52
DATA numbers<>+24(SB)/8, $0x3FE62E42FEE00000 // ln(2), upper bits
DATA numbers<>+32(SB)/8, $0x3DEA39EF35793C76 // the rest
DATA numbers<>+40(SB)/8, $1023
GLOBL numbers<>(SB), RODATA, $48

// func exp256(x *float64, n int, high, divisor float64, coefficients *float64)
TEXT ·exp256(SB), NOSPLIT, $0-40
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSD high+16(FP), Y15
	VBROADCASTSD divisor+24(FP), Y14
	MOVQ         coefficients+32(FP), BX
	VBROADCASTSD numbers<>+0(SB), Y13
	VBROADCASTSD numbers<>+8(SB), Y12
	VBROADCASTSD numbers<>+16(SB), Y11
	VBROADCASTSD numbers<>+24(SB), Y10
	VBROADCASTSD numbers<>+32(SB), Y9
	VBROADCASTSD numbers<>+40(SB), Y8

four:
	VMOVUPD (SI), Y0
	VSUBPD  Y15, Y0, Y0
	VDIVPD  Y14, Y0, Y0
	VMAXPD  Y0, Y13, Y0   // of two, the second where one is no number: x
	VMULPD  Y12, Y0, Y1
	VADDPD  Y11, Y1, Y1
	VSUBPD  Y11, Y1, Y2   // k
	VMULPD  Y10, Y2, Y3
	VSUBPD  Y3, Y0, Y0
	VMULPD  Y9, Y2, Y3
	VSUBPD  Y3, Y0, Y0
	VPADDQ  Y8, Y1, Y1
	VPSLLQ  $52, Y1, Y1   // 2^k
	VBROADCASTSD (BX), Y2
	MOVQ    $8, AX

term:
	VMULPD       Y0, Y2, Y2
	VBROADCASTSD (BX)(AX*1), Y3
	VADDPD       Y3, Y2, Y2
	ADDQ         $8, AX
	CMPQ         AX, $(8*14)
	JNE          term

	VMULPD  Y1, Y2, Y2
	VMOVUPD Y2, (SI)
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNZ     four
	VZEROUPPER
	RET

// func divide256(x *float64, n int, divisor float64)
TEXT ·divide256(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSD divisor+16(FP), Y1

four:
	VMOVUPD (SI), Y0
	VDIVPD  Y1, Y0, Y0
	VMOVUPD Y0, (SI)
	ADDQ    $32, SI
	SUBQ    $4, CX
	JNZ     four
	VZEROUPPER
	RET
