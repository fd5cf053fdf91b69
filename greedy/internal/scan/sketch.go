package scan

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// Sketch is a count sketch (Charikar, Chen, Farach-Colton 2002) of the residual A − P_S A. Every row of A is added,
// with a random sign, to one of a few hundred buckets, which gives a vector eᵢ for each feature i. eᵢᵀeⱼ estimates the
// inner product of the residuals of features i and j without bias, with a standard deviation of about
// ‖aᵢ‖‖aⱼ‖/√buckets. The sketch predicts which features will be chosen next; the choice itself never depends on it.
//
// If there are at most as many rows as buckets, each row has its own bucket, and the sketch is the residual itself. A
// nil *sketch does nothing: rows in memory need no prediction.
type Sketch struct {
	Buckets int
	seed    uint64
	exact   bool      // each row has its own bucket
	E       []float64 // d×buckets, row i the sketch of feature i
	signs   []float64 // by bucket: Σ ±√w of its sparse rows, with their weights w and random signs
	bucket  []int32   // bucket of each row of one block
	sign    []float64 // sign of each of these rows
}

// NewSketch returns an empty sketch. rows counts the rows of the source before any is dropped; -1 means unknown.
func NewSketch(d, buckets int, seed uint64, rows int64) *Sketch {
	return &Sketch{Buckets: buckets, seed: seed, exact: rows >= 0 && rows <= int64(buckets),
		E: room.MakeSlice[float64](d * buckets), signs: make([]float64, buckets)}
}

// Reset empties the sketch, so that the rows can be added again.
func (s *Sketch) Reset() {
	if s == nil {
		return
	}
	clear(s.E)
	clear(s.signs)
}

// PassSums returns the sums of a pass that calls AddRows.
func (s *Sketch) PassSums() [][]float64 {
	if s == nil {
		return nil
	}
	return [][]float64{s.E, s.signs}
}

// AddRows adds the rows of b. The bucket and the sign of a row depend only on its global position, so the sketch does
// not depend on how the rows are cut into blocks.
func (s *Sketch) AddRows(r *Reader, b *Block) {
	if s == nil {
		return
	}
	s.bucket, s.sign = s.bucket[:0], s.sign[:0]
	for i := range b.Rows {
		h := splitmix.Mix(s.seed ^ splitmix.Mix(uint64(b.rowPosition(i))))
		sign := 1.0
		if h&1 != 0 {
			sign = -1
		}
		k := int32((h >> 1) % uint64(s.Buckets))
		if s.exact {
			k = int32(b.rowPosition(i))
		}
		if b.Sparse != nil {
			sign *= math.Sqrt(b.Sparse.weight[i])
			s.signs[k] += sign
		}
		s.bucket, s.sign = append(s.bucket, k), append(s.sign, sign)
	}
	if b.Sparse == nil {
		r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
			kernel.Each(r.Workers, x.Rows, func(j int) {
				e := s.FeatureSketch(at + j)
				for i, a := range x.Data[j*b.Rows : (j+1)*b.Rows] {
					e[s.bucket[i]] += s.sign[i] * a
				}
			})
		})
		return
	}
	kernel.Each(r.Workers, r.D, func(j int) {
		e := s.FeatureSketch(j)
		for k := b.Sparse.colPtr[j]; k < b.Sparse.colPtr[j+1]; k++ {
			i := b.Sparse.entryRow[k]
			e[s.bucket[i]] += s.sign[i] * b.Sparse.value[b.Sparse.entryAt[k]]
		}
	})
}

// RemoveShift removes the shift of sparse rows once, after AddRows.
func (s *Sketch) RemoveShift(r *Reader) {
	if s == nil || r.Weight == 0 {
		return
	}
	kernel.Each(r.Workers, r.D, func(j int) {
		kernel.Axpy(-r.Shift[j], s.signs, s.E[j*s.Buckets:(j+1)*s.Buckets])
	})
}

// ProjectOut removes the direction of the chosen feature p from the sketch. (ωᵢ/√g_p) times the residual of p is
// subtracted from the residual of each feature i, and so from its sketch. root is √g_p. The coefficients ωᵢ/√g_p are
// exact. So e remains a sketch of the true residual however many features are chosen.
func (s *Sketch) ProjectOut(workers, p int, omega []float64, root float64) {
	if s == nil {
		return
	}
	q := make([]float64, s.Buckets)
	copy(q, s.FeatureSketch(p))
	kernel.Each(workers, len(omega), func(i int) {
		kernel.Axpy(-omega[i]/root, q, s.FeatureSketch(i))
	})
	clear(s.FeatureSketch(p))
}

// FeatureSketch returns the vector eᵢ of feature i.
func (s *Sketch) FeatureSketch(i int) []float64 { return s.E[i*s.Buckets : (i+1)*s.Buckets] }
