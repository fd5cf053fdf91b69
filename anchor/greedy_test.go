package anchor_test

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func init() {
	anchor.GreedyChoice = func(t *testing.T, sym, h []float64, d, k int) (order []int, scores, left []float64) {
		t.Helper()
		r := must.Get(greedy.SelectTarget(t.Context(), gram.Full(sym, d), greedy.Target{Rows: d, H: h}, greedy.Options{K: k}))(t)
		return r.Order, r.Scores, r.Error
	}
}
