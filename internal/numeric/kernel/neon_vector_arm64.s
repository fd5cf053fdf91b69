//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// Vector loops. Where the terms of a sum wait for each other, there are as many sums as the 4 cycles of a
// multiply-add and two units of the processor ask for, or what the bits allow.

// func dotNEON(blocks int, x, y *float64, rest int) float64
//
// V0 to V7 are 16 sums. They are added by halves; the remaining terms join the sum of all.
TEXT ·dotNEON(SB), NOSPLIT, $0-40
	MOVD	blocks+0(FP), R0
	MOVD	x+8(FP), R1
	MOVD	y+16(FP), R2
	MOVD	rest+24(FP), R3
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	CBZ	R0, sum

block:
	VLD1.P	64(R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1.P	64(R2), [V20.D2, V21.D2, V22.D2, V23.D2]
	VLD1.P	64(R1), [V24.D2, V25.D2, V26.D2, V27.D2]
	VLD1.P	64(R2), [V28.D2, V29.D2, V30.D2, V31.D2]
	VFMLA	V16.D2, V20.D2, V0.D2
	VFMLA	V17.D2, V21.D2, V1.D2
	VFMLA	V18.D2, V22.D2, V2.D2
	VFMLA	V19.D2, V23.D2, V3.D2
	VFMLA	V24.D2, V28.D2, V4.D2
	VFMLA	V25.D2, V29.D2, V5.D2
	VFMLA	V26.D2, V30.D2, V6.D2
	VFMLA	V27.D2, V31.D2, V7.D2
	SUB	$1, R0
	CBNZ	R0, block

sum:
	FADD_D2(4, 0, 0)
	FADD_D2(5, 1, 1)
	FADD_D2(6, 2, 2)
	FADD_D2(7, 3, 3)
	FADD_D2(2, 0, 0)
	FADD_D2(3, 1, 1)
	FADD_D2(1, 0, 0)
	FADDP_D(0, 0)
	CBZ	R3, done

one:
	FMOVD.P	8(R1), F16
	FMOVD.P	8(R2), F17
	FMADDD	F16, F0, F17, F0
	SUB	$1, R3
	CBNZ	R3, one

done:
	FMOVD	F0, ret+32(FP)
	RET

// TERM adds the square of x − y to two sums, each operation rounded.
#define TERM(x, y, sum) \
	FSUB_D2(y, x, y); \
	FMUL_D2(y, y, y); \
	FADD_D2(y, sum, sum)

// func squaresNEON(blocks int, x, y, z, nextY, nextZ *float64) (xy, xz float64)
//
// V0 to V3 are the sums of y, V4 to V7 those of z. It does not fuse, so that all instruction sets settle
// neighbours with the same bits. Anchors lie apart: a block of the next two is fetched
// for each that is compared.
TEXT ·squaresNEON(SB), NOSPLIT, $0-64
	MOVD	blocks+0(FP), R0
	MOVD	x+8(FP), R1
	MOVD	y+16(FP), R2
	MOVD	z+24(FP), R3
	MOVD	nextY+32(FP), R4
	MOVD	nextZ+40(FP), R5
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	CBZ	R0, sum

block:
	PRFM	(R4), PLDL1KEEP
	PRFM	(R5), PLDL1KEEP
	VLD1.P	64(R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1.P	64(R2), [V20.D2, V21.D2, V22.D2, V23.D2]
	VLD1.P	64(R3), [V24.D2, V25.D2, V26.D2, V27.D2]
	TERM(16, 20, 0)
	TERM(17, 21, 1)
	TERM(18, 22, 2)
	TERM(19, 23, 3)
	TERM(16, 24, 4)
	TERM(17, 25, 5)
	TERM(18, 26, 6)
	TERM(19, 27, 7)
	ADD	$64, R4
	ADD	$64, R5
	SUB	$1, R0
	CBNZ	R0, block

sum: // 0+4 1+5 and 2+6 3+7, their sums, and the two halves of these
	FADD_D2(2, 0, 0)
	FADD_D2(3, 1, 1)
	FADD_D2(1, 0, 0)
	FADDP_D(0, 0)
	FADD_D2(6, 4, 4)
	FADD_D2(7, 5, 5)
	FADD_D2(5, 4, 4)
	FADDP_D(4, 4)
	FMOVD	F0, xy+48(FP)
	FMOVD	F4, xz+56(FP)
	RET

// func gatherNEON(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)
//
// The sums of a row of C stay in registers (V0 to V15) while the rows of X pass by. R0 columns, R1 starts,
// R2 and R3 the entries of the column, R4 their number, R5 X and R7 C, both from the first of the columns left
// on, which R8 counts; R6 and R9 the rows' distances in bytes; of the entry at hand R10 row, R11 weight, R12 what
// is left.
TEXT ·gatherNEON(SB), NOSPLIT, $0-72
	MOVD	columns+0(FP), R0
	MOVD	starts+8(FP), R1
	MOVD	rows+16(FP), R2
	MOVD	weights+24(FP), R3
	MOVD	ldx+40(FP), R6
	MOVD	c+56(FP), R13
	MOVD	ldc+64(FP), R9
	LSL	$3, R6
	LSL	$3, R9

column:
	MOVW.P	4(R1), R10
	MOVW	(R1), R4
	SUBS	R10, R4
	BEQ	next
	MOVD	x+32(FP), R5
	MOVD	width+48(FP), R8
	MOVD	R13, R7
	ADD	R9<<2, R13, R14 // some rows of C ahead
	PRFM	(R14), PLDL1KEEP
	PRFM	64(R14), PLDL1KEEP
	PRFM	128(R14), PLDL1KEEP
	PRFM	192(R14), PLDL1KEEP

columns:
	MOVD	R2, R10
	MOVD	R3, R11
	MOVD	R4, R12
	MOVD	R7, R14
	CMP	$32, R8
	BGE	thirtytwo
	CMP	$4, R8
	BGE	four
	CBNZ	R8, one
	ADD	R4<<2, R2
	ADD	R4<<3, R3

next:
	ADD	R9, R13
	SUB	$1, R0
	CBNZ	R0, column
	RET

thirtytwo:
	VLD1.P	64(R14), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1.P	64(R14), [V4.D2, V5.D2, V6.D2, V7.D2]
	VLD1.P	64(R14), [V8.D2, V9.D2, V10.D2, V11.D2]
	VLD1	(R14), [V12.D2, V13.D2, V14.D2, V15.D2]

entry32:
	MOVW.P	4(R10), R15
	VLD1R.P	8(R11), [V16.D2]
	MADD	R6, R5, R15, R15
	VLD1.P	64(R15), [V20.D2, V21.D2, V22.D2, V23.D2]
	VLD1.P	64(R15), [V24.D2, V25.D2, V26.D2, V27.D2]
	VFMLA	V16.D2, V20.D2, V0.D2
	VFMLA	V16.D2, V21.D2, V1.D2
	VFMLA	V16.D2, V22.D2, V2.D2
	VFMLA	V16.D2, V23.D2, V3.D2
	VFMLA	V16.D2, V24.D2, V4.D2
	VFMLA	V16.D2, V25.D2, V5.D2
	VFMLA	V16.D2, V26.D2, V6.D2
	VFMLA	V16.D2, V27.D2, V7.D2
	VLD1.P	64(R15), [V20.D2, V21.D2, V22.D2, V23.D2]
	VLD1	(R15), [V24.D2, V25.D2, V26.D2, V27.D2]
	VFMLA	V16.D2, V20.D2, V8.D2
	VFMLA	V16.D2, V21.D2, V9.D2
	VFMLA	V16.D2, V22.D2, V10.D2
	VFMLA	V16.D2, V23.D2, V11.D2
	VFMLA	V16.D2, V24.D2, V12.D2
	VFMLA	V16.D2, V25.D2, V13.D2
	VFMLA	V16.D2, V26.D2, V14.D2
	VFMLA	V16.D2, V27.D2, V15.D2
	SUB	$1, R12
	CBNZ	R12, entry32
	VST1.P	[V0.D2, V1.D2, V2.D2, V3.D2], 64(R7)
	VST1.P	[V4.D2, V5.D2, V6.D2, V7.D2], 64(R7)
	VST1.P	[V8.D2, V9.D2, V10.D2, V11.D2], 64(R7)
	VST1.P	[V12.D2, V13.D2, V14.D2, V15.D2], 64(R7)
	ADD	$256, R5
	SUB	$32, R8
	B	columns

four:
	VLD1	(R7), [V0.D2, V1.D2]

entry4:
	MOVW.P	4(R10), R15
	VLD1R.P	8(R11), [V16.D2]
	MADD	R6, R5, R15, R15
	VLD1	(R15), [V20.D2, V21.D2]
	VFMLA	V16.D2, V20.D2, V0.D2
	VFMLA	V16.D2, V21.D2, V1.D2
	SUB	$1, R12
	CBNZ	R12, entry4
	VST1.P	[V0.D2, V1.D2], 32(R7)
	ADD	$32, R5
	SUB	$4, R8
	B	columns

one:
	FMOVD	(R7), F0

entry1:
	MOVW.P	4(R10), R15
	FMOVD.P	8(R11), F16
	MADD	R6, R5, R15, R15
	FMOVD	(R15), F20
	FMADDD	F16, F0, F20, F0
	SUB	$1, R12
	CBNZ	R12, entry1
	FMOVD.P	F0, 8(R7)
	ADD	$8, R5
	SUB	$1, R8
	B	columns

// COLUMN reads the next column of 4 rows into x0 and x1, and adds the squares of its differences, times the
// scale, to V24 and V25. It fetches those of the panels after the next.
#define COLUMN(x0, x1, n0, n1) \
	PRFM	128(R1), PLDL1KEEP; \
	VLD1	(R1), [x0.D2, x1.D2]; \
	VLD1R.P	8(R3), [V27.D2]; \
	ADD	R2, R1; \
	FSUB_D2(27, n0, 28); \
	FSUB_D2(27, n1, 29); \
	FMUL_D2(26, 28, 28); \
	FMUL_D2(26, 29, 29); \
	FCVTN_S4(28, 30); \
	FCVTN2_S4(29, 30); \
	VFMLA	V28.D2, V28.D2, V24.D2; \
	VFMLA	V29.D2, V29.D2, V25.D2; \
	VST1.P	[V30.S4], (R4)(R5)

// func narrowNEON(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)
//
// 4 columns at a time are transposed into the rows of raw (R6 to R9), 4 elements each.
TEXT ·narrowNEON(SB), NOSPLIT, $0-80
	MOVD	k+0(FP), R0
	MOVD	src+8(FP), R1
	MOVD	stride+16(FP), R2
	MOVD	shift+24(FP), R3
	FMOVD	scale+32(FP), F26
	MOVD	dst+40(FP), R4
	MOVD	width+48(FP), R5
	MOVD	raw+56(FP), R6
	MOVD	long+64(FP), R10
	MOVD	squares+72(FP), R11
	LSL	$3, R2
	LSL	$2, R5
	LSL	$3, R10
	ADD	R10, R6, R7
	ADD	R10, R7, R8
	ADD	R10, R8, R9
	VDUP	V26.D[0], V26.D2
	VLD1	(R11), [V24.D2, V25.D2]
	SUBS	$4, R0
	BLT	rest

four: // columns p to s of rows 0 to 3: p0 p1 | p2 p3 and so on
	COLUMN(V0, V1, 0, 1)
	COLUMN(V2, V3, 2, 3)
	COLUMN(V4, V5, 4, 5)
	COLUMN(V6, V7, 6, 7)
	VZIP1	V2.D2, V0.D2, V16.D2 // p0 q0
	VZIP1	V6.D2, V4.D2, V17.D2 // r0 s0
	VZIP2	V2.D2, V0.D2, V18.D2 // p1 q1
	VZIP2	V6.D2, V4.D2, V19.D2 // r1 s1
	VZIP1	V3.D2, V1.D2, V20.D2
	VZIP1	V7.D2, V5.D2, V21.D2
	VZIP2	V3.D2, V1.D2, V22.D2
	VZIP2	V7.D2, V5.D2, V23.D2
	VST1.P	[V16.D2, V17.D2], 32(R6)
	VST1.P	[V18.D2, V19.D2], 32(R7)
	VST1.P	[V20.D2, V21.D2], 32(R8)
	VST1.P	[V22.D2, V23.D2], 32(R9)
	SUBS	$4, R0
	BGE	four

rest:
	ADDS	$4, R0
	BEQ	done

one:
	COLUMN(V0, V1, 0, 1)
	VST1.P	V0.D[0], 8(R6)
	VST1.P	V0.D[1], 8(R7)
	VST1.P	V1.D[0], 8(R8)
	VST1.P	V1.D[1], 8(R9)
	SUBS	$1, R0
	BNE	one

done:
	VST1	[V24.D2, V25.D2], (R11)
	RET

// BOUNDS lowers V17 to the lower bounds of four anchors c, and upper to their upper bounds; s is their slack.
#define BOUNDS(c, s, upper) \
	FMUL_S4(16, s, s); \
	FSUB_S4(s, c, 24); \
	FADD_S4(s, c, c); \
	FMINNM_S4(24, 17, 17); \
	FMINNM_S4(c, upper, upper)

// func lowestNEON(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[16]float32, lowers *float32, groups int)
//
// R9 and R10 are c and slack at hand, R11 what is left of n, R12 the largest float32.
TEXT ·lowestNEON(SB), NOSPLIT, $0-72
	MOVD	rows+0(FP), R0
	MOVD	c+8(FP), R1
	MOVD	ldc+16(FP), R2
	MOVD	slack+24(FP), R3
	MOVD	n+32(FP), R4
	MOVD	loose+40(FP), R5
	MOVD	uppers+48(FP), R6
	MOVD	lowers+56(FP), R7
	MOVD	groups+64(FP), R8
	LSL	$2, R2
	LSL	$2, R8
	MOVW	$0x7F7FFFFF, R12

row:
	VLD1R.P	4(R5), [V16.S4]
	VLD1	(R6), [V0.S4, V1.S4, V2.S4, V3.S4]
	VDUP	R12, V17.S4
	MOVD	R1, R9
	MOVD	R3, R10
	SUBS	$16, R4, R11
	BLT	rest

sixteen:
	VLD1.P	64(R9), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P	64(R10), [V20.S4, V21.S4, V22.S4, V23.S4]
	BOUNDS(4, 20, 0)
	BOUNDS(5, 21, 1)
	BOUNDS(6, 22, 2)
	BOUNDS(7, 23, 3)
	SUBS	$16, R11
	BGE	sixteen

rest:
	ADDS	$16, R11
	BEQ	fold
	VLD1	(R9), [V4.S4, V5.S4]
	VLD1	(R10), [V20.S4, V21.S4]
	BOUNDS(4, 20, 0)
	BOUNDS(5, 21, 1)

fold:
	FMINNMV_S4(17, 17)
	FMOVS	F17, (R7)
	VST1.P	[V0.S4, V1.S4, V2.S4, V3.S4], 64(R6)
	ADD	R2, R1
	ADD	R8, R7
	SUB	$1, R0
	CBNZ	R0, row
	RET

// func belowNEON(c, slack *float32, norm, limit float32, from, n int) int
//
// 16 comparisons at a time (V4 to V7) until one does not hold. R2 from, R3 n.
TEXT ·belowNEON(SB), NOSPLIT, $0-48
	MOVD	c+0(FP), R0
	MOVD	slack+8(FP), R1
	FMOVS	norm+16(FP), F16
	FMOVS	limit+20(FP), F17
	MOVD	from+24(FP), R2
	MOVD	n+32(FP), R3
	VDUP	V16.S[0], V16.S4
	VDUP	V17.S[0], V17.S4
	ADD	R2<<2, R0
	ADD	R2<<2, R1

more:
	CMP	R3, R2
	BGE	none
	VLD1.P	64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P	64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	VFMLS	V16.S4, V20.S4, V4.S4
	VFMLS	V16.S4, V21.S4, V5.S4
	VFMLS	V16.S4, V22.S4, V6.S4
	VFMLS	V16.S4, V23.S4, V7.S4
	FCMGT_S4(17, 4, 4) // false for NaN
	FCMGT_S4(17, 5, 5)
	FCMGT_S4(17, 6, 6)
	FCMGT_S4(17, 7, 7)
	VAND	V4.B16, V5.B16, V0.B16
	VAND	V6.B16, V7.B16, V1.B16
	VAND	V0.B16, V1.B16, V0.B16
	UMINV_S4(0, 0)
	FMOVS	F0, R4
	ADD	$16, R2
	CBNZW	R4, more

	// A nibble of R4 for each of the 16: the lowest that is 0 is the first.
	VUZP1	V5.H8, V4.H8, V4.H8
	VUZP1	V7.H8, V6.H8, V6.H8
	VUZP1	V6.B16, V4.B16, V4.B16
	SHRN4_B8(4, 4)
	FMOVD	F4, R4
	MVN	R4, R4
	RBIT	R4, R4
	CLZ	R4, R4
	SUB	$16, R2
	ADD	R4>>2, R2
	CMP	R3, R2
	BLT	hit

none:
	MOVD	R3, R2

hit:
	MOVD	R2, ret+40(FP)
	RET

// SHIFT writes two elements less V20, and lowers and raises ends to them; NaN, and a zero of the other sign, are
// neither lower nor higher.
#define SHIFT(x, v, d, low, high, vlow, vhigh) \
	FSUB_D2(20, x, d); \
	FCMGT_D2(x, low, 21); \
	FCMGT_D2(high, x, 22); \
	VBIT	V21.B16, v.B16, vlow.B16; \
	VBIT	V22.B16, v.B16, vhigh.B16

// func shiftNEON(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)
//
// V16 and V17 are the least so far, V18 and V19 the most. Columns of a chunk lie apart, and the processor does not
// foresee the next one.
TEXT ·shiftNEON(SB), NOSPLIT, $0-48
	MOVD	blocks+0(FP), R0
	MOVD	dst+8(FP), R1
	MOVD	x+16(FP), R2
	FMOVD	by+24(FP), F20
	MOVD	next+32(FP), R3
	MOVD	ends+40(FP), R4
	VDUP	V20.D[0], V20.D2
	VLD1	(R4), [V16.D2, V17.D2, V18.D2, V19.D2]
	CBZ	R0, done

block:
	PRFM	(R3), PLDL1KEEP
	PRFM	64(R3), PLDL1KEEP
	VLD1.P	64(R2), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1.P	64(R2), [V4.D2, V5.D2, V6.D2, V7.D2]
	SHIFT(0, V0, 24, 16, 18, V16, V18)
	SHIFT(1, V1, 25, 17, 19, V17, V19)
	SHIFT(2, V2, 26, 16, 18, V16, V18)
	SHIFT(3, V3, 27, 17, 19, V17, V19)
	SHIFT(4, V4, 28, 16, 18, V16, V18)
	SHIFT(5, V5, 29, 17, 19, V17, V19)
	SHIFT(6, V6, 30, 16, 18, V16, V18)
	SHIFT(7, V7, 31, 17, 19, V17, V19)
	VST1.P	[V24.D2, V25.D2, V26.D2, V27.D2], 64(R1)
	VST1.P	[V28.D2, V29.D2, V30.D2, V31.D2], 64(R1)
	ADD	$128, R3
	SUB	$1, R0
	CBNZ	R0, block

done:
	VST1	[V16.D2, V17.D2, V18.D2, V19.D2], (R4)
	RET

// STANDARDIZE sets d to two elements less V16, times V17, or V18 for NaN. It rounds the difference and the
// product, as Go does.
#define STANDARDIZE(x, d, vx, vd) \
	FSUB_D2(16, x, d); \
	FCMEQ_D2(x, x, x); \
	FMUL_D2(17, d, d); \
	VBIF	vx.B16, V18.B16, vd.B16

// func standardizeNEON(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)
TEXT ·standardizeNEON(SB), NOSPLIT, $0-56
	MOVD	blocks+0(FP), R0
	MOVD	dst+8(FP), R1
	MOVD	x+16(FP), R2
	FMOVD	shift+24(FP), F16
	FMOVD	factor+32(FP), F17
	FMOVD	missing+40(FP), F18
	MOVD	next+48(FP), R3
	VDUP	V16.D[0], V16.D2
	VDUP	V17.D[0], V17.D2
	VDUP	V18.D[0], V18.D2
	CBZ	R0, done

block:
	PRFM	(R3), PLDL1KEEP
	PRFM	64(R3), PLDL1KEEP
	VLD1.P	64(R2), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1.P	64(R2), [V4.D2, V5.D2, V6.D2, V7.D2]
	STANDARDIZE(0, 24, V0, V24)
	STANDARDIZE(1, 25, V1, V25)
	STANDARDIZE(2, 26, V2, V26)
	STANDARDIZE(3, 27, V3, V27)
	STANDARDIZE(4, 28, V4, V28)
	STANDARDIZE(5, 29, V5, V29)
	STANDARDIZE(6, 30, V6, V30)
	STANDARDIZE(7, 31, V7, V31)
	VST1.P	[V24.D2, V25.D2, V26.D2, V27.D2], 64(R1)
	VST1.P	[V28.D2, V29.D2, V30.D2, V31.D2], 64(R1)
	ADD	$128, R3
	SUB	$1, R0
	CBNZ	R0, block

done:
	RET

// ROTATION turns two columns: carry, of the last row, and old, of the next, become the last row's (sum)
// and what is carried on. V24 is c, V25 s, V26 −s.
#define ROTATION(carry, old, sum, vcarry, vold, vsum) \
	FMUL_D2(25, old, sum); \
	VFMLA	V24.D2, vcarry.D2, vsum.D2; \
	FMUL_D2(26, carry, carry); \
	VFMLA	V24.D2, vold.D2, vcarry.D2

// func rotateNEON(n int, c, s, panel *float64, step int)
//
// Eight vectors at a time, V0 to V7, pass through all rotations: a rotation waits 8 cycles for the one before
// it, and its 32 operations take as many on four units. R5 is the row at hand, R6 and R7 c and s,
// R8 what is left of the rotations, R9 of the columns.
TEXT ·rotateNEON(SB), NOSPLIT, $0-40
	MOVD	n+0(FP), R0
	MOVD	c+8(FP), R1
	MOVD	s+16(FP), R2
	MOVD	panel+24(FP), R3
	MOVD	step+32(FP), R4
	LSL	$3, R4
	SUB	$64, R4, R10 // from the second half of a row's 16 columns to the next row
	MOVD	$2, R9

columns:
	MOVD	R3, R5
	MOVD	R1, R6
	MOVD	R2, R7
	MOVD	R0, R8
	VLD1.P	64(R5), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1	(R5), [V4.D2, V5.D2, V6.D2, V7.D2]
	SUB	$64, R5

rotation:
	VLD1R.P	8(R6), [V24.D2]
	VLD1R.P	8(R7), [V25.D2]
	ADD	R4, R5, R11
	FNEG_D2(25, 26)
	VLD1.P	64(R11), [V8.D2, V9.D2, V10.D2, V11.D2]
	VLD1	(R11), [V12.D2, V13.D2, V14.D2, V15.D2]
	ROTATION(0, 8, 16, V0, V8, V16)
	ROTATION(1, 9, 17, V1, V9, V17)
	ROTATION(2, 10, 18, V2, V10, V18)
	ROTATION(3, 11, 19, V3, V11, V19)
	ROTATION(4, 12, 20, V4, V12, V20)
	ROTATION(5, 13, 21, V5, V13, V21)
	ROTATION(6, 14, 22, V6, V14, V22)
	ROTATION(7, 15, 23, V7, V15, V23)
	VST1.P	[V16.D2, V17.D2, V18.D2, V19.D2], 64(R5)
	VST1.P	[V20.D2, V21.D2, V22.D2, V23.D2], (R5)(R10)
	SUB	$1, R8
	CBNZ	R8, rotation
	VST1.P	[V0.D2, V1.D2, V2.D2, V3.D2], 64(R5)
	VST1	[V4.D2, V5.D2, V6.D2, V7.D2], (R5)
	ADD	$128, R3
	SUB	$1, R9
	CBNZ	R9, columns
	RET
