package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// writeMulInts writes an integerCode.mul for tiles of mr rows and nv vectors, similar to writeMul. An element is a pair
// of int16 of consecutive rows, and a sum is an int32. VPDPWSSD multiplies both numbers of a pair and adds the products
// to the sum. Without VNNI this needs VPMADDWD and VPADDD.
func writeMulInts(name string, w width, mr, nv int, vnni bool) {
	beginFunction("mulInts"+name, "func(pairs int, a, b *int16, c *float64, ldc int)", "mulInts"+name+" implements integerCode.mul; pairs is at least 1.")
	pairs, a, b, c, ldc := arg("pairs"), arg("a"), arg("b"), arg("c"), arg("ldc")
	SHLQ(Imm(3), ldc)
	load, zero := w.integerOps()
	add := func(m Mem, v vector) {
		VADDPD(m, v, v)
		VMOVUPD(v, m)
	}
	reg := w.registers(vnni)
	sums := make([]vector, mr*nv)
	for i := range sums {
		sums[i] = reg()
		zero(sums[i])
	}
	bs := make([]vector, nv)
	for j := range bs {
		bs[j] = reg()
	}
	spread, product := reg(), reg()

	Comment("Fetch the tile of C while the sums are made.")
	at := GP64()
	MOVQ(c, at)
	for i := range mr {
		for j := 0; j < 2*nv*w.bytes; j += 64 {
			PREFETCHT0(Mem{Base: at, Disp: j})
		}
		if i < mr-1 {
			ADDQ(ldc, at)
		}
	}
	Label("pair")
	for j := range bs {
		load(Mem{Base: b, Disp: j * w.bytes}, bs[j])
	}
	for i := range mr {
		VPBROADCASTD(Mem{Base: a, Disp: i * 4}, spread)
		for j := range bs {
			if vnni {
				vnniProduct("VPDPWSSD", 0x52, w, spread, bs[j], sums[i*nv+j])
				continue
			}
			VPMADDWD(spread, bs[j], product)
			VPADDD(product, sums[i*nv+j], sums[i*nv+j])
		}
	}
	ADDQ(Imm(uint64(4*mr)), a)
	ADDQ(U32(uint32(nv*w.bytes)), b)
	DECQ(pairs)
	JNZ(labelRef("pair"))

	Comment("C += sums.")
	for i := range mr {
		for j := range nv {
			s := sums[i*nv+j]
			var low, high vector
			if w.bytes == 64 {
				low, high = ZMM(), YMM()
				VEXTRACTI64X4(Imm(1), s, high)
				VCVTDQ2PD(s.AsY(), low)
				VCVTDQ2PD(high, s)
			} else {
				low, high = YMM(), XMM()
				VEXTRACTI128(Imm(1), s, high)
				VCVTDQ2PD(s.AsX(), low)
				VCVTDQ2PD(high, s)
			}
			add(Mem{Base: c, Disp: 2 * j * w.bytes}, low)
			add(Mem{Base: c, Disp: (2*j + 1) * w.bytes}, s)
		}
		if i < mr-1 {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// writePrefetch writes the code of integerCode.prefetch, which prefetches cache lines.
func writePrefetch() {
	beginFunction("fetchAVX2", "func(lines int, x *float64)", "fetchAVX2 implements integerCode.prefetch; lines is at least 1.")
	lines, x := arg("lines"), arg("x")
	Label("line")
	PREFETCHT0(Mem{Base: x})
	ADDQ(Imm(64), x)
	DECQ(lines)
	JNZ(labelRef("line"))
	RET()
}

// vector is a vector register: a physical one, or a virtual one to which avo will assign a physical one.
type vector interface {
	Register
	Vec
}

// integerOps returns functions that write the load of a vector of integers, and the clearing of a vector.
func (w width) integerOps() (load func(m, v Op), zero func(v vector)) {
	if w.bytes == 64 {
		return func(m, v Op) { VMOVDQU32(m, v) }, func(v vector) { VPXORD(v, v, v) }
	}
	return func(m, v Op) { VMOVDQU(m, v) }, func(v vector) { VPXOR(v, v, v) }
}

// registers returns a function that returns a new register each time, a physical one if [vnniProduct] needs it.
func (w width) registers(vnni bool) func() vector {
	if !vnni || w.bytes == 64 {
		return func() vector { return w.reg() }
	}
	real, next := []vector{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}, 0
	return func() vector {
		next++
		return real[next-1]
	}
}

// vnniProduct writes an instruction that avo does not support. Go's assembler supports only the version for 64 bytes,
// AVX512_VNNI. The version for 32 bytes, AVX-VNNI, is therefore written in bytes: VEX.256.66.0F38.W0 opcode /r.
func vnniProduct(name string, opcode uint64, w width, x, y, sum vector) {
	if w.bytes == 64 {
		Instruction(&ir.Instruction{Opcode: name, Operands: []Op{x, y, sum}, Inputs: []Op{x, y, sum}, Outputs: []Op{sum}})
		return
	}
	number := func(v vector) uint64 { return uint64(v.(Physical).PhysicalIndex()) }
	rm, vvvv, r := number(x), number(y), number(sum)
	bytes := []uint64{0xc4, (r>>3^1)<<7 | 1<<6 | (rm>>3^1)<<5 | 2, (vvvv^15)<<3 | 1<<2 | 1, opcode, 3<<6 | (r&7)<<3 | rm&7}
	Comment(name)
	for _, b := range bytes {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{Imm(b)}, Inputs: []Op{x, y, sum}, Outputs: []Op{sum}})
	}
}

// writeToInt16 writes the code of integerCode.toInt16. It converts 16 numbers at a time to int32 and back,
// until one differs. A number outside the range of int16 saturates, and is then beyond the limit of ToWholes.
func writeToInt16() {
	beginFunction("wholesAVX2", "func(blocks int, src *float64, dst *int16) (least, most int16, ok bool)", "wholesAVX2 implements integerCode.toInt16; blocks is at least 1.")
	blocks, src, dst := arg("blocks"), arg("src"), arg("dst")
	low, high, bad, back, packed := YMM(), YMM(), YMM(), YMM(), YMM()
	VPXOR(low, low, low)
	VPXOR(high, high, high)
	mask := GP32()
	var x [4]VecVirtual
	var narrow [4]VecVirtual
	for i := range x {
		x[i], narrow[i] = YMM(), XMM()
	}
	Label("block")
	for i := range x {
		VMOVUPD(Mem{Base: src, Disp: 32 * i}, x[i])
		VCVTPD2DQY(x[i], narrow[i])
		VCVTDQ2PD(narrow[i], back)
		VCMPPD(Imm(4), back, x[i], x[i]) // not equal: true for NaN
		if i == 0 {
			VMOVAPD(x[0], bad)
		} else {
			VORPD(x[i], bad, bad)
		}
	}
	VMOVMSKPD(bad, mask)
	TESTL(mask, mask)
	JNZ(labelRef("differs"))
	VPACKSSDW(narrow[1], narrow[0], narrow[0])
	VPACKSSDW(narrow[3], narrow[2], narrow[2])
	VINSERTI128(Imm(1), narrow[2], narrow[0].AsY(), packed)
	VMOVDQU(packed, Mem{Base: dst})
	VPMINSW(packed, low, low)
	VPMAXSW(packed, high, high)
	ADDQ(Imm(64), src)
	ADDQ(Imm(64), src)
	ADDQ(Imm(32), dst)
	DECQ(blocks)
	JNZ(labelRef("block"))
	for i, v := range []VecVirtual{low, high} {
		half, fold := XMM(), VPMINSW
		if i == 1 {
			fold = VPMAXSW
		}
		x := v.AsX()
		VEXTRACTI128(Imm(1), v, half)
		fold(half, x, x)
		for _, bytes := range []uint64{8, 4, 2} {
			VPSRLDQ(Imm(bytes), x, half)
			fold(half, x, x)
		}
		r := GP32()
		VPEXTRW(Imm(0), x, r)
		Store(r.As16(), ReturnIndex(i))
	}
	ok := GP8()
	MOVB(Imm(1), ok)
	Store(ok, ReturnIndex(2))
	VZEROUPPER()
	RET()
	Label("differs")
	none := GP16()
	XORW(none, none)
	Store(none, ReturnIndex(0))
	Store(none, ReturnIndex(1))
	no := GP8()
	XORB(no, no)
	Store(no, ReturnIndex(2))
	VZEROUPPER()
	RET()
}
