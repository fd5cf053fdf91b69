package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lanes is the number of float32 or int32 in 32 bytes. Wider registers use it too, so that panels are the same
// everywhere.
const lanes = 8

// writeMulBytes writes a coarseCode.mul for tiles of 8 rows and nv vectors, similar to writeMul. An element consists of
// four bytes of consecutive dimensions, and a sum is an int32.
func writeMulBytes(name string, w width, nv int, vnni bool) {
	beginFunction("mulBytes"+name, "func(quads int, a, b *byte, step *[8]float32, shift *[8]int32, half, factor, c *float32, ldc int)", "mulBytes"+name+" implements coarseCode.mul; quads is at least 1.")
	quads, a, b := arg("quads"), arg("a"), arg("b")
	load, zero := w.integerOps()
	reg := w.registers(vnni)
	sums := make([]vector, lanes*nv)
	for i := range sums {
		sums[i] = reg()
		zero(sums[i])
	}
	bs := make([]vector, nv)
	for j := range bs {
		bs[j] = reg()
	}
	spread, product, ones := reg(), reg(), reg()
	add := newByteMultiplier(w, vnni, ones)
	Label("quad")
	for j := range bs {
		load(Mem{Base: b, Disp: j * w.bytes}, bs[j])
	}
	for i := range lanes {
		VPBROADCASTD(Mem{Base: a, Disp: i * 4}, spread)
		for j := range bs {
			add(spread, bs[j], product, sums[i*nv+j])
		}
	}
	ADDQ(Imm(4*lanes), a)
	ADDQ(U32(uint32(nv*w.bytes)), b)
	DECQ(quads)
	JNZ(labelRef("quad"))

	Comment("C = half − factor·(step·(sums − shift)).")
	step, shift, half, factor, c, ldc := arg("step"), arg("shift"), arg("half"), arg("factor"), arg("c"), arg("ldc")
	SHLQ(Imm(2), ldc)
	at := GP64()
	for j := range nv {
		VMOVUPS(Mem{Base: half, Disp: j * w.bytes}, bs[0])
		f := spread
		VMOVUPS(Mem{Base: factor, Disp: j * w.bytes}, f)
		MOVQ(c, at)
		for i := range lanes {
			s := sums[i*nv+j]
			VPBROADCASTD(Mem{Base: shift, Disp: 4 * i}, product)
			VPSUBD(product, s, s)
			VCVTDQ2PS(s, s)
			VBROADCASTSS(Mem{Base: step, Disp: 4 * i}, product)
			VMULPS(product, s, s)
			VFNMADD213PS(bs[0], f, s)
			VMOVUPS(s, Mem{Base: at, Disp: j * w.bytes})
			if i < lanes-1 {
				ADDQ(ldc, at)
			}
		}
	}
	VZEROUPPER()
	RET()
}

// newByteMultiplier returns a function that writes the code for one addition to every sum: of the products of four
// signed bytes of x by four unsigned bytes of y. The code is VPDPBUSD with VNNI, else VPMADDUBSW (two products must fit
// an int16), VPMADDWD by ones, and VPADDD.
func newByteMultiplier(w width, vnni bool, ones vector) func(x, y, product, sum vector) {
	if vnni {
		return func(x, y, _, sum vector) { vnniProduct("VPDPBUSD", 0x50, w, x, y, sum) }
	}
	one := GP32()
	MOVL(U32(0x00010001), one)
	VMOVD(one, ones.AsX())
	VPBROADCASTD(ones.AsX(), ones)
	return func(x, y, product, sum vector) {
		VPMADDUBSW(x, y, product)
		VPMADDWD(ones, product, product)
		VPADDD(product, sum, sum)
	}
}

