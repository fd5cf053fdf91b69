//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// The tile is 4 rows of 6 vectors, 12 float64 or 24 float32, so that most of the text serves
// both types: they differ in the arrangement T of a vector (D2 or S4). 24 sums (V8 to V31), a row of B (V0 to V5)
// and a column of A (V6, and V7 for float64), whose elements are multiplied with the row, fill
// the 32 registers.
//
// The loop is not unrolled: addresses are stepped by the loads themselves, and the
// count and branch, 2 instructions of 29, run beside the 24 multiplications.
//
// R0 k, R1 A, R2 B, R3 C, R4 C + 48 bytes, R5 the rows' distance in bytes.

// SUMS sets all sums to 0, and fetches the tile of C while they are made.
#define SUMS \
	ADD	$48, R3, R4; \
	ADD	R5, R3, R6; \
	ADD	R5, R6, R7; \
	ADD	R5, R7, R8; \
	PRFM	(R3), PSTL1KEEP; \
	PRFM	64(R3), PSTL1KEEP; \
	PRFM	(R6), PSTL1KEEP; \
	PRFM	64(R6), PSTL1KEEP; \
	PRFM	(R7), PSTL1KEEP; \
	PRFM	64(R7), PSTL1KEEP; \
	PRFM	(R8), PSTL1KEEP; \
	PRFM	64(R8), PSTL1KEEP; \
	ZERO4(V8, V9, V10, V11); \
	ZERO4(V12, V13, V14, V15); \
	ZERO4(V16, V17, V18, V19); \
	ZERO4(V20, V21, V22, V23); \
	ZERO4(V24, V25, V26, V27); \
	ZERO4(V28, V29, V30, V31)

// ROW adds element i of a times the row of B to a row of sums.
#define ROW(FMLA, a, i, s0, s1, s2, s3, s4, s5) \
	FMLA(a, i, 0, s0); \
	FMLA(a, i, 1, s1); \
	FMLA(a, i, 2, s2); \
	FMLA(a, i, 3, s3); \
	FMLA(a, i, 4, s4); \
	FMLA(a, i, 5, s5)

// ADDROW adds alpha (V6) times a row of sums to the next row of C, rounded once.
#define ADDROW(T, s0, s1, s2, s3, s4, s5) \
	VLD1	(R3), [V0.T, V1.T, V2.T]; \
	VLD1	(R4), [V3.T, V4.T, V5.T]; \
	VFMLA	V6.T, s0.T, V0.T; \
	VFMLA	V6.T, s1.T, V1.T; \
	VFMLA	V6.T, s2.T, V2.T; \
	VFMLA	V6.T, s3.T, V3.T; \
	VFMLA	V6.T, s4.T, V4.T; \
	VFMLA	V6.T, s5.T, V5.T; \
	VST1.P	[V0.T, V1.T, V2.T], (R3)(R5); \
	VST1.P	[V3.T, V4.T, V5.T], (R4)(R5)

#define ADDTILE(T) \
	ADDROW(T, V8, V9, V10, V11, V12, V13); \
	ADDROW(T, V14, V15, V16, V17, V18, V19); \
	ADDROW(T, V20, V21, V22, V23, V24, V25); \
	ADDROW(T, V26, V27, V28, V29, V30, V31)

// func mulF64NEON(k int, alpha float64, a, b, c *float64, ldc int)
TEXT ·mulF64NEON(SB), NOSPLIT, $0-48
	MOVD	k+0(FP), R0
	MOVD	a+16(FP), R1
	MOVD	b+24(FP), R2
	MOVD	c+32(FP), R3
	MOVD	ldc+40(FP), R5
	LSL	$3, R5
	SUMS
	CBZ	R0, add

loop:
	VLD1.P	32(R1), [V6.D2, V7.D2]
	VLD1.P	48(R2), [V0.D2, V1.D2, V2.D2]
	VLD1.P	48(R2), [V3.D2, V4.D2, V5.D2]
	ROW(FMLA_D2, 6, 0, 8, 9, 10, 11, 12, 13)
	ROW(FMLA_D2, 6, 1, 14, 15, 16, 17, 18, 19)
	ROW(FMLA_D2, 7, 0, 20, 21, 22, 23, 24, 25)
	ROW(FMLA_D2, 7, 1, 26, 27, 28, 29, 30, 31)
	SUB	$1, R0
	CBNZ	R0, loop

add:
	FMOVD	alpha+8(FP), F6
	VDUP	V6.D[0], V6.D2
	ADDTILE(D2)
	RET

// func mulF32NEON(k int, alpha float32, a, b, c *float32, ldc int)
TEXT ·mulF32NEON(SB), NOSPLIT, $0-48
	MOVD	k+0(FP), R0
	MOVD	a+16(FP), R1
	MOVD	b+24(FP), R2
	MOVD	c+32(FP), R3
	MOVD	ldc+40(FP), R5
	LSL	$2, R5
	SUMS
	CBZ	R0, add

