// Vector instructions that Go's assembler has no name for, by the numbers of their registers, which are
// in its order: the result is the last, and a difference is n − m.

#define VVV(code, m, n, d) WORD $(code | (m)<<16 | (n)<<5 | (d))
#define VV(code, n, d) WORD $(code | (n)<<5 | (d))

// ZERO4 sets four registers to 0.
#define ZERO4(s0, s1, s2, s3) \
	VEOR	s0.B16, s0.B16, s0.B16; \
	VEOR	s1.B16, s1.B16, s1.B16; \
	VEOR	s2.B16, s2.B16, s2.B16; \
	VEOR	s3.B16, s3.B16, s3.B16

// Two float64.
#define FADD_D2(m, n, d) VVV(0x4E60D400, m, n, d)
#define FSUB_D2(m, n, d) VVV(0x4EE0D400, m, n, d)
#define FMUL_D2(m, n, d) VVV(0x6E60DC00, m, n, d)
#define FCMEQ_D2(m, n, d) VVV(0x4E60E400, m, n, d)
#define FCMGT_D2(m, n, d) VVV(0x6EE0E400, m, n, d) // n > m
#define FADDP_D(n, d) VV(0x7E70D800, n, d) // n₀+n₁
#define FNEG_D2(n, d) VV(0x6EE0F800, n, d)

// Four float32.
#define FADD_S4(m, n, d) VVV(0x4E20D400, m, n, d)
#define FSUB_S4(m, n, d) VVV(0x4EA0D400, m, n, d)
#define FMUL_S4(m, n, d) VVV(0x6E20DC00, m, n, d)
#define FCMGT_S4(m, n, d) VVV(0x6EA0E400, m, n, d) // n > m
#define FMINNM_S4(m, n, d) VVV(0x4EA0C400, m, n, d) // a number rather than NaN
#define FMAXNM_S4(m, n, d) VVV(0x4E20C400, m, n, d)
#define FMINNMV_S4(n, d) VV(0x6EB0C800, n, d) // the least of four
#define FABS_S4(n, d) VV(0x4EA0F800, n, d)
#define FCVTN_S4(n, d) VV(0x0E616800, n, d) // float64 to the low half of d
#define FCVTN2_S4(n, d) VV(0x4E616800, n, d) // float64 to the high half of d

// d + n times element i of m, rounded once.
#define FMLA_D2(m, i, n, d) WORD $(0x4FC01000 | (i)<<11 | (m)<<16 | (n)<<5 | (d))
#define FMLA_S4(m, i, n, d) WORD $(0x4F801000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))

// Unsigned: the least of four.
#define UMINV_S4(n, d) VV(0x6EB1A800, n, d)
// The middle of each of eight int16, as 8 bytes.
#define SHRN4_B8(n, d) VV(0x0F0C8400, n, d)

// Between whole numbers and float64; the nearest, of two the even one. What is too large becomes the
// largest, and NaN 0.
#define FCVTNS_D2(n, d) VV(0x4E61A800, n, d)
#define SCVTF_D2(n, d) VV(0x4E61D800, n, d)

// Twice as wide, of the low or high half of n; half as wide, to the low or high half of d, and what is too
// large becomes the largest.
#define SXTL_D2(n, d) VV(0x0F20A400, n, d)
#define SXTL2_D2(n, d) VV(0x4F20A400, n, d)
#define SQXTN_S2(n, d) VV(0x0EA14800, n, d)
#define SQXTN2_S4(n, d) VV(0x4EA14800, n, d)
#define SQXTN_H4(n, d) VV(0x0E614800, n, d)
#define SQXTN2_H8(n, d) VV(0x4E614800, n, d)

// Eight int16.
#define SMIN_H8(m, n, d) VVV(0x4E606C00, m, n, d)
#define SMAX_H8(m, n, d) VVV(0x4E606400, m, n, d)
#define SMINV_H8(n, d) VV(0x4E71A800, n, d)
#define SMAXV_H8(n, d) VV(0x4E70A800, n, d)

// Four products of int16 are added to d: those of the low or high half of n and element i of m, below 16.
#define SMLAL_S4(m, i, n, d) WORD $(0x0F402000 | ((i)&3)<<20 | (m)<<16 | ((i)>>2)<<11 | (n)<<5 | (d))
#define SMLAL2_S4(m, i, n, d) WORD $(0x4F402000 | ((i)&3)<<20 | (m)<<16 | ((i)>>2)<<11 | (n)<<5 | (d))

// Between int32 and float32, as above.
#define FCVTNS_S4(n, d) VV(0x4E21A800, n, d)
#define SCVTF_S4(n, d) VV(0x4E21D800, n, d)

// Four sums of four products of signed bytes are added to d: those of n and the i-th four of m. Not all
// processors have it.
#define SDOT_S4(m, i, n, d) WORD $(0x4F80E000 | ((i)&1)<<21 | (m)<<16 | ((i)>>1)<<11 | (n)<<5 | (d))
// The same of n and m, four by four.
#define SDOT_V4(m, n, d) VVV(0x4E809400, m, n, d)
