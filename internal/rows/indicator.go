package rows

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SoftOffset is the number that a soft start adds to all entries of the indicator of the clusters.
const SoftOffset = 0.2

// OrthonormalIndicator returns the rows of an n×k matrix with orthonormal columns that starts an iteration from k
// clusters of the given sizes. Rows of the same cluster are equal, so the result has one for each cluster, k×k
// row-major. The matrix is the indicator H of the clusters with columns scaled to length 1. If it isSoft, the matrix is
// the polar factor of H plus SoftOffset in every entry: with D = HᵀH and C = I plus SoftOffset in every entry, it is
// H·D^(−1/2)·P, P being the polar factor of the k×k matrix D^(1/2)·C. The error is a *stream.UsageError for an empty
// cluster.
func OrthonormalIndicator(sizes []int64, isSoft bool) ([]float64, error) {
	k := len(sizes)
	out := make([]float64, k*k)
	for c, size := range sizes {
		if size == 0 {
			return nil, stream.Usagef("the start has %d clusters, and the rows fall into fewer; choose fewer {clusters}", k)
		}
		if !isSoft {
			out[c*k+c] = 1 / math.Sqrt(float64(size))
			continue
		}
		for j := range k {
			out[c*k+j] = SoftOffset
		}
		out[c*k+c]++
		for j := range k {
			out[c*k+j] *= math.Sqrt(float64(size))
		}
	}
	if !isSoft {
		return out, nil
	}
	m := kernel.RowMajor(out, k, k, k)
	p := linalg.NewPolar(k)
	if err := p.Add(m); err != nil {
		return nil, err
	}
	if err := p.Factor(); err != nil {
		return nil, err
	}
	p.RowsTo(0, m, m)
	for c, size := range sizes {
		for j := range k {
			out[c*k+j] /= math.Sqrt(float64(size))
		}
	}
	return out, nil
}