// writeDotProducts writes the code of a coarseCode.dotProducts, which computes one product after the other.
// Prefetching does not make it faster.
func writeDotProducts(name string, w width, vnni bool) {
	beginFunction("dots"+name, "func(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)", "dots"+name+" implements coarseCode.dotProducts; blocks and count are at least 1.")
	blocks, x, y, stride := arg("blocks"), arg("x"), arg("y"), arg("stride")
	which, count, out := arg("which"), arg("count"), arg("sums")
	reg := w.registers(vnni)
	sum, row, product, ones := reg(), reg(), reg(), reg()
	load, zero := w.integerOps()
	add := newByteMultiplier(w, vnni, ones)
	SHLQ(Imm(6), blocks)
	Label("next")
	at, l := GP64(), GP64()
	MOVLQSX(Mem{Base: which}, at)
	IMULQ(stride, at)
	ADDQ(y, at)
	XORQ(l, l)
	zero(sum)
	Label("block")
	for part := 0; part < 64; part += w.bytes {
		load(Mem{Base: x, Index: l, Scale: 1, Disp: part}, row)
		load(Mem{Base: at, Index: l, Scale: 1, Disp: part}, product)
		add(row, product, product, sum)
	}
	ADDQ(Imm(64), l)
	CMPQ(l, blocks)
	JLT(labelRef("block"))
	if w.bytes == 64 {
		VEXTRACTI64X4(Imm(1), sum, row.AsY())
		VPADDD(row.AsY(), sum.AsY(), sum.AsY())
	}
	low, high := sum.AsX(), row.AsX()
	VEXTRACTI128(Imm(1), sum.AsY(), high)
	VPADDD(high, low, low)
	VPSHUFD(Imm(0b01001110), low, high)
	VPADDD(high, low, low)
	VPSHUFD(Imm(0b10110001), low, high)
	VPADDD(high, low, low)
	VMOVD(low, Mem{Base: out})
	ADDQ(Imm(4), which)
	ADDQ(Imm(4), out)
	DECQ(count)
	JNZ(labelRef("next"))
	VZEROUPPER()
	RET()
}

// writeMixDimensions writes the code of coarseCode.mixDimensions, which multiplies dimensions by a Hadamard
// matrix. A pass reads and writes each vector once.
func writeMixDimensions() {
	beginFunction("mixAVX2", "func(n, h, radix int, x *float32, by float32)", "mixAVX2 implements coarseCode.mixDimensions.")
	n, h, radix, x := arg("n"), arg("h"), arg("radix"), arg("x")
	by := YMM()
	VBROADCASTSS(argMemory("by"), by)
	SHLQ(Imm(5), h) // h in bytes
	SHLQ(Imm(5), n)
	end := GP64()
	LEAQ(Mem{Base: x, Index: n, Scale: 1}, end)
	CMPQ(radix, Imm(4))
	JEQ(labelRef("group4"))
	JLT(labelRef("group2"))
	for _, r := range []int{8, 4, 2} {
		group, next := fmt.Sprintf("group%d", r), fmt.Sprintf("next%d", r)
		Label(group)
		left := GP64()
		MOVQ(h, left)
		Label(next)
		v := make([]VecVirtual, r)
		at := GP64()
		MOVQ(x, at)
		for i := range v {
			v[i] = YMM()
			VMOVUPS(Mem{Base: at}, v[i])
			if i < r-1 {
				ADDQ(h, at)
			}
		}
		for step := 1; step < r; step *= 2 {
			for i := range v {
				if i&step == 0 {
					sum := YMM()
					VADDPS(v[i+step], v[i], sum)
					VSUBPS(v[i+step], v[i], v[i+step])
					v[i] = sum
				}
			}
		}
		MOVQ(x, at)
		for i := range v {
			VMULPS(by, v[i], v[i])
			VMOVUPS(v[i], Mem{Base: at})
			if i < r-1 {
				ADDQ(h, at)
			}
		}
		ADDQ(Imm(32), x)
		SUBQ(Imm(32), left)
		JNZ(labelRef(next))
		for range r - 1 {
			ADDQ(h, x)
		}
		CMPQ(x, end)
		JLT(labelRef(group))
		VZEROUPPER()
		RET()
	}
}

