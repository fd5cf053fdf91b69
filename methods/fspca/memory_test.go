package fspca

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// TestBytes: a run stays within Bytes, which has no d² for a factor.
func TestBytes(t *testing.T) {
	x := normalRows(2, 60, 2000, 5, 2)
	for name, g := range map[string]*gram.Matrix{"factor": factor(x), "full": full(normalRows(2, 60, 700, 5, 2))} {
		for _, k := range []int{20, 400} {
			opt := Options{K: k, Threads: 2}
			before, most := rowstest.HeapBytes(), int64(0)
			opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
			run(t, g, opt)
			if says := Bytes(g.D, g.Rank, opt); most == 0 || most > says || name == "factor" && says > 4*int64(g.D*g.D) {
				t.Errorf("%s, k %d: %d bytes held, %d said", name, k, most, says)
			}
		}
	}
}
