package ufs

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/fixtures"
)

// Sparse rows that would be a large factor are read again in its place, however large the
// limit is, and smaller ones become a factor.
func TestSparseRowsAreNoLargeFactor(t *testing.T) {
	path := fixtures.Dataset(t, "basehock_sparse.parquet")
	for _, method := range []string{"greedy", "graphgreedy"} {
		for features, factor := range map[string]bool{"4862": true, "15999": true, "16500": true, "17000": false} { // 1,993 rows
			f, err := Plan(t.Context(), Request{Inputs: []string{path}, Label: "label", Method: method, Sparse: "indices,values," + features, K: 5, Memory: 1 << 40})
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Memory.Factor > 0; got != factor || f.Memory.OutOfCore == factor {
				t.Errorf("%s of %s features: %+v", method, features, f.Memory)
			}
		}
	}
}
