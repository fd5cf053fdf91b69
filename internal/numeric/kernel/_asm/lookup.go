package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// writeLookup writes the code of isa.lookup, which looks up packed integers in a table. It compares all
// indices of a group of 8 integers with the table's size before it looks them up.
func writeLookup() {
	beginFunction("lookupAVX2", "func(groups int, packed *byte, width int, how *[17]uint64, table *float64, size int, dst *float64) int", "lookupAVX2 implements isa.lookup.")
	groups, packed, width, how := arg("groups"), arg("packed"), arg("width"), arg("how")
	table, dst := arg("table"), arg("dst")
	size, mask, outside, other := YMM(), YMM(), YMM(), YMM()
	VPBROADCASTQ(argMemory("size"), size)
	VPBROADCASTQ(Mem{Base: how, Disp: 128}, mask)
	var bytes, shift, v [2]VecVirtual
	for i := range v {
		bytes[i], shift[i], v[i] = YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: how, Disp: 32 * i}, bytes[i])
		VMOVDQU(Mem{Base: how, Disp: 64 + 32*i}, shift[i])
	}
	half, done := GP64(), GP64()
	MOVQ(width, half)
	SHRQ(Imm(1), half)
	XORQ(done, done)
	all, found := YMM(), YMM()
	Label("group")
	for i, at := range []Mem{{Base: packed}, {Base: packed, Index: half, Scale: 1}} {
		VBROADCASTI128(at, v[i])
		VPSHUFB(bytes[i], v[i], v[i])
		VPSRLVQ(shift[i], v[i], v[i])
		VPAND(mask, v[i], v[i])
	}
	VPCMPGTQ(v[0], size, outside) // size > v
	VPCMPGTQ(v[1], size, other)
	VPAND(other, outside, outside)
	VPCMPEQD(all, all, all)
	VPTEST(all, outside) // sets the carry flag if all indices are below size
	JCC(labelRef("stop"))
	for i := range v {
		VPCMPEQD(all, all, all)
		VXORPD(found, found, found) // so that the gather does not wait for the previous values
		VGATHERQPD(all, Mem{Base: table, Index: v[i], Scale: 8}, found)
		VMOVUPD(found, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(width, packed)
	ADDQ(Imm(64), dst)
	INCQ(done)
	CMPQ(done, groups)
	JLT(labelRef("group"))
	Label("stop")
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// writeAllFinite writes the code of isa.allFinite. It uses that x − x is 0 for finite x, and otherwise NaN.
func writeAllFinite() {
	beginFunction("finiteAVX2", "func(blocks int, x *float64) bool", "finiteAVX2 implements isa.allFinite; blocks is at least 1.")
	blocks, x := arg("blocks"), arg("x")
	v, any := newRegisters(YMM), newRegisters(YMM)
	for _, a := range any {
		VXORPD(a, a, a)
	}
	Label("block")
	for i := range v {
		VMOVUPD(Mem{Base: x, Disp: 32 * i}, v[i])
		VSUBPD(v[i], v[i], v[i])
		VORPD(v[i], any[i], any[i])
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), x)
	DECQ(blocks)
	JNZ(labelRef("block"))
	for _, a := range any[1:] {
		VORPD(a, any[0], any[0])
	}
	ok := GP8()
	VPTEST(any[0], any[0])
	SETEQ(ok)
	Store(ok, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
