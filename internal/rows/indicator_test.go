package rows

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// The rows are those of the n×k indicator with columns of length 1, or of the polar factor of the
// indicator plus the offset, by an SVD of all n rows.
func TestOrthonormalIndicator(t *testing.T) {
	for _, sizes := range [][]int64{{1}, {3, 3}, {1, 7, 2}, {40, 1, 1, 5}} {
		k := len(sizes)
		var labels []int
		for c, size := range sizes {
			for range size {
				labels = append(labels, c)
			}
		}
		for _, isSoft := range []bool{false, true} {
			raw := mat.NewDense(len(labels), k, nil)
			for i, c := range labels {
				for j := range k {
					if isSoft {
						raw.Set(i, j, 0.2)
					}
				}
				raw.Set(i, c, raw.At(i, c)+1)
			}
			var svd mat.SVD
			if !svd.Factorize(raw, mat.SVDThin) {
				t.Fatalf("sizes %v: no SVD", sizes)
			}
			var u, v, want mat.Dense
			svd.UTo(&u)
			svd.VTo(&v)
			want.Mul(&u, v.T())
			got := must.Get(OrthonormalIndicator(sizes, isSoft))(t)
			for i, c := range labels {
				for j := range k {
					// Some tens of roundings, at a condition below 50.
					if off := math.Abs(got[c*k+j] - want.At(i, j)); !(off <= 1e-13) {
						t.Errorf("sizes %v, soft %t: row of cluster %d, column %d: got %v, want %v", sizes, isSoft, c, j, got[c*k+j], want.At(i, j))
					}
				}
			}
		}
	}
	for _, isSoft := range []bool{false, true} {
		if _, err := OrthonormalIndicator([]int64{3, 0}, isSoft); err == nil || !strings.Contains(err.Error(), "fall into fewer") {
			t.Errorf("soft %t: an empty cluster gives error %v", isSoft, err)
		}
	}
}
