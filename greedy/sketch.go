package greedy

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// sketch is a count sketch (Charikar, Chen, Farach-Colton 2002) of the residual A − P_S A. Every row of A is added,
// with a random sign, to one of a few hundred buckets, which gives a vector eᵢ for each feature i. eᵢᵀeⱼ estimates the
// inner product of the residuals of features i and j without bias, with a standard deviation of about
// ‖aᵢ‖‖aⱼ‖/√buckets. The sketch predicts which features will be chosen next; the choice itself never depends on it.
//
// If there are at most as many rows as buckets, each row has its own bucket, and the sketch is the residual itself. A
// nil *sketch does nothing: rows in memory need no prediction.
type sketch struct {
	buckets int
	seed    uint64
	exact   bool      // each row has its own bucket
	e       []float64 // d×buckets, row i the sketch of feature i
	signs   []float64 // by bucket: Σ ±√w of its sparse rows, with their weights w and random signs
	bucket  []int32   // bucket of each row of one block
	sign    []float64 // sign of each of these rows
}

// newSketch returns an empty sketch. rows counts the rows of the source before any is dropped; -1 means unknown.
func newSketch(d, buckets int, seed uint64, rows int64) *sketch {
	return &sketch{buckets: buckets, seed: seed, exact: rows >= 0 && rows <= int64(buckets),
		e: room.MakeSlice[float64](d * buckets), signs: make([]float64, buckets)}
}

func (s *sketch) reset() {
	if s == nil {
		return
	}
	clear(s.e)
	clear(s.signs)
}

func (s *sketch) passSums() [][]float64 {
	if s == nil {
		return nil
	}
	return [][]float64{s.e, s.signs}
}

// addRows adds the rows of b. The bucket and the sign of a row depend only on its global position, so the sketch does
// not depend on how the rows are cut into blocks.
func (s *sketch) addRows(r *reader, b *rowBlock) {
	if s == nil {
		return
	}
	s.bucket, s.sign = s.bucket[:0], s.sign[:0]
	for i := range b.rows {
		h := splitmix.Mix(s.seed ^ splitmix.Mix(uint64(b.rowPosition(i))))
		sign := 1.0
		if h&1 != 0 {
			sign = -1
		}
		k := int32((h >> 1) % uint64(s.buckets))
		if s.exact {
			k = int32(b.rowPosition(i))
		}
		if b.sparse != nil {
			sign *= math.Sqrt(b.sparse.weight[i])
			s.signs[k] += sign
		}
		s.bucket, s.sign = append(s.bucket, k), append(s.sign, sign)
	}
	if b.sparse == nil {
		r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
			kernel.Each(r.workers, x.Rows, func(j int) {
				e := s.featureSketch(at + j)
				for i, a := range x.Data[j*b.rows : (j+1)*b.rows] {
					e[s.bucket[i]] += s.sign[i] * a
				}
			})
		})
		return
	}
	kernel.Each(r.workers, r.d, func(j int) {
		e := s.featureSketch(j)
		for k := b.sparse.colPtr[j]; k < b.sparse.colPtr[j+1]; k++ {
			i := b.sparse.entryRow[k]
			e[s.bucket[i]] += s.sign[i] * b.sparse.value[b.sparse.entryAt[k]]
		}
	})
}

func (s *sketch) removeShift(r *reader) {
	if s == nil || r.weight == 0 {
		return
	}
	kernel.Each(r.workers, r.d, func(j int) {
		kernel.Axpy(-r.shift[j], s.signs, s.e[j*s.buckets:(j+1)*s.buckets])
	})
}

// projectOut removes the direction of the chosen feature p from the sketch. (ωᵢ/√g_p) times the residual of p is
// subtracted from the residual of each feature i, and so from its sketch. root is √g_p. The coefficients ωᵢ/√g_p are
// exact. So e remains a sketch of the true residual however many features are chosen.
func (s *sketch) projectOut(workers, p int, omega []float64, root float64) {
	if s == nil {
		return
	}
	q := make([]float64, s.buckets)
	copy(q, s.featureSketch(p))
	kernel.Each(workers, len(omega), func(i int) {
		kernel.Axpy(-omega[i]/root, q, s.featureSketch(i))
	})
	clear(s.featureSketch(p))
}

func (s *sketch) featureSketch(i int) []float64 { return s.e[i*s.buckets : (i+1)*s.buckets] }
