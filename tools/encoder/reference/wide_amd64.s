//go:build !purego

#include "textflag.h"

// One row of a tile: the value of a at P goes against the eight of b in Y12 and Y13.
#define ROW(P, LOW, HIGH) \
	VBROADCASTSD P, Y14          \
	VFMADD231PD  Y12, Y14, LOW   \
	VFMADD231PD  Y13, Y14, HIGH

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

// One row of four tiles: the value of a at P goes against the eight of b in Z24 and the eight of b8 in Z25.
#define WIDEROW(P, LOW, HIGH) \
	VBROADCASTSD P, Z26          \
	VFMADD231PD  Z24, Z26, LOW   \
	VFMADD231PD  Z25, Z26, HIGH

#define WIDELOAD(LOW, HIGH) \
	VMOVUPD (R12), LOW    \
	VMOVUPD 64(R12), HIGH \
	ADDQ    R8, R12

#define WIDESTORE(LOW, HIGH) \
	VMOVUPD LOW, (DI)    \
	VMOVUPD HIGH, 64(DI) \
	ADDQ    R8, DI

// func tile512(k int, a *float64, aStride int, b, b8, c *float64, cStride int, add bool)
TEXT ·tile512(SB), NOSPLIT, $0-57
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ aStride+16(FP), DX
	MOVQ b+24(FP), BX
	MOVQ b8+32(FP), R13
	MOVQ c+40(FP), DI
	MOVQ cStride+48(FP), R8
	SHLQ $3, DX
	SHLQ $3, R8
	LEAQ (DX)(DX*2), AX
	LEAQ (SI)(AX*1), R9     // a's fourth, seventh and tenth row
	LEAQ (R9)(AX*1), R10
	LEAQ (R10)(AX*1), R11
	MOVBLZX add+56(FP), AX
	TESTL AX, AX
	JNZ   old
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	VPXORQ Z20, Z20, Z20
	VPXORQ Z21, Z21, Z21
	VPXORQ Z22, Z22, Z22
	VPXORQ Z23, Z23, Z23
	JMP   next

old:
	MOVQ DI, R12
	WIDELOAD(Z0, Z1)
	WIDELOAD(Z2, Z3)
	WIDELOAD(Z4, Z5)
	WIDELOAD(Z6, Z7)
	WIDELOAD(Z8, Z9)
	WIDELOAD(Z10, Z11)
	WIDELOAD(Z12, Z13)
	WIDELOAD(Z14, Z15)
	WIDELOAD(Z16, Z17)
	WIDELOAD(Z18, Z19)
	WIDELOAD(Z20, Z21)
	WIDELOAD(Z22, Z23)

next:
	VMOVUPD (BX), Z24
	VMOVUPD (R13), Z25
	WIDEROW((SI), Z0, Z1)
	WIDEROW((SI)(DX*1), Z2, Z3)
	WIDEROW((SI)(DX*2), Z4, Z5)
	WIDEROW((R9), Z6, Z7)
	WIDEROW((R9)(DX*1), Z8, Z9)
	WIDEROW((R9)(DX*2), Z10, Z11)
	WIDEROW((R10), Z12, Z13)
	WIDEROW((R10)(DX*1), Z14, Z15)
	WIDEROW((R10)(DX*2), Z16, Z17)
	WIDEROW((R11), Z18, Z19)
	WIDEROW((R11)(DX*1), Z20, Z21)
	WIDEROW((R11)(DX*2), Z22, Z23)
	ADDQ $8, SI
	ADDQ $8, R9
	ADDQ $8, R10
	ADDQ $8, R11
	ADDQ $64, BX
	ADDQ $64, R13
	DECQ CX
	JNZ  next

	WIDESTORE(Z0, Z1)
	WIDESTORE(Z2, Z3)
	WIDESTORE(Z4, Z5)
	WIDESTORE(Z6, Z7)
	WIDESTORE(Z8, Z9)
	WIDESTORE(Z10, Z11)
	WIDESTORE(Z12, Z13)
	WIDESTORE(Z14, Z15)
	WIDESTORE(Z16, Z17)
	WIDESTORE(Z18, Z19)
	WIDESTORE(Z20, Z21)
	WIDESTORE(Z22, Z23)
	VZEROUPPER
	RET

// func high256(x *float64, n int, lanes *float64)
TEXT ·high256(SB), NOSPLIT, $0-24
	MOVQ    x+0(FP), SI
	MOVQ    n+8(FP), CX
	MOVQ    lanes+16(FP), DI
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1

