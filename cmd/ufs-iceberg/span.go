package main

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/app/condition"
)

// span is a range of column values around a constant, both ends included. It is one value if the column can have the
// constant as a value, otherwise the two neighbouring values. It is wider if files may store values with another
// precision than the type of the column.
type span struct{ low, high iceberg.Literal }

func spanOfOneValue(l iceberg.Literal) (span, bool) { return span{l, l}, true }

// constantSpan returns the span of a constant for a column of type t. It returns false if the constant has another type
// than the column, or if Iceberg may interpret it differently than ufs-stream.
func constantSpan(t iceberg.Type, c *condition.Constant) (span, bool) {
	switch t := t.(type) {
	case iceberg.BooleanType:
		if c.Kind == condition.Truth {
			return spanOfOneValue(iceberg.BoolLiteral(c.Truth))
		}
	case iceberg.StringType:
		if c.Kind == condition.Text {
			return spanOfOneValue(iceberg.StringLiteral(c.Text))
		}
	case iceberg.Int32Type:
		low, high, ok := gridNeighbours(c, 0)
		if !ok || !low.IsInt64() || !high.IsInt64() || low.Int64() < math.MinInt32 || high.Int64() > math.MaxInt32 {
			break
		}
		return span{iceberg.Int32Literal(low.Int64()), iceberg.Int32Literal(high.Int64())}, true
	case iceberg.Int64Type:
		low, high, ok := gridNeighbours(c, 0)
		if !ok || !low.IsInt64() || !high.IsInt64() {
			break
		}
		return span{iceberg.Int64Literal(low.Int64()), iceberg.Int64Literal(high.Int64())}, true
	case iceberg.DecimalType:
		low, high, ok := gridNeighbours(c, t.Scale())
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision())), nil)
		if !ok || low.CmpAbs(limit) >= 0 || high.CmpAbs(limit) >= 0 {
			break
		}
		literal := func(x *big.Int) iceberg.Literal {
			return iceberg.DecimalLiteral{Val: decimal128.FromBigInt(x), Scale: t.Scale()}
		}
		return span{literal(low), literal(high)}, true
	case iceberg.Float32Type, iceberg.Float64Type:
		return floatSpan(t, c)
	case iceberg.DateType:
		if at, ok := condition.ParseDate(c.Text); ok && c.Kind == condition.Text {
			return spanOfOneValue(iceberg.DateLiteral(at.Unix() / 86400)) // at is midnight, so the division is exact
		}
	case iceberg.TimestampType:
		if at, ok := condition.ParseLocal(c.Text); ok && c.Kind == condition.Text {
			return timeSpan(at)
		}
	case iceberg.TimestampTzType:
		if at, ok := condition.ParseUTC(c.Text); ok && c.Kind == condition.Text {
			return timeSpan(at)
		}
	}
	return span{}, false
}

func parseNumber(c *condition.Constant) (*big.Rat, bool) {
	switch c.Kind {
	case condition.Number:
		return c.Number, true
	case condition.Text:
		x, err := condition.ParseNumber(strings.TrimSpace(c.Text))
		return x, err == nil
	}
	return nil, false
}

// gridNeighbours returns the nearest multiples of 10^-scale below and above a number, in units of 10^-scale.
func gridNeighbours(c *condition.Constant, scale int) (low, high *big.Int, ok bool) {
	x, ok := parseNumber(c)
	if !ok || scale < 0 {
		return nil, nil, false
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(power))
	low = new(big.Int).Div(scaled.Num(), scaled.Denom()) // Euclidean division, so the floor
	if scaled.IsInt() {
		return low, low, true
	}
	return low, new(big.Int).Add(low, big.NewInt(1)), true
}

// floatSpan returns the span of a number among floats. ufs-stream compares with the nearest float of the width that the
// file has. A column of 64 bits may have files of 32 bits, which were written before the column was widened.
func floatSpan(t iceberg.Type, c *condition.Constant) (span, bool) {
	x, ok := parseNumber(c)
	if !ok {
		return span{}, false
	}
	narrow, _ := x.Float32()
	if math.IsInf(float64(narrow), 0) {
		return span{}, false
	}
	if _, is := t.(iceberg.Float32Type); is {
		return spanOfOneValue(iceberg.Float32Literal(narrow))
	}
	wide, _ := x.Float64()
	return span{iceberg.Float64Literal(min(wide, float64(narrow))), iceberg.Float64Literal(max(wide, float64(narrow)))}, true
}

// timeSpan returns the span of a time, in microseconds since 1970. It is one microsecond wider on each side, because a
// file may contain nanoseconds, and its bounds in the manifest are truncated.
func timeSpan(at time.Time) (span, bool) {
	if year := at.UTC().Year(); year < 1 || year > 9999 {
		return span{}, false
	}
	us := at.UnixMicro() // rounds down to whole microseconds
	return span{iceberg.TimestampLiteral(us - 1), iceberg.TimestampLiteral(us + 2)}, true
}
