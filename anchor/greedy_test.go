package anchor_test

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/greedy"
)

func init() {
	anchor.GreedyChoice = func(t *testing.T, sym, h []float64, d, k int) (order []int, scores, left []float64) {
		t.Helper()
		r, err := greedy.SelectTarget(t.Context(), sym, d, greedy.Target{Rows: d, H: h}, greedy.Options{K: k})
		if err != nil {
			t.Fatal(err)
		}
		return r.Order, r.Scores, r.Error
	}
}
