//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// A panel has 8 rows, two vectors of float32, dimension by dimension.

// ROWS adds to the sums of 4 rows the products of their bytes (a) and those of 8 anchors, V2 and V3.
#define ROWS(a, s0, s1, s2, s3, s4, s5, s6, s7) \
	SDOT_S4(a, 0, 2, s0); \
	SDOT_S4(a, 0, 3, s1); \
	SDOT_S4(a, 1, 2, s2); \
	SDOT_S4(a, 1, 3, s3); \
	SDOT_S4(a, 2, 2, s4); \
	SDOT_S4(a, 2, 3, s5); \
	SDOT_S4(a, 3, 2, s6); \
	SDOT_S4(a, 3, 3, s7)

// SETROW sets the next row of C to half (V4, V5) − factor (V6, V7)·step·(sums − shift).
#define SETROW(v0, v1, s0, s1) \
	VLD1R.P	4(R3), [V0.S4]; \
	VLD1R.P	4(R4), [V1.S4]; \
	VSUB	V1.S4, v0.S4, v0.S4; \
	VSUB	V1.S4, v1.S4, v1.S4; \
	SCVTF_S4(s0, s0); \
	SCVTF_S4(s1, s1); \
	FMUL_S4(0, s0, s0); \
	FMUL_S4(0, s1, s1); \
	VORR	V4.B16, V4.B16, V2.B16; \
	VORR	V5.B16, V5.B16, V3.B16; \
	VFMLS	v0.S4, V6.S4, V2.S4; \
	VFMLS	v1.S4, V7.S4, V3.S4; \
	VST1.P	[V2.S4, V3.S4], (R5)(R6)

// func mulBytesDot(quads int, a, b *byte, step *[8]float32, shift *[8]int32, half, factor, c *float32, ldc int)
//
// The tile is 8 rows of 8, V16 to V31: sums enough for a latency of 3 cycles and four units, and 4 loads for 16
// multiplications.
TEXT ·mulBytesDot(SB), NOSPLIT, $0-72
	MOVD	quads+0(FP), R0
	MOVD	a+8(FP), R1
	MOVD	b+16(FP), R2
	MOVD	step+24(FP), R3
	MOVD	shift+32(FP), R4
	MOVD	half+40(FP), R7
	MOVD	factor+48(FP), R8
	MOVD	c+56(FP), R5
	MOVD	ldc+64(FP), R6
	LSL	$2, R6
	ZERO4(V16, V17, V18, V19)
	ZERO4(V20, V21, V22, V23)
	ZERO4(V24, V25, V26, V27)
	ZERO4(V28, V29, V30, V31)

quad:
	VLD1.P	32(R1), [V0.B16, V1.B16]
	VLD1.P	32(R2), [V2.B16, V3.B16]
	ROWS(0, 16, 17, 18, 19, 20, 21, 22, 23)
	ROWS(1, 24, 25, 26, 27, 28, 29, 30, 31)
	SUB	$1, R0
	CBNZ	R0, quad
	VLD1	(R7), [V4.S4, V5.S4]
	VLD1	(R8), [V6.S4, V7.S4]
	SETROW(V16, V17, 16, 17)
	SETROW(V18, V19, 18, 19)
	SETROW(V20, V21, 20, 21)
	SETROW(V22, V23, 22, 23)
	SETROW(V24, V25, 24, 25)
	SETROW(V26, V27, 26, 27)
	SETROW(V28, V29, 28, 29)
	SETROW(V30, V31, 30, 31)
	RET

// func flipNEON(n int, x *float32, signs *uint32)
TEXT ·flipNEON(SB), NOSPLIT, $0-24
	MOVD	n+0(FP), R0
	MOVD	x+8(FP), R1
	MOVD	signs+16(FP), R2

one:
	VLD1R.P	4(R2), [V2.S4]
	VLD1	(R1), [V0.S4, V1.S4]
	VEOR	V2.B16, V0.B16, V0.B16
	VEOR	V2.B16, V1.B16, V1.B16
	VST1.P	[V0.S4, V1.S4], 32(R1)
	SUB	$1, R0
	CBNZ	R0, one
	RET

// PAIR sets s and d to the sum and the difference of a and b.
#define PAIR(a, b, s, d) \
	FADD_S4(b, a, s); \
	FSUB_S4(b, a, d)

// NEXT steps to the next half of a dimension, and beyond the last of a group by skip to the next group.
#define NEXT(skip, vector, group) \
	ADD	$16, R3; \
	SUBS	$16, R6; \
	BNE	vector; \
	ADD	skip, R3; \
	CMP	R5, R3; \
	BLT	group; \
	RET