eight:
	VMAXPD (SI), Y0, Y0
	VMAXPD 32(SI), Y1, Y1
	ADDQ   $64, SI
	SUBQ   $8, CX
	JNZ    eight
	VMAXPD  Y1, Y0, Y0
	VMOVUPD Y0, (DI)
	VZEROUPPER
	RET

// The numbers of exp (functions.go).
DATA numbers<>+0(SB)/8, $-708.0
DATA numbers<>+8(SB)/8, $0x4338000000000000  // 1.5 * 2^52
DATA numbers<>+16(SB)/8, $0x3FE62E42FEE00000 // ln(2), upper bits
DATA numbers<>+24(SB)/8, $0x3DEA39EF35793C76 // the rest
DATA numbers<>+32(SB)/8, $1023
DATA numbers<>+40(SB)/8, $0x3FF71547652B82FE // log2(e), four times
DATA numbers<>+48(SB)/8, $0x3FF71547652B82FE
DATA numbers<>+56(SB)/8, $0x3FF71547652B82FE
DATA numbers<>+64(SB)/8, $0x3FF71547652B82FE
GLOBL numbers<>(SB), RODATA, $72

// One step of the series, for eight values.
#define TERM(I) \
	VBROADCASTSD (8*I)(BX), Y3  \
	VFMADD213PD  Y3, Y0, Y2     \
	VFMADD213PD  Y3, Y4, Y6

// func exp256(x *float64, n int, high, scale float64, coefficients, lanes *float64)
TEXT ·exp256(SB), NOSPLIT, $0-48
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSD high+16(FP), Y15
	VBROADCASTSD scale+24(FP), Y14
	MOVQ         coefficients+32(FP), BX
	MOVQ         lanes+40(FP), DI
	VBROADCASTSD numbers<>+0(SB), Y13
	VBROADCASTSD numbers<>+8(SB), Y11
	VBROADCASTSD numbers<>+16(SB), Y10
	VBROADCASTSD numbers<>+24(SB), Y9
	VBROADCASTSD numbers<>+32(SB), Y8
	VMOVUPD      (DI), Y7
	VMOVUPD      32(DI), Y12

eight:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y4
	VSUBPD  Y15, Y0, Y0
	VSUBPD  Y15, Y4, Y4
	VMULPD  Y14, Y0, Y0
	VMULPD  Y14, Y4, Y4
	VMAXPD  Y0, Y13, Y0    // of two, the second where one is no number: x
	VMAXPD  Y4, Y13, Y4
	VMOVAPD Y11, Y1
	VMOVAPD Y11, Y5
	VFMADD231PD numbers<>+40(SB), Y0, Y1
	VFMADD231PD numbers<>+40(SB), Y4, Y5
	VSUBPD  Y11, Y1, Y2    // k
	VSUBPD  Y11, Y5, Y6
	VFNMADD231PD Y10, Y2, Y0
	VFNMADD231PD Y10, Y6, Y4
	VFNMADD231PD Y9, Y2, Y0
	VFNMADD231PD Y9, Y6, Y4
	VPADDQ  Y8, Y1, Y1
	VPADDQ  Y8, Y5, Y5
	VPSLLQ  $52, Y1, Y1    // 2^k
	VPSLLQ  $52, Y5, Y5
	VBROADCASTSD (BX), Y2
	VMOVAPD Y2, Y6
	TERM(1)
	TERM(2)
	TERM(3)
	TERM(4)
	TERM(5)
	TERM(6)
	TERM(7)
	TERM(8)
	TERM(9)
	TERM(10)
	TERM(11)
	TERM(12)
	TERM(13)
	VMULPD  Y1, Y2, Y2
	VMULPD  Y5, Y6, Y6
	VADDPD  Y2, Y7, Y7
	VADDPD  Y6, Y12, Y12
	VMOVUPD Y2, (SI)
	VMOVUPD Y6, 32(SI)
	ADDQ    $64, SI
	SUBQ    $8, CX
	JNZ     eight
	VMOVUPD Y7, (DI)
	VMOVUPD Y12, 32(DI)
	VZEROUPPER
	RET

// func scale256(x *float64, n int, factor float64)
TEXT ·scale256(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSD factor+16(FP), Y0

eight:
	VMULPD  (SI), Y0, Y1
	VMULPD  32(SI), Y0, Y2
	VMOVUPD Y1, (SI)
	VMOVUPD Y2, 32(SI)
	ADDQ    $64, SI
	SUBQ    $8, CX
	JNZ     eight
	VZEROUPPER
	RET
