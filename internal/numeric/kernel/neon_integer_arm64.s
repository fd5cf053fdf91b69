//go:build !purego

#include "textflag.h"
#include "neon_arm64.h"

// A panel holds pairs of numbers of consecutive rows side by side. For SMLAL those of B are taken apart as they are
// loaded, one register of each row, and multiplied by single numbers of A.

// ROW adds to the sums of a row the products with its numbers lo and hi, elements of V0. V1 and V2, V3
// and V4 are the two rows of B.
#define ROW(lo, hi, s0, s1, s2, s3) \
	SMLAL_S4(0, lo, 1, s0); \
	SMLAL2_S4(0, lo, 1, s1); \
	SMLAL_S4(0, lo, 3, s2); \
	SMLAL2_S4(0, lo, 3, s3); \
	SMLAL_S4(0, hi, 2, s0); \
	SMLAL2_S4(0, hi, 2, s1); \
	SMLAL_S4(0, hi, 4, s2); \
	SMLAL2_S4(0, hi, 4, s3)

// DOUBLES makes 8 sums float64.
#define DOUBLES(s0, s1, d0, d1, d2, d3) \
	SXTL_D2(s0, d0); \
	SXTL2_D2(s0, d1); \
	SXTL_D2(s1, d2); \
	SXTL2_D2(s1, d3); \
	SCVTF_D2(d0, d0); \
	SCVTF_D2(d1, d1); \
	SCVTF_D2(d2, d2); \
	SCVTF_D2(d3, d3)

// ADDROW adds a row of sums to the next row of C.
#define ADDROW(s0, s1, s2, s3) \
	VLD1	(R3), [V0.D2, V1.D2, V2.D2, V3.D2]; \
	VLD1	(R4), [V4.D2, V5.D2, V6.D2, V7.D2]; \
	DOUBLES(s0, s1, 8, 9, 10, 11); \
	DOUBLES(s2, s3, 12, 13, 14, 15); \
	FADD_D2(8, 0, 0); \
	FADD_D2(9, 1, 1); \
	FADD_D2(10, 2, 2); \
	FADD_D2(11, 3, 3); \
	FADD_D2(12, 4, 4); \
	FADD_D2(13, 5, 5); \
	FADD_D2(14, 6, 6); \
	FADD_D2(15, 7, 7); \
	VST1.P	[V0.D2, V1.D2, V2.D2, V3.D2], (R3)(R5); \
	VST1.P	[V4.D2, V5.D2, V6.D2, V7.D2], (R4)(R5)

// FETCH fetches a row of C.
#define FETCH(row) \
	PRFM	(row), PSTL1KEEP; \
	PRFM	64(row), PSTL1KEEP

// func mulIntsNEON(pairs int, a, b *int16, c *float64, ldc int)
//
// The tile is 4 rows of 16, V16 to V31. R3 C, R4 C + 64 bytes, R5 the rows' distance in bytes.
TEXT ·mulIntsNEON(SB), NOSPLIT, $0-40
	MOVD	pairs+0(FP), R0
	MOVD	a+8(FP), R1
	MOVD	b+16(FP), R2
	MOVD	c+24(FP), R3
	MOVD	ldc+32(FP), R5
	LSL	$3, R5
	ADD	$64, R3, R4
	ADD	R5, R3, R6
	ADD	R5, R6, R7
	ADD	R5, R7, R8
	FETCH(R3)
	FETCH(R6)
	FETCH(R7)
	FETCH(R8)
	ZERO4(V16, V17, V18, V19)
	ZERO4(V20, V21, V22, V23)
	ZERO4(V24, V25, V26, V27)
	ZERO4(V28, V29, V30, V31)

pair:
	VLD1.P	16(R1), [V0.H8]
	VLD2.P	32(R2), [V1.H8, V2.H8]
	VLD2.P	32(R2), [V3.H8, V4.H8]
	ROW(0, 1, 16, 17, 18, 19)
	ROW(2, 3, 20, 21, 22, 23)
	ROW(4, 5, 24, 25, 26, 27)
	ROW(6, 7, 28, 29, 30, 31)
	SUB	$1, R0
	CBNZ	R0, pair
	ADDROW(16, 17, 18, 19)
	ADDROW(20, 21, 22, 23)
	ADDROW(24, 25, 26, 27)
	ADDROW(28, 29, 30, 31)
	RET

