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

// squares writes isa.squares, for two y at once: the sums of one wait for each other,
// and anchors come from far. It does not fuse, so that Go and every instruction set
// settle neighbours with the same bits.
func squares() {
	TEXT("squaresAVX2", NOSPLIT, "func(blocks int, x, y, z *float64) (xy, xz float64)")
	Doc("squaresAVX2 is isa.squares.")
	Pragma("noescape")
	blocks, x, y, z := arg("blocks"), arg("x"), arg("y"), arg("z")
	var s [4]VecVirtual
	for i := range s {
		s[i] = YMM()
		VXORPD(s[i], s[i], s[i])
	}
	v, d := YMM(), YMM()
	TESTQ(blocks, blocks)
	JZ(to("sum"))
	Label("block")
	PREFETCHT0(Mem{Base: y, Disp: 3072})
	PREFETCHT0(Mem{Base: z, Disp: 3072})
	for i := range 2 {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v)
		for k, other := range []Register{y, z} {
			VSUBPD(Mem{Base: other, Disp: 32 * i}, v, d)
			VMULPD(d, d, d)
			VADDPD(d, s[2*k+i], s[2*k+i])
		}
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	ADDQ(Imm(64), z)
	DECQ(blocks)
	JNZ(to("block"))
	Label("sum")
	for k := range 2 {
		sum := s[2*k]
		VADDPD(s[2*k+1], sum, sum) // i + (i+4)
		high := XMM()
		VEXTRACTF128(Imm(1), sum, high)
		VADDPD(high, sum.AsX(), sum.AsX()) // … + 2
		VUNPCKHPD(sum.AsX(), sum.AsX(), high)
		VADDSD(high, sum.AsX(), sum.AsX()) // … + 1
		Store(sum.AsX(), ReturnIndex(k))
	}
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

// narrow writes isa.narrow: 4 rows of a column-major chunk become a part of a float32
// panel, and rows of float64, 4 columns at a time.
func narrow() {
	TEXT("narrowAVX2", NOSPLIT, "func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)")
	Doc("narrowAVX2 is isa.narrow.")
	Pragma("noescape")
	k, src, stride, shift := arg("k"), arg("src"), arg("stride"), arg("shift")
	dst, width, raw, long := arg("dst"), arg("width"), arg("raw"), arg("long")
	SHLQ(Imm(3), stride)
	SHLQ(Imm(2), width)
	SHLQ(Imm(3), long)
	long3 := GP64()
	LEAQ(Mem{Base: long, Index: long, Scale: 2}, long3)
	scale, sum, y, s, f := YMM(), YMM(), YMM(), YMM(), XMM()
	p, _ := Param("scale").Resolve()
	VBROADCASTSD(p.Addr, scale)
	squares := arg("squares")
	VMOVUPD(Mem{Base: squares}, sum)
	x := [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	t := [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	rows := [4]Mem{{Base: raw}, {Base: raw, Index: long, Scale: 1}, {Base: raw, Index: long, Scale: 2}, {Base: raw, Index: long3, Scale: 1}}
	column := func(x VecVirtual) {
		PREFETCHT0(Mem{Base: src, Disp: 128}) // of the panels after the next
		VMOVUPD(Mem{Base: src}, x)
		VBROADCASTSD(Mem{Base: shift}, s)
		VSUBPD(s, x, y)
		VMULPD(scale, y, y)
		VFMADD231PD(y, y, sum)
		VCVTPD2PSY(y, f)
		VMOVUPS(f, Mem{Base: dst})
		ADDQ(stride, src)
		ADDQ(Imm(8), shift)
		ADDQ(width, dst)
	}
	SUBQ(Imm(4), k)
	JL(to("rest"))
	Label("four")
	for _, v := range x {
		column(v)
	}
	VUNPCKLPD(x[1], x[0], t[0])
	VUNPCKHPD(x[1], x[0], t[1])
	VUNPCKLPD(x[3], x[2], t[2])
	VUNPCKHPD(x[3], x[2], t[3])
	VPERM2F128(Imm(0x20), t[2], t[0], x[0])
	VPERM2F128(Imm(0x20), t[3], t[1], x[1])
	VPERM2F128(Imm(0x31), t[2], t[0], x[2])
	VPERM2F128(Imm(0x31), t[3], t[1], x[3])
	for i, v := range x {
		VMOVUPD(v, rows[i])
	}
	ADDQ(Imm(32), raw)
	SUBQ(Imm(4), k)
	JGE(to("four"))
	Label("rest")
	ADDQ(Imm(4), k)
	JZ(to("done"))
	Label("one")
	column(x[0])
	high := XMM()
	VMOVLPD(x[0].AsX(), rows[0])
	VMOVHPD(x[0].AsX(), rows[1])
	VEXTRACTF128(Imm(1), x[0], high)
	VMOVLPD(high, rows[2])
	VMOVHPD(high, rows[3])
	ADDQ(Imm(8), raw)
	DECQ(k)
	JNZ(to("one"))
	Label("done")
	VMOVUPD(sum, Mem{Base: squares})
	VZEROUPPER()
	RET()
}

// lowest writes isa.lowest.
func lowest() {
	TEXT("lowestAVX2", NOSPLIT, "func(c, slack *float32, norm float32, n int, out *[16]float32)")
	Doc("lowestAVX2 is isa.lowest; n is a multiple of 8.")
	Pragma("noescape")
	c, slack, n, out := arg("c"), arg("slack"), arg("n"), arg("out")
	norm, s := YMM(), YMM()
	pn, _ := Param("norm").Resolve()
	VBROADCASTSS(pn.Addr, norm)
	least := [2]VecVirtual{YMM(), YMM()}
	for i, v := range least {
		VMOVUPS(Mem{Base: out, Disp: 32 * i}, v)
	}
	v := YMM()
	eight := func(i int) {
		VMOVUPS(Mem{Base: c, Disp: 32 * i}, v)
		VMOVUPS(Mem{Base: slack, Disp: 32 * i}, s)
		VFNMADD231PS(s, norm, v)
		VMINPS(v, least[i], least[i])
	}
	SUBQ(Imm(16), n)
	JL(to("rest"))
	Label("sixteen")
	eight(0)
	eight(1)
	ADDQ(Imm(64), c)
	ADDQ(Imm(64), slack)
	SUBQ(Imm(16), n)
	JGE(to("sixteen"))
	Label("rest")
	ADDQ(Imm(16), n)
	JZ(to("done"))
	eight(0)
	Label("done")
	for i, v := range least {
		VMOVUPS(v, Mem{Base: out, Disp: 32 * i})
	}
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
