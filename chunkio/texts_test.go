package chunkio

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// allTexts reads leaf l of a file as text, step rows at a time.
func allTexts(f format.File, l int, step int64) (rows []string, err error) {
	ctx := context.Background()
	for i, n := range f.GroupRows() {
		g, err := f.Open(ctx, i, []int{l})
		if err != nil {
			return nil, err
		}
		defer g.Close()
		for from := int64(0); from < n; from += step {
			part, err := textRows(g, l, from, min(from+step, n))
			if err != nil {
				return nil, err
			}
			rows = append(rows, part...)
		}
	}
	return rows, nil
}

// textRows reads rows [from, to) of leaf l as text.
func textRows(g format.Group, l int, from, to int64) (rows []string, err error) {
	err = g.DecodeTexts(context.Background(), l, from, to, func(ids []int32, values *text.List) error {
		for _, id := range ids {
			if id < 0 {
				rows = append(rows, noName)
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

// naiveFloat is the shortest decimal by fmt's own rules, which differ in the exponent.
func naiveFloat(x float64, bits int) string {
	s := fmt.Sprint(x)
	if bits == 32 {
		s = fmt.Sprint(float32(x))
	}
	if x != 0 && math.Abs(x) < 1e-4 && math.Abs(x) >= 1e-5 {
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	return s
}
