package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reader of arguments by name.
func arg(name string) Register { return Load(Param(name), GP64()) }

// label jumps are local to a function.
func to(s string) LabelRef { return LabelRef(s) }

// dot writes the sums of isa.dot: 16 of them, so that neither the latency of a
// multiply-add nor the loads of a short vector wait for each other.
func dot() {
	TEXT("dotAVX2", NOSPLIT, "func(blocks int, x, y *float64, sums *[16]float64)")
	Doc("dotAVX2 sets sums[i] to the chain of x[16b+i]·y[16b+i] over b < blocks, fused.")
	Pragma("noescape")
	blocks, x, y, sums := arg("blocks"), arg("x"), arg("y"), arg("sums")
	var s, v [4]VecVirtual
	for i := range s {
		s[i], v[i] = YMM(), YMM()
		VXORPD(s[i], s[i], s[i])
	}
	TESTQ(blocks, blocks)
	JZ(to("done"))
	Label("block")
	for i := range s {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v[i])
		VFMADD231PD(Mem{Base: y, Disp: 32 * i}, v[i], s[i])
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	ADDQ(Imm(64), y)
	DECQ(blocks)
	JNZ(to("block"))
	Label("done")
	for i := range s {
		VMOVUPD(s[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// squares writes isa.squares. It does not fuse, so that Go and every instruction set
// settle neighbours with the same bits.
func squares() {
	TEXT("squaresAVX2", NOSPLIT, "func(blocks int, x, y *float64) float64")
	Doc("squaresAVX2 is isa.squares.")
	Pragma("noescape")
	blocks, x, y := arg("blocks"), arg("x"), arg("y")
	var s, v [2]VecVirtual
	for i := range s {
		s[i], v[i] = YMM(), YMM()
		VXORPD(s[i], s[i], s[i])
	}
	TESTQ(blocks, blocks)
	JZ(to("sum"))
	Label("block")
	PREFETCHT0(Mem{Base: y, Disp: 1024}) // anchors come from far
	for i := range s {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v[i])
		VSUBPD(Mem{Base: y, Disp: 32 * i}, v[i], v[i])
		VMULPD(v[i], v[i], v[i])
		VADDPD(v[i], s[i], s[i])
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	DECQ(blocks)
	JNZ(to("block"))
	Label("sum")
	VADDPD(s[1], s[0], s[0]) // i + (i+4)
	high := XMM()
	VEXTRACTF128(Imm(1), s[0], high)
	VADDPD(high, s[0].AsX(), s[0].AsX()) // … + 2
	VUNPCKHPD(s[0].AsX(), s[0].AsX(), high)
	VADDSD(high, s[0].AsX(), s[0].AsX()) // … + 1
	Store(s[0].AsX(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// axpyRows writes isa.axpyRows: for each of n rows of X, count rows of C get their
// share of it.
func axpyRows() {
	TEXT("axpyRowsAVX2", NOSPLIT, "func(n, count int, index *int32, weight *float64, x *float64, ldx int, width int, c *float64, ldc int)")
	Doc("axpyRowsAVX2 is isa.axpyRows.")
	Pragma("noescape")
	n, index, weight := arg("n"), arg("index"), arg("weight")
	x, ldx, ldc := arg("x"), arg("ldx"), arg("ldc")
	SHLQ(Imm(3), ldx)
	SHLQ(Imm(3), ldc)
	w, v := YMM(), [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}

	Label("row")
	count := Load(Param("count"), GP64())
	Label("entry")
	at := GP64()
	MOVLQSX(Mem{Base: index}, at)
	IMULQ(ldc, at)
	first, _ := Param("c").Resolve()
	ADDQ(first.Addr, at)
	VBROADCASTSD(Mem{Base: weight}, w)
	from, left := GP64(), Load(Param("width"), GP64())
	MOVQ(x, from)

	SUBQ(Imm(16), left)
	JL(to("fours"))
	Label("sixteen")
	for i := range v {
		VMOVUPD(Mem{Base: at, Disp: 32 * i}, v[i])
		VFMADD231PD(Mem{Base: from, Disp: 32 * i}, w, v[i])
		VMOVUPD(v[i], Mem{Base: at, Disp: 32 * i})
	}
	SUBQ(I8(-128), at)
	SUBQ(I8(-128), from)
	SUBQ(Imm(16), left)
	JGE(to("sixteen"))
	Label("fours")
	ADDQ(Imm(12), left)
	JL(to("ones"))
	Label("four")
	VMOVUPD(Mem{Base: at}, v[0])
	VFMADD231PD(Mem{Base: from}, w, v[0])
	VMOVUPD(v[0], Mem{Base: at})
	ADDQ(Imm(32), at)
	ADDQ(Imm(32), from)
	SUBQ(Imm(4), left)
	JGE(to("four"))
	Label("ones")
	ADDQ(Imm(4), left)
	JZ(to("next"))
	Label("one")
	VMOVSD(Mem{Base: at}, v[0].AsX())
	VFMADD231SD(Mem{Base: from}, w.AsX(), v[0].AsX())
	VMOVSD(v[0].AsX(), Mem{Base: at})
	ADDQ(Imm(8), at)
	ADDQ(Imm(8), from)
	DECQ(left)
	JNZ(to("one"))

	Label("next")
	ADDQ(Imm(4), index)
	ADDQ(Imm(8), weight)
	DECQ(count)
	JNZ(to("entry"))
	ADDQ(ldx, x)
	DECQ(n)
	JNZ(to("row"))
	VZEROUPPER()
	RET()
}

// narrow writes isa.narrow: 4 rows of a column-major chunk become a part of a float32 panel.
func narrow() {
	TEXT("narrowAVX2", NOSPLIT, "func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, squares *[4]float64)")
	Doc("narrowAVX2 is isa.narrow.")
	Pragma("noescape")
	k, src, stride, shift := arg("k"), arg("src"), arg("stride"), arg("shift")
	dst, width, squares := arg("dst"), arg("width"), arg("squares")
	SHLQ(Imm(3), stride)
	SHLQ(Imm(2), width)
	scale, sum, x, s, f := YMM(), YMM(), YMM(), YMM(), XMM()
	p, _ := Param("scale").Resolve()
	VBROADCASTSD(p.Addr, scale)
	VMOVUPD(Mem{Base: squares}, sum)
	Label("column")
	VMOVUPD(Mem{Base: src}, x)
	VBROADCASTSD(Mem{Base: shift}, s)
	VSUBPD(s, x, x)
	VMULPD(scale, x, x)
	VFMADD231PD(x, x, sum)
	VCVTPD2PSY(x, f)
	VMOVUPS(f, Mem{Base: dst})
	ADDQ(stride, src)
	ADDQ(Imm(8), shift)
	ADDQ(width, dst)
	DECQ(k)
	JNZ(to("column"))
	VMOVUPD(sum, Mem{Base: squares})
	VZEROUPPER()
	RET()
}

// below writes isa.below: 16 comparisons at a time until one holds.
func below() {
	TEXT("belowAVX2", NOSPLIT, "func(c, slack *float32, norm, limit float32, from, n int) int")
	Doc("belowAVX2 is isa.below; it reads up to 15 elements beyond n.")
	Pragma("noescape")
	c, slack, from, n := arg("c"), arg("slack"), arg("from"), arg("n")
	norm, limit := YMM(), YMM()
	pn, _ := Param("norm").Resolve()
	pl, _ := Param("limit").Resolve()
	VBROADCASTSS(pn.Addr, norm)
	VBROADCASTSS(pl.Addr, limit)
	var v [2]VecVirtual
	v[0], v[1] = YMM(), YMM()
	any, low, high := YMM(), GP32(), GP32()
	Label("more")
	CMPQ(from, n)
	JGE(to("none"))
	for i := range v {
		VMOVUPS(Mem{Base: c, Index: from, Scale: 4, Disp: 32 * i}, v[i])
		s := YMM()
		VMOVUPS(Mem{Base: slack, Index: from, Scale: 4, Disp: 32 * i}, s)
		VFNMADD231PS(s, norm, v[i])
		VCMPPS(Imm(10), limit, v[i], v[i]) // not greater: true for NaN
	}
	VORPS(v[0], v[1], any)
	VMOVMSKPS(any, low)
	TESTL(low, low)
	JNZ(to("found"))
	ADDQ(Imm(16), from)
	JMP(to("more"))
	Label("found")
	VMOVMSKPS(v[0], low)
	VMOVMSKPS(v[1], high)
	SHLL(Imm(8), high)
	ORL(high, low)
	BSFL(low, low)
	wide := low.As64()
	ADDQ(wide, from)
	CMPQ(from, n)
	JLT(to("hit"))
	Label("none")
	MOVQ(n, from)
	Label("hit")
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