loop:
	VLD1.P	16(R1), [V6.S4]
	VLD1.P	48(R2), [V0.S4, V1.S4, V2.S4]
	VLD1.P	48(R2), [V3.S4, V4.S4, V5.S4]
	ROW(FMLA_S4, 6, 0, 8, 9, 10, 11, 12, 13)
	ROW(FMLA_S4, 6, 1, 14, 15, 16, 17, 18, 19)
	ROW(FMLA_S4, 6, 2, 20, 21, 22, 23, 24, 25)
	ROW(FMLA_S4, 6, 3, 26, 27, 28, 29, 30, 31)
	SUB	$1, R0
	CBNZ	R0, loop

add:
	FMOVS	alpha+8(FP), F6
	VDUP	V6.S[0], V6.S4
	ADDTILE(S4)
	RET

// ROWS points R1 to R4 at the four rows of src, R5 bytes apart.
#define ROWS \
	ADD	R5, R1, R2; \
	ADD	R5, R2, R3; \
	ADD	R5, R3, R4

// func transposeF64NEON(k int, src *float64, stride int, dst *float64, width int)
TEXT ·transposeF64NEON(SB), NOSPLIT, $0-40
	MOVD	k+0(FP), R0
	MOVD	src+8(FP), R1
	MOVD	stride+16(FP), R5
	MOVD	dst+24(FP), R6
	MOVD	width+32(FP), R7
	LSL	$3, R5
	LSL	$3, R7
	ROWS
	CBZ	R0, done

four: // elements of each row, a to d: a0 a1 | a2 a3 and so on
	VLD1.P	32(R1), [V0.D2, V1.D2]
	VLD1.P	32(R2), [V2.D2, V3.D2]
	VLD1.P	32(R3), [V4.D2, V5.D2]
	VLD1.P	32(R4), [V6.D2, V7.D2]
	VZIP1	V2.D2, V0.D2, V16.D2 // a0 b0
	VZIP1	V6.D2, V4.D2, V17.D2 // c0 d0
	VZIP2	V2.D2, V0.D2, V18.D2 // a1 b1
	VZIP2	V6.D2, V4.D2, V19.D2 // c1 d1
	VZIP1	V3.D2, V1.D2, V20.D2
	VZIP1	V7.D2, V5.D2, V21.D2
	VZIP2	V3.D2, V1.D2, V22.D2
	VZIP2	V7.D2, V5.D2, V23.D2
	VST1.P	[V16.D2, V17.D2], (R6)(R7)
	VST1.P	[V18.D2, V19.D2], (R6)(R7)
	VST1.P	[V20.D2, V21.D2], (R6)(R7)
	VST1.P	[V22.D2, V23.D2], (R6)(R7)
	SUB	$4, R0
	CBNZ	R0, four

done:
	RET

// func transposeF32NEON(k int, src *float32, stride int, dst *float32, width int)
TEXT ·transposeF32NEON(SB), NOSPLIT, $0-40
	MOVD	k+0(FP), R0
	MOVD	src+8(FP), R1
	MOVD	stride+16(FP), R5
	MOVD	dst+24(FP), R6
	MOVD	width+32(FP), R7
	LSL	$2, R5
	LSL	$2, R7
	ROWS
	CBZ	R0, done

four: // elements of each row, a to d
	VLD1.P	16(R1), [V0.S4]
	VLD1.P	16(R2), [V1.S4]
	VLD1.P	16(R3), [V2.S4]
	VLD1.P	16(R4), [V3.S4]
	VZIP1	V2.S4, V0.S4, V4.S4 // a0 c0 a1 c1
	VZIP1	V3.S4, V1.S4, V5.S4 // b0 d0 b1 d1
	VZIP2	V2.S4, V0.S4, V6.S4 // a2 c2 a3 c3
	VZIP2	V3.S4, V1.S4, V7.S4 // b2 d2 b3 d3
	VZIP1	V5.S4, V4.S4, V16.S4 // a0 b0 c0 d0
	VZIP2	V5.S4, V4.S4, V17.S4
	VZIP1	V7.S4, V6.S4, V18.S4
	VZIP2	V7.S4, V6.S4, V19.S4
	VST1.P	[V16.S4], (R6)(R7)
	VST1.P	[V17.S4], (R6)(R7)
	VST1.P	[V18.S4], (R6)(R7)
	VST1.P	[V19.S4], (R6)(R7)
	SUB	$4, R0
	CBNZ	R0, four

done:
	RET

// func copyNEON(k int, src *byte, stride int, dst *byte, units int)
TEXT ·copyNEON(SB), NOSPLIT, $0-40
	MOVD	k+0(FP), R0
	MOVD	src+8(FP), R1
	MOVD	stride+16(FP), R2
	MOVD	dst+24(FP), R3
	MOVD	units+32(FP), R4
	CBZ	R0, done
	CBZ	R4, done

run:
	MOVD	R1, R5
	MOVD	R4, R6

unit:
	VLD1.P	16(R5), [V0.B16]
	VST1.P	[V0.B16], 16(R3)
	SUB	$1, R6
	CBNZ	R6, unit
	ADD	R2, R1
	SUB	$1, R0
	CBNZ	R0, run

done:
	RET
