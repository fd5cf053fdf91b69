// Package text formats values as text, so that a class has the same name in every file.
package text

import (
	"math"
	"math/big"
	"strconv"
	"time"
)

// List contains the texts of values, one after the other. A value has the same text in every file and format, and
// values of one type with equal texts are equal.
type List struct {
	Text  []byte
	Ends  []int  // by value: end of its text in Text
	Null  []bool // by value: whether it is null; nil if no value is null
	Fixed int    // number of values at the beginning that come from a dictionary: they do not change
}

// Value returns the text of value i. It is valid until the list changes.
func (t *List) Value(i int) []byte {
	start := 0
	if i > 0 {
		start = t.Ends[i-1]
	}
	return t.Text[start:t.Ends[i]]
}

// EndValue completes a value whose text has been appended, and returns its index.
func (t *List) EndValue() int {
	t.Ends = append(t.Ends, len(t.Text))
	return len(t.Ends) - 1
}

// Truncate removes all values but the first n.
func (t *List) Truncate(n int) {
	t.Ends = t.Ends[:n]
	if t.Text = t.Text[:0]; n > 0 {
		t.Text = t.Text[:t.Ends[n-1]]
	}
}

// AddAll appends the values that have the indices ids in another list. A negative index appends a null.
func (t *List) AddAll(ids []int32, values *List) error {
	for _, id := range ids {
		if id >= 0 {
			t.Text = append(t.Text, values.Value(int(id))...)
		} else if t.Null == nil {
			t.Null = make([]bool, len(t.Ends))
		}
		t.EndValue()
		if t.Null != nil {
			t.Null = append(t.Null, id < 0)
		}
	}
	return nil
}

// AppendFloat appends the shortest decimal that yields x when read back as a float with the given number of bits. Both
// zeros are written as 0, and every NaN as NaN.
func AppendFloat(b []byte, x float64, bits int) []byte {
	format := byte('g')
	if size := math.Abs(x); 1e-5 <= size && size < 1e21 {
		format = 'f'
	}
	return strconv.AppendFloat(b, x+0, format, -1, bits) // -0 + 0 is 0
}

// AppendDecimal appends the decimal unscaled / 10^scale.
func AppendDecimal(b []byte, unscaled *big.Int, scale int) []byte {
	if unscaled.Sign() < 0 {
		b = append(b, '-')
	}
	digits := new(big.Int).Abs(unscaled).Append(nil, 10)
	for ; scale < 0 && unscaled.Sign() != 0; scale++ {
		digits = append(digits, '0')
	}
	whole := max(len(digits)-max(scale, 0), 0)
	if whole == 0 {
		b = append(b, '0')
	}
	b = append(b, digits[:whole]...)
	if scale <= 0 {
		return b
	}
	b = append(b, '.')
	for range scale - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits[whole:]...)
}

// BigInt returns the value of a big-endian two's complement integer.
func BigInt(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// Times outside the years 0 to 9999 have no usual text and are written as integers.
const (
	FirstSecond = -62167219200
	LastSecond  = 253402300799
)

const (
	dateText = "2006-01-02"
	timeText = "15:04:05.999999999"
)

// AppendTime appends a number of units since 1970 as a date and time. A second has perSecond units. A Z follows if utc
// is set.
func AppendTime(b []byte, units, perSecond int64, utc bool) []byte {
	seconds := divideRoundingDown(units, perSecond)
	if seconds < FirstSecond || seconds > LastSecond {
		return strconv.AppendInt(b, units, 10)
	}
	nanos := (units - seconds*perSecond) * (1e9 / perSecond)
	b = time.Unix(seconds, nanos).UTC().AppendFormat(b, dateText+"T"+timeText)
	if utc {
		b = append(b, 'Z')
	}
	return b
}

// AppendDate appends the date that is a number of days after 1970-01-01.
func AppendDate(b []byte, days int64) []byte {
	if days < FirstSecond/86400 || days > LastSecond/86400 {
		return strconv.AppendInt(b, days, 10)
	}
	return time.Unix(days*86400, 0).UTC().AppendFormat(b, dateText)
}

// AppendClock appends a time of day, given as a number of units. A second has perSecond units.
func AppendClock(b []byte, units, perSecond int64) []byte {
	if units < 0 || units >= 86400*perSecond {
		return strconv.AppendInt(b, units, 10)
	}
	return time.Unix(units/perSecond, units%perSecond*(1e9/perSecond)).UTC().AppendFormat(b, timeText)
}

func divideRoundingDown(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// AppendUUID appends 16 bytes in the usual notation of UUIDs.
func AppendUUID(b, uuid []byte) []byte {
	for i, x := range uuid {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, "0123456789abcdef"[x>>4], "0123456789abcdef"[x&15])
	}
	return b
}
