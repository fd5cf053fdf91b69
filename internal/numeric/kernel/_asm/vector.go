package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// beginFunction begins a new assembly function.
func beginFunction(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc)
	Pragma("noescape")
}

// arg loads the argument of the given name into a register.
func arg(name string) Register { return Load(Param(name), GP64()) }

// argMemory returns the place of the argument of the given name in the caller's memory.
func argMemory(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// newRegisters returns four new registers.
func newRegisters(reg func() VecVirtual) [4]VecVirtual {
	return [4]VecVirtual{reg(), reg(), reg(), reg()}
}

// rowStarts returns the first elements of four rows, step bytes apart. step3 must contain 3·step.
func rowStarts(base, step, step3 Register) [4]Mem {
	return [4]Mem{{Base: base}, {Base: base, Index: step, Scale: 1}, {Base: base, Index: step, Scale: 2}, {Base: base, Index: step3, Scale: 1}}
}

// transposeDoubles transposes 4×4 float64 in the vectors r. It overwrites t.
func transposeDoubles(r, t [4]VecVirtual) {
	VUNPCKLPD(r[1], r[0], t[0]) // a0 b0 | a2 b2
	VUNPCKHPD(r[1], r[0], t[1]) // a1 b1 | a3 b3
	VUNPCKLPD(r[3], r[2], t[2])
	VUNPCKHPD(r[3], r[2], t[3])
	VPERM2F128(Imm(0x20), t[2], t[0], r[0])
	VPERM2F128(Imm(0x20), t[3], t[1], r[1])
	VPERM2F128(Imm(0x31), t[2], t[0], r[2])
	VPERM2F128(Imm(0x31), t[3], t[1], r[3])
}

// transposeSingles transposes 4×4 float32 in each half of the vectors r. It overwrites t.
func transposeSingles(r, t [4]VecVirtual) {
	VUNPCKLPS(r[1], r[0], t[0]) // a0 b0 a1 b1 | a4 b4 a5 b5
	VUNPCKHPS(r[1], r[0], t[1]) // a2 b2 a3 b3
	VUNPCKLPS(r[3], r[2], t[2])
	VUNPCKHPS(r[3], r[2], t[3])
	VUNPCKLPD(t[2], t[0], r[0]) // a0 b0 c0 d0 | a4 …
	VUNPCKHPD(t[2], t[0], r[1])
	VUNPCKLPD(t[3], t[1], r[2])
	VUNPCKHPD(t[3], t[1], r[3])
}

// labelRef refers to a label, which is local to the function.
func labelRef(s string) LabelRef { return LabelRef(s) }

// eachBlock writes a loop over blocks of 16 numbers of x and dst. step(i) writes the code for the i-th four numbers of
// a block. The loop also prefetches blocks·16 numbers from next on.
func eachBlock(blocks, dst, x, next Register, step func(i int)) {
	TESTQ(blocks, blocks)
	JZ(labelRef("done"))
	Label("block")
	PREFETCHT0(Mem{Base: next})
	PREFETCHT0(Mem{Base: next, Disp: 64})
	for i := range 4 {
		step(i)
	}
	for _, p := range []Register{x, dst, next} {
		ADDQ(Imm(64), p)
		ADDQ(Imm(64), p)
	}
	DECQ(blocks)
	JNZ(labelRef("block"))
	Label("done")
}

// writeShiftColumn writes the code of isa.shiftColumn, which subtracts a number from a column. It prefetches
// the next column, because columns of a chunk may be far apart, and the processor cannot predict the next one.
func writeShiftColumn() {
	beginFunction("shiftAVX2", "func(blocks int, dst, x *float64, by float64, next *float64, ends *[8]float64)", "shiftAVX2 implements isa.shiftColumn.")
	blocks, dst, x, next, ends := arg("blocks"), arg("dst"), arg("x"), arg("next"), arg("ends")
	by, low, high := YMM(), YMM(), YMM()
	VBROADCASTSD(argMemory("by"), by)
	VMOVUPD(Mem{Base: ends}, low)
	VMOVUPD(Mem{Base: ends, Disp: 32}, high)
	v, d := newRegisters(YMM), newRegisters(YMM)
	eachBlock(blocks, dst, x, next, func(i int) {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v[i])
		VSUBPD(by, v[i], d[i])
		VMOVUPD(d[i], Mem{Base: dst, Disp: 32 * i})
		VMINPD(low, v[i], low) // if v[i] is NaN or equal to low, the result is the second operand, low
		VMAXPD(high, v[i], high)
	})
	VMOVUPD(low, Mem{Base: ends})
	VMOVUPD(high, Mem{Base: ends, Disp: 32})
	VZEROUPPER()
	RET()
}

