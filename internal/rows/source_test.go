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
		read := func() (n int, err error) {
			err = s.ReadRows(t.Context(), rows.Pass{Place: func(b rows.Block, c *stream.Chunk) error {
				n += c.Rows
				if s.First[b.Number] != int(c.Start) {
					t.Errorf("block %d starts at %d, not %d", b.Number, s.First[b.Number], c.Start)
				}
				return nil
			}})
			return n, err
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