// writeFlipSigns writes the code of coarseCode.flipSigns, which changes the signs of some dimensions.
func writeFlipSigns() {
	beginFunction("flipAVX2", "func(n int, x *float32, signs *uint32)", "flipAVX2 implements coarseCode.flipSigns; n is at least 1.")
	n, x, signs := arg("n"), arg("x"), arg("signs")
	v := YMM()
	Label("one")
	VPBROADCASTD(Mem{Base: signs}, v)
	VXORPS(Mem{Base: x}, v, v)
	VMOVUPS(v, Mem{Base: x})
	ADDQ(Imm(32), x)
	ADDQ(Imm(4), signs)
	DECQ(n)
	JNZ(labelRef("one"))
	VZEROUPPER()
	RET()
}

// writeLargestMagnitudes writes the code of coarseCode.largestMagnitudes, one magnitude for each lane.
func writeLargestMagnitudes() {
	beginFunction("widestAVX2", "func(n int, x *float32, most *[8]float32)", "widestAVX2 implements coarseCode.largestMagnitudes; n is at least 1.")
	n, x, most := arg("n"), arg("x"), arg("most")
	v, mask, top := YMM(), YMM(), YMM()
	VPCMPEQD(mask, mask, mask)
	VPSRLD(Imm(1), mask, mask)
	VPXOR(top, top, top)
	Label("one")
	VANDPS(Mem{Base: x}, mask, v)
	VMAXPS(v, top, top)
	ADDQ(Imm(32), x)
	DECQ(n)
	JNZ(labelRef("one"))
	VMOVUPS(top, Mem{Base: most})
	VZEROUPPER()
	RET()
}

// writeQuantise writes the code of coarseCode.quantise, which rounds float32 to bytes.
func writeQuantise() {
	beginFunction("quantiseAVX2", "func(quads int, x *float32, inverse, step *[8]float32, dst *byte, rest, squares *[8]float32, sums *[8]int32)", "quantiseAVX2 implements coarseCode.quantise; quads is at least 1.")
	quads, x, dst := arg("quads"), arg("x"), arg("dst")
	from, rest, squares, sums := arg("inverse"), arg("rest"), arg("squares"), arg("sums")
	inverse, step, low := YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: from}, inverse)
	other := arg("step")
	VMOVUPS(Mem{Base: other}, step)
	VPCMPEQD(low, low, low)
	VPSRLD(Imm(24), low, low)
	lost, total, length := newRegisters(YMM), YMM(), YMM()
	for _, v := range append(lost[:], length) {
		VXORPS(v, v, v)
	}
	VPXOR(total, total, total)
	Label("quad")
	packed, v, number := YMM(), YMM(), YMM()
	for i := range 4 {
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
		VMULPS(inverse, v, number)
		VCVTPS2DQ(number, number)
		VPADDD(number, total, total)
		back := YMM()
		VCVTDQ2PS(number, back)
		VFNMADD231PS(step, back, v) // v − step·number
		VFMADD231PS(v, v, lost[i])
		VFMADD231PS(back, back, length)
		switch i {
		case 0:
			VPAND(low, number, packed)
		case 3:
			VPSLLD(Imm(24), number, number)
			VPOR(number, packed, packed)
		default:
			VPAND(low, number, number)
			VPSLLD(Imm(uint64(8*i)), number, number)
			VPOR(number, packed, packed)
		}
	}
	VMOVDQU(packed, Mem{Base: dst})
	SUBQ(I8(-128), x)
	ADDQ(Imm(32), dst)
	DECQ(quads)
	JNZ(labelRef("quad"))
	VADDPS(lost[1], lost[0], lost[0])
	VADDPS(lost[3], lost[2], lost[2])
	VADDPS(lost[2], lost[0], lost[0])
	VMOVUPS(lost[0], Mem{Base: rest})
	VMOVUPS(length, Mem{Base: squares})
	VMOVDQU(total, Mem{Base: sums})
	VZEROUPPER()
	RET()
}
