package rows_test

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A pass over other blocks than the first pass fails.
func TestPassNoticesOtherBlocks(t *testing.T) {
	for n, want := range map[int]bool{9: false, 10: true, 11: false, 15: false} {
		src := &rowstest.Source{N: 10, D: 1, Heights: []int{5}, At: func(i, _ int) float64 { return float64(i) }}
		s := &rows.Source{Source: src}
		read := func() (rows int, err error) {
			err = s.Pass(t.Context(), "", func(number int, c *stream.Chunk) error {
				rows += c.Rows
				if s.First[number] != int(c.Start) {
					t.Errorf("block %d starts at %d, not %d", number, s.First[number], c.Start)
				}
				return nil
			})
			return rows, err
		}
		if rows, err := read(); rows != 10 || s.N != 10 || err != nil {
			t.Fatalf("first pass: %d rows, %d counted, %v", rows, s.N, err)
		}
		src.N = n
		if _, err := read(); (err == nil) != want || s.Passes != 2 {
			t.Errorf("10 rows and then %d: %v after %d passes", n, err, s.Passes)
		}
	}
}