// SPLIT makes of the numbers of two pairs, x and y, 256·high + low, four by four bytes: those of an
// element of x and of y are side by side, in the order of bytes 0, 0, 2, 2 and so on. Both are signed: where a lower byte
// is negative, the higher is raised by 1.
#define SPLIT(x, y, low, high) \
	VTRN1	y.B16, x.B16, low.B16; \
	VTRN2	y.B16, x.B16, high.B16; \
	VUSRA	$7, low.B16, high.B16

// DOTROW adds to the sums of row i, of 4 columns s0 to s2 and 4 more s3 to s5, the products of the lower bytes, of
// the lower and the higher ones, and of the higher ones.
#define DOTROW(i, s0, s1, s2, s3, s4, s5) \
	SDOT_S4(6, i, 0, s0); \
	SDOT_S4(7, i, 0, s1); \
	SDOT_S4(6, i, 1, s3); \
	SDOT_S4(7, i, 1, s4); \
	SDOT_S4(7, i, 2, s2); \
	SDOT_S4(6, i, 2, s1); \
	SDOT_S4(7, i, 3, s5); \
	SDOT_S4(6, i, 3, s4)

// QUAD adds the products of two pairs: V0 and V1 of A, V2 and V3, V4 and V5 of B.
#define QUAD \
	SPLIT(V0, V1, V6, V7); \
	SPLIT(V2, V4, V0, V2); \
	SPLIT(V3, V5, V1, V3); \
	DOTROW(0, 8, 9, 10, 11, 12, 13); \
	DOTROW(1, 14, 15, 16, 17, 18, 19); \
	DOTROW(2, 20, 21, 22, 23, 24, 25); \
	DOTROW(3, 26, 27, 28, 29, 30, 31)

// JOIN makes one of three sums. The parts may leave an int32, the whole does not.
#define JOIN(low, mid, high) \
	VSHL	$8, mid.S4, mid.S4; \
	VSHL	$16, high.S4, high.S4; \
	VADD	mid.S4, low.S4, low.S4; \
	VADD	high.S4, low.S4, low.S4

// ADDDOTS adds a row of sums, n0 and n3 when they are joined, to the next row of C.
#define ADDDOTS(n0, n3, s0, s1, s2, s3, s4, s5) \
	JOIN(s0, s1, s2); \
	JOIN(s3, s4, s5); \
	VLD1	(R3), [V0.D2, V1.D2, V2.D2, V3.D2]; \
	DOUBLES(n0, n3, 4, 5, 6, 7); \
	FADD_D2(4, 0, 0); \
	FADD_D2(5, 1, 1); \
	FADD_D2(6, 2, 2); \
	FADD_D2(7, 3, 3); \
	VST1.P	[V0.D2, V1.D2, V2.D2, V3.D2], (R3)(R5)

// func mulIntsDot(pairs int, a, b *int16, c *float64, ldc int)
//
// The tile is 4 rows of 8. Two pairs take 32 SDOT and 9 operations to split the numbers, where float64 takes 64
// multiply-adds. SMLAL takes 32 too, but cores that begin two or four of the others in a cycle begin half as
// many of it: there it is no faster than float64, and it serves those without SDOT.
TEXT ·mulIntsDot(SB), NOSPLIT, $0-40
	MOVD	pairs+0(FP), R0
	MOVD	a+8(FP), R1
	MOVD	b+16(FP), R2
	MOVD	c+24(FP), R3
	MOVD	ldc+32(FP), R5
	LSL	$3, R5
	ADD	R5, R3, R6
	ADD	R5, R6, R7
	ADD	R5, R7, R8
	PRFM	(R3), PSTL1KEEP
	PRFM	(R6), PSTL1KEEP
	PRFM	(R7), PSTL1KEEP
	PRFM	(R8), PSTL1KEEP
	ZERO4(V8, V9, V10, V11)
	ZERO4(V12, V13, V14, V15)
	ZERO4(V16, V17, V18, V19)
	ZERO4(V20, V21, V22, V23)
	ZERO4(V24, V25, V26, V27)
	ZERO4(V28, V29, V30, V31)
	SUBS	$2, R0
	BLT	rest