// func mixNEON(n, h, radix int, x *float32, by float32)
//
// R1 is the distance of the dimensions that are mixed, in bytes; their first (R3) runs over a group of them (R6 is
// left), and over the groups up to R5. The halves of a dimension do not meet.
TEXT ·mixNEON(SB), NOSPLIT, $0-36
	MOVD	n+0(FP), R0
	MOVD	h+8(FP), R1
	MOVD	radix+16(FP), R2
	MOVD	x+24(FP), R3
	FMOVS	by+32(FP), F31
	VDUP	V31.S[0], V31.S4
	LSL	$5, R1
	ADD	R0<<5, R3, R5
	ADD	R1<<1, R1, R8
	ADD	R1<<2, R8, R7 // 7·R1
	CMP	$4, R2
	BEQ	group4
	BLT	group2

group8:
	MOVD	R1, R6

vector8:
	MOVD	R3, R4
	VLD1.P	(R4)(R1), [V0.S4]
	VLD1.P	(R4)(R1), [V1.S4]
	VLD1.P	(R4)(R1), [V2.S4]
	VLD1.P	(R4)(R1), [V3.S4]
	VLD1.P	(R4)(R1), [V4.S4]
	VLD1.P	(R4)(R1), [V5.S4]
	VLD1.P	(R4)(R1), [V6.S4]
	VLD1	(R4), [V7.S4]
	PAIR(0, 1, 16, 17)
	PAIR(2, 3, 18, 19)
	PAIR(4, 5, 20, 21)
	PAIR(6, 7, 22, 23)
	PAIR(16, 18, 0, 2)
	PAIR(17, 19, 1, 3)
	PAIR(20, 22, 4, 6)
	PAIR(21, 23, 5, 7)
	PAIR(0, 4, 16, 20)
	PAIR(1, 5, 17, 21)
	PAIR(2, 6, 18, 22)
	PAIR(3, 7, 19, 23)
	FMUL_S4(31, 16, 16)
	FMUL_S4(31, 17, 17)
	FMUL_S4(31, 18, 18)
	FMUL_S4(31, 19, 19)
	FMUL_S4(31, 20, 20)
	FMUL_S4(31, 21, 21)
	FMUL_S4(31, 22, 22)
	FMUL_S4(31, 23, 23)
	MOVD	R3, R4
	VST1.P	[V16.S4], (R4)(R1)
	VST1.P	[V17.S4], (R4)(R1)
	VST1.P	[V18.S4], (R4)(R1)
	VST1.P	[V19.S4], (R4)(R1)
	VST1.P	[V20.S4], (R4)(R1)
	VST1.P	[V21.S4], (R4)(R1)
	VST1.P	[V22.S4], (R4)(R1)
	VST1	[V23.S4], (R4)
	NEXT(R7, vector8, group8)

group4:
	MOVD	R1, R6

vector4:
	MOVD	R3, R4
	VLD1.P	(R4)(R1), [V0.S4]
	VLD1.P	(R4)(R1), [V1.S4]
	VLD1.P	(R4)(R1), [V2.S4]
	VLD1	(R4), [V3.S4]
	PAIR(0, 1, 16, 17)
	PAIR(2, 3, 18, 19)
	PAIR(16, 18, 0, 2)
	PAIR(17, 19, 1, 3)
	FMUL_S4(31, 0, 0)
	FMUL_S4(31, 1, 1)
	FMUL_S4(31, 2, 2)
	FMUL_S4(31, 3, 3)
	MOVD	R3, R4
	VST1.P	[V0.S4], (R4)(R1)
	VST1.P	[V1.S4], (R4)(R1)
	VST1.P	[V2.S4], (R4)(R1)
	VST1	[V3.S4], (R4)
	NEXT(R8, vector4, group4)

group2:
	MOVD	R1, R6

vector2:
	MOVD	R3, R4
	VLD1.P	(R4)(R1), [V0.S4]
	VLD1	(R4), [V1.S4]
	PAIR(0, 1, 2, 3)
	FMUL_S4(31, 2, 2)
	FMUL_S4(31, 3, 3)
	VST1	[V2.S4], (R3)
	VST1	[V3.S4], (R4)
	NEXT(R1, vector2, group2)

// func widestNEON(n int, x *float32, most *[8]float32)
TEXT ·widestNEON(SB), NOSPLIT, $0-24
	MOVD	n+0(FP), R0
	MOVD	x+8(FP), R1
	MOVD	most+16(FP), R2
	VEOR	V2.B16, V2.B16, V2.B16
	VEOR	V3.B16, V3.B16, V3.B16

one:
	VLD1.P	32(R1), [V0.S4, V1.S4]
	FABS_S4(0, 0)
	FABS_S4(1, 1)
	FMAXNM_S4(0, 2, 2)
	FMAXNM_S4(1, 3, 3)
	SUB	$1, R0
	CBNZ	R0, one
	VST1	[V2.S4, V3.S4], (R2)
	RET

