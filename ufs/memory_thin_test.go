package ufs

import (
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Sparse rows that would be a large factor are read again in its place, however large the
// limit is, and smaller ones become a factor.
func TestSparseRowsAreNoLargeFactor(t *testing.T) {
	path := fixtures.DatasetPath(t, "basehock_sparse.parquet")
	for _, method := range []string{"greedy", "graphgreedy"} {
		for features, factor := range map[string]bool{"4862": true, "15999": true, "16500": true, "17000": false} { // 1,993 rows
			f, err := Plan(t.Context(), Request{Input: Input{Paths: []string{path}}, Columns: Columns{Label: "label", Sparse: "indices,values," + features}, Choice: Choice{Method: method, K: 5}, Limits: Limits{Memory: 1 << 40}})
			if err != nil {
				t.Fatalf("planning %s with %s features: %v", method, features, err)
			}
			if got := f.Memory.Factor > 0; got != factor || f.Memory.OutOfCore == factor {
				t.Errorf("%s of %s features: %+v", method, features, f.Memory)
			}
		}
	}
}

// Nor do they become a large matrix in full: a graph method reads them again from fewer columns on than one that
// would have fewer reports then.
func TestSparseRowsAreNoLargeMatrix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), path, faces(12000, 3, 1), chunkio.WriteOptions{Sparse: true}))
	for _, c := range []struct {
		method, features string
		again            bool
	}{
		{"graphgreedy", "5000", false}, {"graphgreedy", "6000", true}, {"graphgreedy", "16000", true},
		{"greedy", "6000", false}, {"greedy", "15999", false}, {"greedy", "16000", true},
	} {
		f := must.Get(Plan(t.Context(), Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: c.method, K: 3}, Columns: Columns{Sparse: "indices,values," + c.features}, Limits: Limits{Memory: 1 << 40}}))(t)
		if f.Memory.OutOfCore != c.again {
			t.Errorf("%s of %s features: %+v", c.method, c.features, f.Memory)
		}
	}
}