two:
	VLD1.P	32(R1), [V0.B16, V1.B16]
	VLD1.P	64(R2), [V2.B16, V3.B16, V4.B16, V5.B16]
	QUAD
	SUBS	$2, R0
	BGE	two

rest: // a last pair alone
	CMN	$2, R0
	BEQ	add
	VLD1	(R1), [V0.B16]
	VLD1	(R2), [V2.B16, V3.B16]
	VEOR	V1.B16, V1.B16, V1.B16
	VEOR	V4.B16, V4.B16, V4.B16
	VEOR	V5.B16, V5.B16, V5.B16
	QUAD

add:
	ADDDOTS(8, 11, V8, V9, V10, V11, V12, V13)
	ADDDOTS(14, 17, V14, V15, V16, V17, V18, V19)
	ADDDOTS(20, 23, V20, V21, V22, V23, V24, V25)
	ADDDOTS(26, 29, V26, V27, V28, V29, V30, V31)
	RET

// WHOLE makes 4 numbers (x0 and x1) int32 in to, and x0 all ones where they are the same numbers.
#define WHOLE(x0, x1, to) \
	FCVTNS_D2(x0, 8); \
	FCVTNS_D2(x1, 9); \
	SCVTF_D2(8, 10); \
	SCVTF_D2(9, 11); \
	FCMEQ_D2(10, x0, x0); \
	FCMEQ_D2(11, x1, x1); \
	SQXTN_S2(8, to); \
	SQXTN2_S4(9, to)

// func wholesNEON(blocks int, src *float64, dst *int16) (least, most int16, ok bool)
//
// 16 numbers at a time become int64, and back, until one differs. What saturates is beyond the
// limit. V30 and V31 are the least and most.
TEXT ·wholesNEON(SB), NOSPLIT, $0-29
	MOVD	blocks+0(FP), R0
	MOVD	src+8(FP), R1
	MOVD	dst+16(FP), R2
	VEOR	V30.B16, V30.B16, V30.B16
	VEOR	V31.B16, V31.B16, V31.B16

block:
	VLD1.P	64(R1), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1.P	64(R1), [V4.D2, V5.D2, V6.D2, V7.D2]
	WHOLE(0, 1, 16)
	WHOLE(2, 3, 17)
	WHOLE(4, 5, 18)
	WHOLE(6, 7, 19)
	VAND	V0.B16, V1.B16, V0.B16
	VAND	V2.B16, V3.B16, V2.B16
	VAND	V4.B16, V5.B16, V4.B16
	VAND	V6.B16, V7.B16, V6.B16
	VAND	V0.B16, V2.B16, V0.B16
	VAND	V4.B16, V6.B16, V4.B16
	VAND	V0.B16, V4.B16, V0.B16
	UMINV_S4(0, 0)
	FMOVS	F0, R3
	CBZW	R3, differs
	SQXTN_H4(16, 20)
	SQXTN2_H8(17, 20)
	SQXTN_H4(18, 21)
	SQXTN2_H8(19, 21)
	VST1.P	[V20.H8, V21.H8], 32(R2)
	SMIN_H8(20, 30, 30)
	SMAX_H8(20, 31, 31)
	SMIN_H8(21, 30, 30)
	SMAX_H8(21, 31, 31)
	SUB	$1, R0
	CBNZ	R0, block
	SMINV_H8(30, 30)
	SMAXV_H8(31, 31)
	FMOVS	F30, R3
	FMOVS	F31, R4
	MOVD	$1, R5
	MOVH	R3, least+24(FP)
	MOVH	R4, most+26(FP)
	MOVB	R5, ok+28(FP)
	RET

differs:
	MOVH	ZR, least+24(FP)
	MOVH	ZR, most+26(FP)
	MOVB	ZR, ok+28(FP)
	RET
