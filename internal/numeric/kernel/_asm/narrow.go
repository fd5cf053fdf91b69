package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// writeWholeRange writes the code of isa.wholeRange, which finds the range of integers. It converts 16 numbers
// at a time to int32 and back, until a bit differs.
func writeWholeRange() {
	beginFunction("wholeRangeAVX2", "func(blocks int, x *float64) (least, most int32, ok bool)", "wholeRangeAVX2 implements isa.wholeRange; blocks is at least 1.")
	blocks, x := arg("blocks"), arg("x")
	low, high, bad, back, n := XMM(), XMM(), YMM(), YMM(), XMM()
	VCVTPD2DQY(Mem{Base: x}, low)
	VMOVDQA(low, high)
	Label("block")
	VPXOR(bad, bad, bad)
	for i := range 4 {
		VCVTPD2DQY(Mem{Base: x, Disp: 32 * i}, n)
		VCVTDQ2PD(n, back)
		VPXOR(Mem{Base: x, Disp: 32 * i}, back, back)
		VPOR(back, bad, bad)
		VPMINSD(n, low, low)
		VPMAXSD(n, high, high)
	}
	VPTEST(bad, bad)
	JNZ(labelRef("differs"))
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), x)
	DECQ(blocks)
	JNZ(labelRef("block"))
	for i, v := range []VecVirtual{low, high} {
		half, fold := XMM(), VPMINSD
		if i == 1 {
			fold = VPMAXSD
		}
		for _, bytes := range []uint64{8, 4} {
			VPSRLDQ(Imm(bytes), v, half)
			fold(half, v, v)
		}
		r := GP32()
		VMOVD(v, r)
		Store(r, ReturnIndex(i))
	}
	ok := GP8()
	MOVB(Imm(1), ok)
	Store(ok, ReturnIndex(2))
	VZEROUPPER()
	RET()
	Label("differs")
	none := GP32()
	XORL(none, none)
	Store(none, ReturnIndex(0))
	Store(none, ReturnIndex(1))
	Store(none.As8(), ReturnIndex(2))
	VZEROUPPER()
	RET()
}

// writeToLowBytes writes the code of isa.toLowBytes, which writes the lowest byte of each number.
func writeToLowBytes() {
	beginFunction("lowBytesAVX2", "func(blocks int, src *float64, dst *byte)", "lowBytesAVX2 implements isa.toLowBytes; blocks is at least 1.")
	blocks, src, dst := arg("blocks"), arg("src"), arg("dst")
	mask := XMM()
	VPCMPEQD(mask, mask, mask)
	VPSRLD(Imm(24), mask, mask) // 255
	var n [4]VecVirtual
	for i := range n {
		n[i] = XMM()
	}
	Label("block")
	for i := range n {
		VCVTPD2DQY(Mem{Base: src, Disp: 32 * i}, n[i])
		VPAND(mask, n[i], n[i])
	}
	VPACKSSDW(n[1], n[0], n[0])
	VPACKSSDW(n[3], n[2], n[2])
	VPACKUSWB(n[2], n[0], n[0])
	VMOVDQU(n[0], Mem{Base: dst})
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), src)
	ADDQ(Imm(16), dst)
	DECQ(blocks)
	JNZ(labelRef("block"))
	VZEROUPPER()
	RET()
}

// writeFromBytes writes the code of isa.fromBytes, which converts bytes to float64.
func writeFromBytes() {
	beginFunction("ofBytesAVX2", "func(blocks int, src *byte, dst *float64)", "ofBytesAVX2 implements isa.fromBytes; blocks is at least 1.")
	blocks, src, dst := arg("blocks"), arg("src"), arg("dst")
	n, x := newRegisters(XMM), newRegisters(YMM)
	Label("block")
	for i := range n {
		VPMOVZXBD(Mem{Base: src, Disp: 4 * i}, n[i])
		VCVTDQ2PD(n[i], x[i])
		VMOVUPD(x[i], Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(Imm(16), src)
	ADDQ(Imm(64), dst)
	ADDQ(Imm(64), dst)
	DECQ(blocks)
	JNZ(labelRef("block"))
	VZEROUPPER()
	RET()
}

// writeAllSingles writes the code of isa.allSingles. It converts 16 numbers at a time to float32 and back,
// until a bit differs.
func writeAllSingles() {
	beginFunction("allSinglesAVX2", "func(blocks int, x *float64) bool", "allSinglesAVX2 implements isa.allSingles; blocks is at least 1.")
	blocks, x := arg("blocks"), arg("x")
	bad, back, v, n := YMM(), YMM(), YMM(), XMM()
	ok := GP8()
	XORB(ok, ok)
	Label("block")
	VPXOR(bad, bad, bad)
	for i := range 4 {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v)
		VCVTPD2PSY(v, n)
		VCVTPS2PD(n, back)
		VPXOR(v, back, back)
		VPOR(back, bad, bad)
		VCMPPD(Imm(3), v, v, v) // is NaN
		VPOR(v, bad, bad)
	}
	VPTEST(bad, bad)
	JNZ(labelRef("differs"))
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), x)
	DECQ(blocks)
	JNZ(labelRef("block"))
	MOVB(Imm(1), ok)
	Label("differs")
	Store(ok, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// writeToSingles writes the code of isa.toSingles, which converts float64 to float32.
func writeToSingles() {
	beginFunction("singlesAVX2", "func(blocks int, src *float64, dst *float32)", "singlesAVX2 implements isa.toSingles; blocks is at least 1.")
	blocks, src, dst := arg("blocks"), arg("src"), arg("dst")
	n := XMM()
	Label("block")
	for i := range 4 {
		VCVTPD2PSY(Mem{Base: src, Disp: 32 * i}, n)
		VMOVUPS(n, Mem{Base: dst, Disp: 16 * i})
	}
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), dst)
	DECQ(blocks)
	JNZ(labelRef("block"))
	VZEROUPPER()
	RET()
}

// writeFromSingles writes the code of isa.fromSingles, which converts float32 to float64.
func writeFromSingles() {
	beginFunction("ofSinglesAVX2", "func(blocks int, src *float32, dst *float64)", "ofSinglesAVX2 implements isa.fromSingles; blocks is at least 1.")
	blocks, src, dst := arg("blocks"), arg("src"), arg("dst")
	x := newRegisters(YMM)
	Label("block")
	for i := range x {
		VCVTPS2PD(Mem{Base: src, Disp: 16 * i}, x[i])
		VMOVUPD(x[i], Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), dst)
	ADDQ(Imm(64), dst)
	DECQ(blocks)
	JNZ(labelRef("block"))
	VZEROUPPER()
	RET()
}
