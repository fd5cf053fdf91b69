package formattest

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// NoName represents a null, because no label has this text.
const NoName = "\x00null"

// AllTexts reads leaf l of a file as text, step rows at a time.
func AllTexts(f format.File, l int, step int64) (rows []string, err error) {
	ctx := context.Background()
	for i, n := range f.GroupRows() {
		g, err := f.Open(ctx, i, []int{l})
		if err != nil {
			return nil, err
		}
		defer g.Close()
		for from := int64(0); from < n; from += step {
			part, err := TextRows(g, l, from, min(from+step, n))
			if err != nil {
				return nil, err
			}
			rows = append(rows, part...)
		}
	}
	return rows, nil
}

// TextRows reads rows [from, to) of leaf l as text.
func TextRows(g format.Group, l int, from, to int64) (rows []string, err error) {
	err = g.DecodeTexts(context.Background(), l, from, to, func(ids []int32, values *text.List) error {
		for _, id := range ids {
			if id < 0 {
				rows = append(rows, NoName)
			} else {
				rows = append(rows, string(values.Value(int(id))))
			}
		}
		return nil
	})
	if err == nil && int64(len(rows)) != to-from {
		err = fmt.Errorf("%d values of rows %d to %d", len(rows), from, to)
	}
	return rows, err
}

// NaiveFloat returns the shortest decimal of x, as fmt writes it. It corrects the numbers for which fmt uses an
// exponent and this program does not.
func NaiveFloat(x float64, bits int) string {
	s := fmt.Sprint(x)
	if bits == 32 {
		s = fmt.Sprint(float32(x))
	}
	if x != 0 && math.Abs(x) < 1e-4 && math.Abs(x) >= 1e-5 {
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	return s
}

// NaiveHalf converts an IEEE half-precision number according to its definition.
func NaiveHalf(b uint16) float64 {
	sign, exp, frac := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		return math.Inf(int(sign))
	case exp == 0:
		return sign * math.Ldexp(frac, -24)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// SameBits reports whether a and b have the same bits. All NaNs are treated as equal, except the NaN that represents a
// null.
func SameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b && !format.IsNull(a) && !format.IsNull(b)
}

// NaiveDecimal returns the float64 nearest to n / 10^scale, computed with exact arithmetic.
func NaiveDecimal(n *big.Int, scale int) float64 {
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	if scale > 0 {
		power.Inv(power)
	}
	x, _ := power.Mul(power, new(big.Rat).SetInt(n)).Float64()
	return x
}

// BigEndian returns n in two's complement, in size bytes.
func BigEndian(n *big.Int, size int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return n.FillBytes(make([]byte, size))
}
