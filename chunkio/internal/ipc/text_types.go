package ipc

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

func (f *field) whyNoClass() string {
	switch f.kind {
	case arrowBool, arrowInt, arrowFloat, arrowDecimal, arrowBinary, arrowUtf8, arrowLargeBinary, arrowLargeUtf8,
		arrowDate, arrowTime, arrowTimestamp, arrowDuration:
		return ""
	case arrowFixedBinary:
		if 0 < f.width && f.width <= textTile {
			return ""
		}
		return fmt.Sprintf("binary of %d bytes", f.width)
	case arrowRunEnd:
		return "run-end encoded; rewrite it as an ordinary column"
	case arrowUtf8View, arrowBinaryView:
		return "a view; rewrite it as ordinary strings"
	case arrowList, arrowLargeList, arrowFixedList, arrowListView, arrowLargeListView:
		return "a list"
	}
	_, why, _ := f.describeType(false)
	return why
}

// parseUnits parses the properties of a type that only the conversion to text needs.
func (f *field) parseUnits(typ flatTable) {
	const millis = 1 // the default unit of some types
	var unit int16
	switch f.kind {
	case arrowFixedBinary:
		f.width = int(typ.int32Field(0, 0))
		return
	case arrowDate:
		if f.bits = 32; typ.GetInt16Slot(vtableSlot(0), millis) == millis {
			f.bits, f.perSecond = 64, 1e3
		}
		return
	case arrowTime:
		f.bits, unit = int(typ.int32Field(1, 32)), typ.GetInt16Slot(vtableSlot(0), millis)
	case arrowTimestamp:
		f.bits, unit = 64, typ.int16Field(0)
		f.utc = typ.stringField(1) != ""
	case arrowDuration:
		f.bits = 64
		return
	default:
		return
	}
	units := []int64{1, 1e3, 1e6, 1e9}
	f.perSecond = units[min(max(unit, 0), 3)]
	if f.bits != 64 {
		f.bits = 32
	}
}

// fixedSize returns the number of bytes of one value, or 0 for values of variable length and for bools.
func (f *field) fixedSize() int {
	switch f.kind {
	case arrowBool:
		return 0
	case arrowFixedBinary:
		return f.width
	}
	return f.bits / 8
}

func (f *field) bytesPerOffset() int64 {
	if f.kind == arrowLargeUtf8 || f.kind == arrowLargeBinary {
		return 8
	}
	return 4
}

func (f *field) appendValueText(b, raw []byte) []byte {
	switch f.kind {
	case arrowFixedBinary:
		return append(b, raw...)
	case arrowDecimal:
		big := slices.Clone(raw)
		slices.Reverse(big)
		return text.AppendDecimal(b, text.BigInt(big), f.scale)
	case arrowFloat:
		switch len(raw) {
		case 2:
			return text.AppendFloat(b, format.HalfFloat(binary.LittleEndian.Uint16(raw)), 32)
		case 4:
			return text.AppendFloat(b, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 32)
		}
		return text.AppendFloat(b, math.Float64frombits(binary.LittleEndian.Uint64(raw)), 64)
	}
	var le [8]byte
	copy(le[:], raw)
	bits := binary.LittleEndian.Uint64(le[:])
	if f.kind == arrowInt && !f.signed {
		return strconv.AppendUint(b, bits, 10)
	}
	shift := 64 - 8*len(raw)
	x := int64(bits<<shift) >> shift
	switch {
	case f.kind == arrowDate && f.bits == 32:
		return text.AppendDate(b, x)
	case f.kind == arrowDate && x%86_400_000 == 0:
		return text.AppendDate(b, x/86_400_000)
	case f.kind == arrowDate, f.kind == arrowTimestamp:
		return text.AppendTime(b, x, f.perSecond, f.utc)
	case f.kind == arrowTime:
		return text.AppendClock(b, x, f.perSecond)
	}
	return strconv.AppendInt(b, x, 10)
}
