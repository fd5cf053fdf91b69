// Command _asm writes the assembly of internal/numeric/kernel for amd64:
//
//	go generate ./internal/numeric/kernel
//
// One generator serves both element types and both vector widths. Arguments of a kernel's generator are the type, the
// width of the vectors and the shape of the tile.
package main

import (
	"flag"
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var set = flag.String("set", "avx2", "instruction set: avx2 or avx512")

func main() {
	flag.Parse()
	ConstraintExpr("!purego")
	switch *set {
	case "avx2":
		writeMul(f64, ymm, 4, 3)
		writeMul(f32, ymm, 4, 3)
		writeThin(ymm, 4, 3)
		writeTranspose(f64)
		writeTranspose(f32)
		writeCopyPanel()
		writeDot()
		writeSquaredDistances()
		writeGatherRows()
		writeNarrowRows()
		writeFirstNotAbove()
		writeLowestBounds(ymm)
		writeRotate(ymm)
		writeShiftColumn()
		writeStandardize()
		writeLookup()
		writeAllFinite()
		writeMulInts("AVX2", ymm, 4, 2, false)
		writeToInt16()
		writePrefetch()
		writeMulBytes("AVX2", ymm, 1, false)
		writeDotProducts("AVX2", ymm, false)
		writeMulInts("AVXVNNI", ymm, 4, 2, true)
		writeMulBytes("AVXVNNI", ymm, 1, true)
		writeDotProducts("AVXVNNI", ymm, true)
		writeFlipSigns()
		writeMixDimensions()
		writeLargestMagnitudes()
		writeQuantise()
		writeWholeRange()
		writeToLowBytes()
		writeFromBytes()
		writeAllSingles()
		writeToSingles()
		writeFromSingles()
	case "avx512":
		writeMul(f64, zmm, 8, 3)
		writeMul(f32, zmm, 8, 3)
		writeThin(zmm, 8, 2)
		writeLowestBounds(zmm)
		writeFindWithin()
		writeRotate(zmm)
		writeMulInts("AVX512", zmm, 8, 3, false)
		writeMulInts("VNNI", zmm, 8, 3, true)
		writeMulBytes("AVX512", zmm, 3, false)
		writeDotProducts("AVX512", zmm, false)
		writeMulBytes("VNNI", zmm, 3, true)
		writeDotProducts("VNNI", zmm, true)
	}
	Generate()
}

// elem is an element type and the instructions on vectors of it.
type elem struct {
	name, goType   string
	size           int
	load           func(...Op) // also stores
	broadcast      func(...Op)
	fma231, fma213 func(...Op)
}

var f64 = elem{
	name: "F64", goType: "float64", size: 8,
	load: VMOVUPD, broadcast: VBROADCASTSD, fma231: VFMADD231PD, fma213: VFMADD213PD,
}

var f32 = elem{
	name: "F32", goType: "float32", size: 4,
	load: VMOVUPS, broadcast: VBROADCASTSS, fma231: VFMADD231PS, fma213: VFMADD213PS,
}

// width describes the vector registers of one width.
type width struct {
	name  string
	bytes int
	reg   func() VecVirtual
	zero  func(VecVirtual)
}

var ymm = width{"AVX2", 32, YMM, func(v VecVirtual) { VXORPS(v, v, v) }}
var zmm = width{"AVX512", 64, ZMM, func(v VecVirtual) { VPXORD(v, v, v) }}

// writeMul writes a micro-kernel for tiles of mr rows and nv vectors. The mr·nv vectors of sums stay in registers. The
// nv vectors of a row of B are loaded once. One element of A at a time is broadcast to all elements of a vector.
func writeMul(e elem, w width, mr, nv int) {
	beginFunction("mul"+e.name+w.name, fmt.Sprintf("func(k int, alpha %s, a, b, c *%s, ldc int)", e.goType, e.goType), fmt.Sprintf("mul%s%s implements micro.mul for %d×%d tiles.", e.name, w.name, mr, nv*w.bytes/e.size))
	k, a, b, c, ldc := arg("k"), arg("a"), arg("b"), arg("c"), arg("ldc")
	SHLQ(U8(bits.TrailingZeros(uint(e.size))), ldc)

	sums := make([]VecVirtual, mr*nv)
	for i := range sums {
		sums[i] = w.reg()
		w.zero(sums[i])
	}
	bs := make([]VecVirtual, nv)
	for j := range bs {
		bs[j] = w.reg()
	}
	spread := w.reg()

	Comment("Fetch the tile of C while the sums are made.")
	at := GP64()
	MOVQ(c, at)
	for i := range mr {
		for j := 0; j < nv*w.bytes; j += 64 {
			PREFETCHT0(Mem{Base: at, Disp: j})
		}
		if i < mr-1 {
			ADDQ(ldc, at)
		}
	}

	step := func(u int) {
		for j := range bs {
			e.load(Mem{Base: b, Disp: (u*nv + j) * w.bytes}, bs[j])
		}
		for i := range mr {
			e.broadcast(Mem{Base: a, Disp: (u*mr + i) * e.size}, spread)
			for j := range bs {
				e.fma231(spread, bs[j], sums[i*nv+j])
			}
		}
	}
	const unroll = 4
	SUBQ(Imm(unroll), k)
	JL(labelRef("rest"))
	Label("four")
	for u := range unroll {
		step(u)
	}
	ADDQ(U32(unroll*mr*e.size), a)
	ADDQ(U32(unroll*nv*w.bytes), b)
	SUBQ(Imm(unroll), k)
	JGE(labelRef("four"))
	Label("rest")
	ADDQ(Imm(unroll), k)
	JZ(labelRef("add"))
	Label("one")
	step(0)
	ADDQ(U32(mr*e.size), a)
	ADDQ(U32(nv*w.bytes), b)
	DECQ(k)
	JNZ(labelRef("one"))

	Label("add")
	Comment("C = alpha·sum + C, rounded once.")
	e.broadcast(argMemory("alpha"), spread)
	for i := range mr {
		for j := range nv {
			s := sums[i*nv+j]
			m := Mem{Base: c, Disp: j * w.bytes}
			e.fma213(m, spread, s)
			e.load(s, m)
		}
		if i < mr-1 {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// writeThin writes micro.thin, a micro-kernel for a product with few columns: it reads an A that is not packed.
func writeThin(w width, mr, nv int) {
	name := "thin" + w.name
	beginFunction(name, "func(k int, alpha float64, a *float64, rows, columns int, b, c *float64, ldc int)", fmt.Sprintf("%s implements micro.thin for %d×%d tiles.", name, mr, nv*w.bytes/8))
	k, a, rows, columns, b, c, ldc := arg("k"), arg("a"), arg("rows"), arg("columns"), arg("b"), arg("c"), arg("ldc")
	for _, stride := range []Register{rows, columns, ldc} {
		SHLQ(U8(3), stride)
	}
	sums := make([]VecVirtual, mr*nv)
	for i := range sums {
		sums[i] = w.reg()
		w.zero(sums[i])
	}
	bs := make([]VecVirtual, nv)
	for j := range bs {
		bs[j] = w.reg()
	}
	spread, third, half := w.reg(), GP64(), a
	LEAQ(Mem{Base: rows, Index: rows, Scale: 2}, third)
	if mr == 8 {
		half = GP64() // rows 4 to 7
		LEAQ(Mem{Base: a, Index: rows, Scale: 4}, half)
	}
	Label("term")
	for j := range bs {
		VMOVUPD(Mem{Base: b, Disp: j * w.bytes}, bs[j])
	}
	for i := range mr {
		base := a
		if i >= 4 {
			base = half
		}
		VBROADCASTSD(rowStarts(base, rows, third)[i%4], spread)
		for j := range bs {
			VFMADD231PD(spread, bs[j], sums[i*nv+j])
		}
	}
	ADDQ(columns, a)
	if mr == 8 {
		ADDQ(columns, half)
	}
	ADDQ(U32(nv*w.bytes), b)
	DECQ(k)
	JNZ(labelRef("term"))
	Comment("C = alpha·sum + C, rounded once.")
	VBROADCASTSD(argMemory("alpha"), spread)
	for i := range mr {
		for j := range nv {
			m := Mem{Base: c, Disp: j * w.bytes}
			VFMADD213PD(m, spread, sums[i*nv+j])
			VMOVUPD(sums[i*nv+j], m)
		}
		ADDQ(ldc, c)
	}
	VZEROUPPER()
	RET()
}

// writeTranspose writes the code of micro.transpose. Four rows become a part of a panel; it transposes 4
// (float64) or 8 (float32) of their elements at a time.
func writeTranspose(e elem) {
	beginFunction("transpose"+e.name+"AVX2", fmt.Sprintf("func(k int, src *%s, stride int, dst *%s, width int)", e.goType, e.goType), fmt.Sprintf("transpose%sAVX2 implements micro.transpose.", e.name))
	k, src, stride, dst, width := arg("k"), arg("src"), arg("stride"), arg("dst"), arg("width")
	SHLQ(U8(bits.TrailingZeros(uint(e.size))), stride)
	SHLQ(U8(bits.TrailingZeros(uint(e.size))), width)
	third := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, third)
	width3 := GP64()
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, width3)
	from, into := rowStarts(src, stride, third), rowStarts(dst, width, width3)
	next := GP64() // the next four rows, which the next call will probably transpose
	LEAQ(Mem{Base: src, Index: stride, Scale: 4}, next)
	fetch := func() {
		for _, row := range rowStarts(next, stride, third) {
			PREFETCHT0(row)
		}
		ADDQ(Imm(32), next)
	}
	r, t := newRegisters(YMM), newRegisters(YMM)
	if e.size == 4 {
		SUBQ(Imm(8), k)
		JL(labelRef("rest"))
		Label("eight")
		fetch()
		for i := range r {
			VMOVUPS(from[i], r[i])
		}
		transposeSingles(r, t)
		for i := range r {
			VMOVUPS(r[i].AsX(), into[i])
		}
		LEAQ(Mem{Base: dst, Index: width, Scale: 4}, dst)
		for i := range r {
			VEXTRACTF128(Imm(1), r[i], into[i])
		}
		LEAQ(Mem{Base: dst, Index: width, Scale: 4}, dst)
		ADDQ(Imm(32), src)
		SUBQ(Imm(8), k)
		JGE(labelRef("eight"))
		Label("rest")
		ADDQ(Imm(8), k)
		JZ(labelRef("done"))
		x, y := newRegisters(XMM), newRegisters(XMM)
		for i := range x {
			VMOVUPS(from[i], x[i])
		}
		transposeSingles(x, y)
		for i := range x {
			VMOVUPS(x[i], into[i])
		}
		Label("done")
	} else {
		Label("four")
		fetch()
		for i := range r {
			VMOVUPD(from[i], r[i])
		}
		transposeDoubles(r, t)
		for i := range r {
			VMOVUPD(r[i], into[i])
		}
		LEAQ(Mem{Base: dst, Index: width, Scale: 4}, dst)
		ADDQ(Imm(32), src)
		SUBQ(Imm(4), k)
		JNZ(labelRef("four"))
	}
	VZEROUPPER()
	RET()
}

// writeCopyPanel writes the code of micro.copy, for rows of a panel that are adjacent in memory. It copies
// bytes, and therefore serves both element types: k times 16·units bytes.
func writeCopyPanel() {
	beginFunction("copyAVX2", "func(k int, src *byte, stride int, dst *byte, units int)", "copyAVX2 copies k runs of 16·units bytes, stride bytes apart, one after the other.")
	k, src, stride, dst, units := arg("k"), arg("src"), arg("stride"), arg("dst"), arg("units")
	Label("run")
	left, from := GP64(), GP64()
	MOVQ(units, left)
	MOVQ(src, from)
	SUBQ(Imm(2), left)
	JL(labelRef("last"))
	y := YMM()
	Label("pair")
	VMOVUPS(Mem{Base: from}, y)
	VMOVUPS(y, Mem{Base: dst})
	ADDQ(Imm(32), from)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(2), left)
	JGE(labelRef("pair"))
	Label("last")
	ADDQ(Imm(2), left)
	JZ(labelRef("next"))
	x := XMM()
	VMOVUPS(Mem{Base: from}, x)
	VMOVUPS(x, Mem{Base: dst})
	ADDQ(Imm(16), dst)
	Label("next")
	PREFETCHT0(Mem{Base: from, Disp: 16}) // of the next panel
	ADDQ(stride, src)
	DECQ(k)
	JNZ(labelRef("run"))
	VZEROUPPER()
	RET()
}