// writeStandardize writes the code of isa.standardize, which shifts and scales a column. It rounds the
// difference and the product, as Go does.
func writeStandardize() {
	beginFunction("standardizeAVX2", "func(blocks int, dst, x *float64, shift, factor, missing float64, next *float64)", "standardizeAVX2 implements isa.standardize.")
	blocks, dst, x, next := arg("blocks"), arg("dst"), arg("x"), arg("next")
	shift, factor, missing := YMM(), YMM(), YMM()
	VBROADCASTSD(argMemory("shift"), shift)
	VBROADCASTSD(argMemory("factor"), factor)
	VBROADCASTSD(argMemory("missing"), missing)
	v, d := newRegisters(YMM), newRegisters(YMM)
	eachBlock(blocks, dst, x, next, func(i int) {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v[i])
		VSUBPD(shift, v[i], d[i])
		VMULPD(factor, d[i], d[i])
		VCMPPD(Imm(3), v[i], v[i], v[i]) // is NaN
		VBLENDVPD(v[i], missing, d[i], d[i])
		VMOVUPD(d[i], Mem{Base: dst, Disp: 32 * i})
	})
	VZEROUPPER()
	RET()
}

// writeDot writes the sums of isa.dot. It has 16 sums, so that additions do not wait for each other's results, or for
// the loads of a short vector.
func writeDot() {
	beginFunction("dotAVX2", "func(blocks int, x, y *float64, sums *[16]float64)", "dotAVX2 sets sums[i] to the chain of x[16b+i]·y[16b+i] over b < blocks, fused.")
	blocks, x, y, sums := arg("blocks"), arg("x"), arg("y"), arg("sums")
	var s, v [4]VecVirtual
	for i := range s {
		s[i], v[i] = YMM(), YMM()
		VXORPD(s[i], s[i], s[i])
	}
	TESTQ(blocks, blocks)
	JZ(labelRef("done"))
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
	JNZ(labelRef("block"))
	Label("done")
	for i := range s {
		VMOVUPD(s[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// writeSquaredDistances writes isa.squaredDistances for two anchors y and z at once. While the sums of one anchor wait
// for earlier additions, the processor works on the other anchor, or waits for distant memory. It does not fuse
// multiplications and additions, so that Go and every instruction set compute distances with the same bits.
func writeSquaredDistances() {
	beginFunction("squaresAVX2", "func(blocks int, x, y, z, nextY, nextZ *float64) (xy, xz float64)", "squaresAVX2 implements isa.squaredDistances.")
	blocks, x, y, z := arg("blocks"), arg("x"), arg("y"), arg("z")
	var s [4]VecVirtual
	for i := range s {
		s[i] = YMM()
		VXORPD(s[i], s[i], s[i])
	}
	v, d := YMM(), YMM()
	Comment("The blocks of which one is fetched that comes ahead blocks later, and the others.")
	const ahead = 3072
	first := GP64()
	MOVQ(blocks, first)
	SUBQ(Imm(ahead/64), first)
	JLE(labelRef("others"))
	SUBQ(first, blocks)
	loop := func(name string, count Register, fetch [2]Mem, step func()) {
		Label(name)
		PREFETCHT0(fetch[0])
		PREFETCHT0(fetch[1])
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
		step()
		DECQ(count)
		JNZ(labelRef(name))
	}
	loop("block", first, [2]Mem{{Base: y, Disp: ahead}, {Base: z, Disp: ahead}}, func() {})
	Label("others")
	TESTQ(blocks, blocks)
	JZ(labelRef("sum"))
	nextY, nextZ := arg("nextY"), arg("nextZ")
	loop("other", blocks, [2]Mem{{Base: nextY}, {Base: nextZ}}, func() {
		ADDQ(Imm(64), nextY)
		ADDQ(Imm(64), nextZ)
	})
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

// writeGatherRows writes the code of isa.gatherRows, which adds weighted rows of X to rows of C. The sums of a
// row of C stay in registers while the rows of X are added.
func writeGatherRows() {
	beginFunction("gatherAVX2", "func(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int)", "gatherAVX2 implements isa.gatherRows; columns and width are at least 1.")
	columns, starts, rows, weights := arg("columns"), arg("starts"), arg("rows"), arg("weights")
	ldx, c, ldc := arg("ldx"), arg("c"), arg("ldc")
	SHLQ(Imm(3), ldx)
	SHLQ(Imm(3), ldc)
	n, e, at, from, to0, left := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	w := YMM()
	var sums [8]VecVirtual
	for i := range sums {
		sums[i] = YMM()
	}
	part := func(name string, count int, next string) {
		wide, load, fma, spread := 32, VMOVUPD, VFMADD231PD, VBROADCASTSD
		reg := func(v VecVirtual) Op { return v }
		if name == "one" {
			wide, load, fma, spread = 8, VMOVSD, VFMADD231SD, VMOVSD
			reg = func(v VecVirtual) Op { return v.AsX() }
		}
		Label(name)
		for i := range count {
			load(Mem{Base: to0, Disp: wide * i}, reg(sums[i]))
		}
		XORQ(e, e)
		Label(name + "entry")
		MOVLQSX(Mem{Base: rows, Index: e, Scale: 4}, at)
		IMULQ(ldx, at)
		ADDQ(from, at)
		spread(Mem{Base: weights, Index: e, Scale: 8}, reg(w))
		for i := range count {
			fma(Mem{Base: at, Disp: wide * i}, reg(w), reg(sums[i]))
		}
		INCQ(e)
		CMPQ(e, n)
		JLT(labelRef(name + "entry"))
		for i := range count {
			load(reg(sums[i]), Mem{Base: to0, Disp: wide * i})
		}
		ADDQ(U32(uint32(wide*count)), to0)
		ADDQ(U32(uint32(wide*count)), from)
		SUBQ(U32(uint32(wide*count/8)), left)
		JMP(labelRef(next))
	}
	Label("column")
	MOVLQSX(Mem{Base: starts, Disp: 4}, n)
	MOVLQSX(Mem{Base: starts}, e)
	SUBQ(e, n)
	JZ(labelRef("next"))
	MOVQ(c, to0)
	LEAQ(Mem{Base: c, Index: ldc, Scale: 8}, at) // prefetches a row of C that follows later
	for line := range 4 {
		PREFETCHT0(Mem{Base: at, Disp: 64 * line})
	}
	MOVQ(argMemory("x"), from)
	MOVQ(argMemory("width"), left)
	Label("columns")
	CMPQ(left, Imm(32))
	JGE(labelRef("thirtytwo"))
	CMPQ(left, Imm(4))
	JGE(labelRef("four"))
	TESTQ(left, left)
	JNZ(labelRef("one"))
	LEAQ(Mem{Base: rows, Index: n, Scale: 4}, rows)
	LEAQ(Mem{Base: weights, Index: n, Scale: 8}, weights)
	Label("next")
	ADDQ(Imm(4), starts)
	ADDQ(ldc, c)
	DECQ(columns)
	JNZ(labelRef("column"))
	VZEROUPPER()
	RET()
	part("thirtytwo", 8, "columns")
	part("four", 1, "columns")
	part("one", 1, "columns")
}

// writeRotate writes the code of isa.rotate, which rotates neighbouring rows of a panel. Four vectors at a
// time go through all rotations. A rotation waits 4 cycles for the result of the previous one, and its 16 operations on
// four vectors take 8 cycles.
func writeRotate(w width) {
	beginFunction("rotate"+w.name, "func(n int, c, s, panel *float64, step int)", "rotate"+w.name+" implements isa.rotate; n is at least 1.")
	total, cs, sn, panel, step := arg("n"), arg("c"), arg("s"), arg("panel"), arg("step")
	SHLQ(Imm(3), step)
	var old, carry, t [4]VecVirtual
	for i := range old {
		old[i], carry[i], t[i] = w.reg(), w.reg(), w.reg()
	}
	c, s := w.reg(), w.reg()
	at, next, n, k := GP64(), GP64(), GP64(), GP64()
	for first := 0; first < 8*32; first += 4 * w.bytes {
		loop := fmt.Sprintf("rotation%d", first)
		MOVQ(panel, at)
		MOVQ(total, n)
		XORQ(k, k)
		for i, v := range carry {
			VMOVUPD(Mem{Base: at, Disp: first + i*w.bytes}, v)
		}
		Label(loop)
		VBROADCASTSD(Mem{Base: cs, Index: k, Scale: 8}, c)
		VBROADCASTSD(Mem{Base: sn, Index: k, Scale: 8}, s)
		LEAQ(Mem{Base: at, Index: step, Scale: 1}, next)
		for i := range old {
			VMOVUPD(Mem{Base: next, Disp: first + i*w.bytes}, old[i])
			VMULPD(old[i], s, t[i])
			VFMADD231PD(carry[i], c, t[i])
			VMOVUPD(t[i], Mem{Base: at, Disp: first + i*w.bytes})
			VMULPD(carry[i], s, t[i])
			VFMSUB132PD(c, t[i], old[i]) // old·c − t
			VMOVAPD(old[i], carry[i])
		}
		MOVQ(next, at)
		INCQ(k)
		DECQ(n)
		JNZ(labelRef(loop))
		for i, v := range carry {
			VMOVUPD(v, Mem{Base: at, Disp: first + i*w.bytes})
		}
	}
	VZEROUPPER()
	RET()
}

// writeNarrowRows writes the code of isa.narrowRows, which packs rows as float32. It processes 4 rows of a
// column-major chunk, 4 columns at a time. The rows become a part of a float32 panel and of the rows of float64.
func writeNarrowRows() {
	beginFunction("narrowAVX2", "func(k int, src *float64, stride int, shift *float64, scale float64, dst *float32, width int, raw *float64, long int, squares *[4]float64)", "narrowAVX2 implements isa.narrowRows.")
	k, src, stride, shift := arg("k"), arg("src"), arg("stride"), arg("shift")
	dst, width, raw, long := arg("dst"), arg("width"), arg("raw"), arg("long")
	SHLQ(Imm(3), stride)
	SHLQ(Imm(2), width)
	SHLQ(Imm(3), long)
	long3 := GP64()
	LEAQ(Mem{Base: long, Index: long, Scale: 2}, long3)
	scale, sum, y, s, f := YMM(), YMM(), YMM(), YMM(), XMM()
	VBROADCASTSD(argMemory("scale"), scale)
	squares := arg("squares")
	VMOVUPD(Mem{Base: squares}, sum)
	x, t := newRegisters(YMM), newRegisters(YMM)
	rows := rowStarts(raw, long, long3)
	column := func(x VecVirtual) {
		PREFETCHT0(Mem{Base: src, Disp: 128}) // of the panel after the next one
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
	JL(labelRef("rest"))
	Label("four")
	for _, v := range x {
		column(v)
	}
	transposeDoubles(x, t)
	for i, v := range x {
		VMOVUPD(v, rows[i])
	}
	ADDQ(Imm(32), raw)
	SUBQ(Imm(4), k)
	JGE(labelRef("four"))
	Label("rest")
	ADDQ(Imm(4), k)
	JZ(labelRef("done"))
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
	JNZ(labelRef("one"))
	Label("done")
	VMOVUPD(sum, Mem{Base: squares})
	VZEROUPPER()
	RET()
}

// writeLowestBounds writes the code of isa.lowestBounds, for the distances of rows to anchors. The upper
// bounds of a row stay in registers. Of its lower bounds only the lowest is kept. The slack of a whole group of 48
// anchors fits into registers of 64 bytes.
func writeLowestBounds(w width) {
	const signature = "func(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[16]float32, lowers *float32, groups int)"
	doc := "implements isa.lowestBounds; n is a multiple of 8."
	if w.bytes == 64 {
		doc = "implements isa.lowestBounds; n is 48."
	}
	beginFunction("lowest"+w.name, signature, fmt.Sprintf("lowest%s %s", w.name, doc))
	rows, c, ldc, slack, loose := arg("rows"), arg("c"), arg("ldc"), arg("slack"), arg("loose")
	uppers, lowers, groups := arg("uppers"), arg("lowers"), arg("groups")
	SHLQ(Imm(2), ldc)
	SHLQ(Imm(2), groups)
	room, low, b, v := w.reg(), w.reg(), w.reg(), w.reg()
	upper := make([]VecVirtual, 64/w.bytes)
	for i := range upper {
		upper[i] = w.reg()
	}
	most := GP32()
	MOVL(U32(math.Float32bits(math.MaxFloat32)), most)
	// part writes the code for a vector of anchors, given its slack.
	part := func(at Mem, slack Op, upper VecVirtual) {
		VMULPS(slack, room, b)
		VMOVUPS(at, v)
		VSUBPS(b, v, v)
		VADDPS(at, b, b)
		VMINPS(v, low, low)
		VMINPS(b, upper, upper)
	}
	var slacks [3]VecVirtual
	if w.bytes == 64 {
		for i := range slacks {
			slacks[i] = w.reg()
			VMOVUPS(Mem{Base: slack, Disp: 64 * i}, slacks[i])
		}
	}
	Label("row")
	VBROADCASTSS(Mem{Base: loose}, room)
	VMOVD(most, low.AsX())
	VBROADCASTSS(low.AsX(), low)
	for i, u := range upper {
		VMOVUPS(Mem{Base: uppers, Disp: w.bytes * i}, u)
	}
	if w.bytes == 64 {
		for i, s := range slacks {
			part(Mem{Base: c, Disp: 64 * i}, s, upper[0])
		}
		half := YMM()
		VEXTRACTF64X4(Imm(1), low, half)
		VMINPS(half, low.AsY(), low.AsY())
	} else {
		at, from, left := GP64(), GP64(), arg("n")
		MOVQ(c, at)
		MOVQ(slack, from)
		eight := func(i int) { part(Mem{Base: at, Disp: 32 * i}, Mem{Base: from, Disp: 32 * i}, upper[i]) }
		SUBQ(Imm(16), left)
		JL(labelRef("rest"))
		Label("sixteen")
		eight(0)
		eight(1)
		ADDQ(Imm(64), at)
		ADDQ(Imm(64), from)
		SUBQ(Imm(16), left)
		JGE(labelRef("sixteen"))
		Label("rest")
		ADDQ(Imm(16), left)
		JZ(labelRef("fold"))
		eight(0)
		Label("fold")
	}
	for i, u := range upper {
		VMOVUPS(u, Mem{Base: uppers, Disp: w.bytes * i})
	}
	x, y := low.AsX(), XMM()
	VEXTRACTF128(Imm(1), low.AsY(), y)
	VMINPS(y, x, x)
	VPERMILPS(Imm(0x4E), x, y)
	VMINPS(y, x, x)
	VPERMILPS(Imm(0xB1), x, y)
	VMINPS(y, x, x)
	VMOVSS(x, Mem{Base: lowers})
	ADDQ(ldc, c)
	ADDQ(Imm(4), loose)
	ADDQ(Imm(64), uppers)
	ADDQ(groups, lowers)
	DECQ(rows)
	JNZ(labelRef("row"))
	VZEROUPPER()
	RET()
}

// writeFindWithin writes the code of isa.findWithin, which finds the anchors within a limit. Few groups
// contain anchors to be found, and in these groups few vectors do. Each such vector is compressed and written in full,
// which needs no branch.
func writeFindWithin() {
	beginFunction("withinAVX512", "func(n int, c, slack, lowers *float32, room, limit float32, found *[784]int32) int", "withinAVX512 implements isa.findWithin; n is a multiple of 48.")
	n, c, slack, lowers, found := arg("n"), arg("c"), arg("slack"), arg("lowers"), arg("found")
	room, limit, low := ZMM(), ZMM(), ZMM()
	VBROADCASTSS(argMemory("room"), room)
	VBROADCASTSS(argMemory("limit"), limit)
	first := GP64()
	MOVQ(found, first)
	iota := ZMM()
	counts := GLOBL("iota", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(uint32(i)))
	}
	VMOVDQU32(counts, iota)
	Comment("The groups that there are, and of them those that are not above the limit.")
	columns := ZMM()
	some, hit := K(), K()
	VPBROADCASTD(n.(GPVirtual).As32(), columns)
	times := GP32()
	MOVL(U32(48), times)
	starts := ZMM()
	VPBROADCASTD(times, starts)
	VPMULLD(iota, starts, starts)
	VPCMPGTD(starts, columns, some)
	VMOVUPS_Z(Mem{Base: lowers}, some, low)
	VCMPPS(Imm(10), limit, low, some, hit) // not greater
	groups, g, next := GP32(), GP64(), GP64()
	KMOVW(hit, groups)
	Label("group")
	TESTL(groups, groups)
	JZ(labelRef("done"))
	BSFL(groups, g.As32())
	LEAL(Mem{Base: groups, Disp: -1}, next.As32())
	ANDL(next.As32(), groups)
	LEAQ(Mem{Base: g, Index: g, Scale: 2}, g)
	SHLQ(Imm(4), g) // first anchor of the group
	for i := range 3 {
		index, v, b := ZMM(), ZMM(), ZMM()
		at := GP64()
		LEAQ(Mem{Base: g, Disp: 16 * i}, at)
		VPBROADCASTD(at.As32(), index)
		VPADDD(iota, index, index)
		VMULPS(Mem{Base: slack, Index: g, Scale: 4, Disp: 64 * i}, room, b)
		VMOVUPS(Mem{Base: c, Index: g, Scale: 4, Disp: 64 * i}, v)
		VSUBPS(b, v, v)
		k := K()
		VCMPPS(Imm(10), limit, v, k)
		VPCOMPRESSD_Z(index, k, index)
		VMOVDQU32(index, Mem{Base: found})
		count := GP32()
		KMOVW(k, count)
		POPCNTL(count, count)
		LEAQ(Mem{Base: found, Index: count.As64(), Scale: 4}, found)
	}
	JMP(labelRef("group"))
	Label("done")
	SUBQ(first, found)
	SHRQ(Imm(2), found)
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// writeFirstNotAbove writes the code of isa.firstNotAbove, which finds a bound not above a limit. It makes 16
// comparisons at a time until one is true.
func writeFirstNotAbove() {
	beginFunction("belowAVX2", "func(c, slack *float32, norm, limit float32, from, n int) int", "belowAVX2 implements isa.firstNotAbove; it reads up to 15 elements beyond n.")
	c, slack, from, n := arg("c"), arg("slack"), arg("from"), arg("n")
	norm, limit := YMM(), YMM()
	VBROADCASTSS(argMemory("norm"), norm)
	VBROADCASTSS(argMemory("limit"), limit)
	v := [2]VecVirtual{YMM(), YMM()}
	any, low, high := YMM(), GP32(), GP32()
	Label("more")
	CMPQ(from, n)
	JGE(labelRef("none"))
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
	JNZ(labelRef("found"))
	ADDQ(Imm(16), from)
	JMP(labelRef("more"))
	Label("found")
	VMOVMSKPS(v[0], low)
	VMOVMSKPS(v[1], high)
	SHLL(Imm(8), high)
	ORL(high, low)
	BSFL(low, low)
	wide := low.As64()
	ADDQ(wide, from)
	CMPQ(from, n)
	JLT(labelRef("hit"))
	Label("none")
	MOVQ(n, from)
	Label("hit")
	Store(from, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