// DIMENSION makes the next dimension of the rows whole numbers, n0 and n1, and adds these to V28 and V29, their
// squares to V30 and V31, and those of what is left to q0 and q1.
#define DIMENSION(n0, n1, v0, v1, q0, q1) \
	VLD1.P	32(R1), [V0.S4, V1.S4]; \
	FMUL_S4(24, 0, n0); \
	FMUL_S4(25, 1, n1); \
	FCVTNS_S4(n0, n0); \
	FCVTNS_S4(n1, n1); \
	VADD	v0.S4, V28.S4, V28.S4; \
	VADD	v1.S4, V29.S4, V29.S4; \
	SCVTF_S4(n0, 4); \
	SCVTF_S4(n1, 5); \
	VFMLA	V4.S4, V4.S4, V30.S4; \
	VFMLA	V5.S4, V5.S4, V31.S4; \
	VFMLS	V26.S4, V4.S4, V0.S4; \
	VFMLS	V27.S4, V5.S4, V1.S4; \
	VFMLA	V0.S4, V0.S4, q0.S4; \
	VFMLA	V1.S4, V1.S4, q1.S4

// func quantiseNEON(quads int, x *float32, inverse, step *[8]float32, dst *byte, rest, squares *[8]float32, sums *[8]int32)
//
// V6 and V7 are the bytes of four dimensions, V16 to V23 their squares.
TEXT ·quantiseNEON(SB), NOSPLIT, $0-64
	MOVD	quads+0(FP), R0
	MOVD	x+8(FP), R1
	MOVD	inverse+16(FP), R2
	MOVD	step+24(FP), R3
	MOVD	dst+32(FP), R4
	MOVD	rest+40(FP), R5
	MOVD	squares+48(FP), R7
	MOVD	sums+56(FP), R6
	VLD1	(R2), [V24.S4, V25.S4]
	VLD1	(R3), [V26.S4, V27.S4]
	ZERO4(V16, V17, V18, V19)
	ZERO4(V20, V21, V22, V23)
	ZERO4(V28, V29, V30, V31)

quad:
	DIMENSION(6, 7, V6, V7, V16, V17)
	DIMENSION(2, 3, V2, V3, V18, V19)
	VSLI	$8, V2.S4, V6.S4
	VSLI	$8, V3.S4, V7.S4
	DIMENSION(2, 3, V2, V3, V20, V21)
	VSLI	$16, V2.S4, V6.S4
	VSLI	$16, V3.S4, V7.S4
	DIMENSION(2, 3, V2, V3, V22, V23)
	VSLI	$24, V2.S4, V6.S4
	VSLI	$24, V3.S4, V7.S4
	VST1.P	[V6.S4, V7.S4], 32(R4)
	SUB	$1, R0
	CBNZ	R0, quad
	FADD_S4(18, 16, 16)
	FADD_S4(19, 17, 17)
	FADD_S4(22, 20, 20)
	FADD_S4(23, 21, 21)
	FADD_S4(20, 16, 16)
	FADD_S4(21, 17, 17)
	VST1	[V16.S4, V17.S4], (R5)
	VST1	[V30.S4, V31.S4], (R7)
	VST1	[V28.S4, V29.S4], (R6)
	RET

// func dotsDot(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)
TEXT ·dotsDot(SB), NOSPLIT, $0-56
	MOVD	blocks+0(FP), R0
	MOVD	x+8(FP), R1
	MOVD	y+16(FP), R2
	MOVD	stride+24(FP), R3
	MOVD	which+32(FP), R4
	MOVD	count+40(FP), R5
	MOVD	sums+48(FP), R6

next:
	MOVW.P	4(R4), R7
	MADD	R3, R2, R7, R7
	MOVD	R1, R8
	MOVD	R0, R9
	ZERO4(V16, V17, V18, V19)

block:
	VLD1.P	64(R8), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P	64(R7), [V4.B16, V5.B16, V6.B16, V7.B16]
	SDOT_V4(4, 0, 16)
	SDOT_V4(5, 1, 17)
	SDOT_V4(6, 2, 18)
	SDOT_V4(7, 3, 19)
	SUB	$1, R9
	CBNZ	R9, block
	VADD	V17.S4, V16.S4, V16.S4
	VADD	V19.S4, V18.S4, V18.S4
	VADD	V18.S4, V16.S4, V16.S4
	VADDV	V16.S4, V16
	VMOV	V16.S[0], R7
	MOVW.P	R7, 4(R6)
	SUB	$1, R5
	CBNZ	R5, next
	RET
