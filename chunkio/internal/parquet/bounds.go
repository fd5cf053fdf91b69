package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// Bounds implements format.Bounded with the statistics of a column chunk.
func (f *File) Bounds(g, l int) (b format.Bounds) {
	col := &f.columns[l]
	m := &f.footer.Groups[g].Chunks[col.index]
	b = format.Bounds{Rows: f.rows[g], Nulls: -1}
	if col.def == 0 {
		b.Nulls = 0
	}
	if m.Statistics == 0 && m.Constant == nil {
		return b
	}
	if n := m.Nulls; 0 <= n && n <= m.Values && (col.rep == 0 || n == 0) {
		b.Nulls = n // in a list, a null may be the whole list or an element
	}
	s := f.footer.ParseStatistics(m)
	low, high := s.Low, s.High
	if !f.hasTypeOrder(col) {
		// s.low and s.high have no meaning, because the footer does not state their order. The older fields are always
		// in the order of signed numbers.
		low, high = s.OldLow, s.OldHigh
		if !ordersLikeSignedNumbers(col) {
			return b
		}
	}
	read := newBoundReader(col)
	if read == nil {
		return b
	}
	if low, high := read(low), read(high); !isLowAboveHigh(col, low, high) {
		b.Min, b.Max = low, high
	}
	return b
}

func isLowAboveHigh(c *column, low, high format.Bound) bool {
	switch {
	case !low.Known || !high.Known:
		return false
	case c.kind == notNumber:
		return low.Instant.Compare(high.Instant) > 0 || bytes.Compare(low.Text, high.Text) > 0
	}
	return low.Number > high.Number
}

// hasTypeOrder reports whether the footer states that the column's bounds are in the order of its type; the library
// assumes this without checking.
func (f *File) hasTypeOrder(c *column) bool {
	return c.index < len(f.footer.HasTypeOrder) && f.footer.HasTypeOrder[c.index]
}

func ordersLikeSignedNumbers(c *column) bool {
	switch c.physical {
	case parquet.Types.Boolean, parquet.Types.Float, parquet.Types.Double:
		return true
	case parquet.Types.Int32, parquet.Types.Int64:
		switch c.kind {
		case asUint8, asUint16, asUint32, asUint64:
			return false
		}
		return true
	}
	return false
}

func newBoundReader(c *column) func([]byte) format.Bound {
	switch c.physical {
	case parquet.Types.Boolean:
		return func(raw []byte) format.Bound {
			if len(raw) != 1 {
				return format.Bound{}
			}
			return numberBound(float64(raw[0] & 1))
		}
	case parquet.Types.Int32:
		return newIntegerBoundReader(c, 4, func(raw []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(raw))) })
	case parquet.Types.Int64:
		return newIntegerBoundReader(c, 8, func(raw []byte) int64 { return int64(binary.LittleEndian.Uint64(raw)) })
	case parquet.Types.Float:
		return func(raw []byte) format.Bound {
			if len(raw) != 4 {
				return format.Bound{}
			}
			return numberBound(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		}
	case parquet.Types.Double:
		return func(raw []byte) format.Bound {
			if len(raw) != 8 {
				return format.Bound{}
			}
			return numberBound(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return newBytesBoundReader(c)
	}
	return nil // INT96 has no order
}

// numberBound returns x as a bound, which is unknown if x is NaN. Zeros of both signs are equal.
func numberBound(x float64) format.Bound { return format.Bound{Known: x == x, Number: x} }

func newIntegerBoundReader(c *column, size int, decode func([]byte) int64) func([]byte) format.Bound {
	meaning := func(v int64) format.Bound { return numberBound(float64(v)) }
	switch t := c.desc.LogicalType().(type) {
	case schema.DateLogicalType:
		meaning = func(v int64) format.Bound { return format.Bound{Known: true, Instant: text.InstantOfDays(v)} }
	case *schema.TimestampLogicalType:
		perSecond := unitsPerSecond(t.TimeUnit())
		meaning = func(v int64) format.Bound { return format.Bound{Known: true, Instant: text.InstantOf(v, perSecond)} }
	case *schema.TimeLogicalType:
		perSecond := unitsPerSecond(t.TimeUnit())
		meaning = func(v int64) format.Bound { return format.Bound{Known: true, Instant: text.InstantOf(v, perSecond)} }
	default:
		switch c.kind {
		case asUint8:
			meaning = func(v int64) format.Bound { return numberBound(float64(uint8(v))) }
		case asUint16:
			meaning = func(v int64) format.Bound { return numberBound(float64(uint16(v))) }
		case asUint32:
			meaning = func(v int64) format.Bound { return numberBound(float64(uint32(v))) }
		case asUint64:
			meaning = func(v int64) format.Bound { return numberBound(float64(uint64(v))) }
		case asDecimal:
			write := integerFormatter(c)
			meaning = func(v int64) format.Bound {
				return format.Bound{Known: true, Number: format.ScaledFloat(v, c.scale), Text: write(nil, v)}
			}
		}
	}
	return func(raw []byte) format.Bound {
		if len(raw) != size {
			return format.Bound{}
		}
		return meaning(decode(raw))
	}
}

// newBytesBoundReader returns a function that parses bounds stored as bytes. A truncated text is still a bound.
func newBytesBoundReader(c *column) func([]byte) format.Bound {
	write := bytesFormatter(c)
	fixed := c.physical == parquet.Types.FixedLenByteArray
	_, uuid := c.desc.LogicalType().(schema.UUIDLogicalType)
	return func(raw []byte) format.Bound {
		switch {
		case raw == nil: // an empty text is a bound too
			return format.Bound{}
		case (fixed && (c.kind != notNumber || uuid)) && len(raw) != c.size, c.kind == asDecimal && len(raw) == 0:
			return format.Bound{}
		case c.kind == asHalf:
			return numberBound(format.HalfFloat(binary.LittleEndian.Uint16(raw)))
		}
		b := format.Bound{Known: true, Text: write(nil, raw)}
		if c.kind == asDecimal {
			b.Number = format.DecimalFloat(raw, c.scale)
		}
		return b
	}
}
