package gram

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// narrow is a factor R kept as the float32 values that its rows were read as, by features, with what
// turns them into entries of A:
//
//	a = √w·((x − shift)·factor − less)
//
// It loses nothing: a is the same number, to the bit, that a factor of float64 holds, in half the room.
type narrow struct {
	x             []float32 // column j is x[j*r:][:r]; missing entries are NaN
	shift, factor []float64 // of each feature
	missing       []float64 // what (x − shift)·factor is of missing entries
	less          []float64 // nil for 0
	root          []float64 // √w of each row; nil where none has a weight
}

// to writes feature j to dst, r numbers.
func (s *narrow) to(dst []float64, j int) {
	r := len(dst)
	kernel.OfSingles(s.x[j*r:][:r], dst)
	kernel.Standardize(dst, dst, s.shift[j], s.factor[j], s.missing[j], dst)
	if s.less != nil {
		for i := range dst {
			dst[i] -= s.less[j]
		}
	}
	for i, w := range s.root {
		dst[i] *= w
	}
}

// scale multiplies feature j by a factor.
func (s *narrow) scale(j int, by float64) {
	s.factor[j] *= by
	s.missing[j] *= by
	if s.less != nil {
		s.less[j] *= by
	}
}

// keep reduces the features, of r numbers each, to those at the places kept, which ascend.
func (s *narrow) keep(r int, kept []int) {
	for k, j := range kept {
		copy(s.x[k*r:][:r], s.x[j*r:][:r])
	}
	s.x = s.x[:len(kept)*r]
	s.shift, s.factor, s.missing = take(s.shift, kept), take(s.factor, kept), take(s.missing, kept)
	if s.less != nil {
		s.less = take(s.less, kept)
	}
}

// centred is the same rows with offset[j] taken from feature j; they share x.
func (s *narrow) centred(offset []float64) *narrow {
	c := *s
	c.shift, c.factor, c.missing = slices.Clone(s.shift), slices.Clone(s.factor), slices.Clone(s.missing)
	c.less = slices.Clone(offset)
	for j, less := range s.less {
		c.less[j] += less
	}
	return &c
}

// singles writes src to dst as float32, NaN for NaN, and reports whether all others are held to the bit.
func singles(src []float64, dst []float32) bool {
	if kernel.AllSingles(src) {
		kernel.Singles(src, dst)
		return true
	}
	for i, v := range src {
		dst[i] = float32(v)
		if !math.IsNaN(v) && float64(dst[i]) != v {
			return false
		}
	}
	return true
}

const (
	// panelNumbers is how many numbers of a narrow factor are made float64 at a time, by all threads
	// together, and then multiplied: 4 MiB, which stays in level-3 caches.
	panelNumbers = 1 << 19
	// panelLeast is the least number of features of a panel: RRᵀ is read and written once for each panel, and
	// of 3,000 rows that took as long as its products with 32 features.
	panelLeast = 256
	// thin is the most rows of products that widen each feature where it is multiplied, which moves less: 100 turns
	// of greedy on 3,000 × 100,000 took 39 s of processor time by panels, and 24 s so.
	thin = 4
)

// panelFeatures is the number of features of a panel of r rows.
func panelFeatures(r int) int { return max(panelNumbers/max(r, 1)/panelLeast, 1) * panelLeast }

// PanelBytes is what a pass over a factor of r rows holds beside it where it is kept as float32.
func PanelBytes(r int) int64 { return 8 * int64(panelFeatures(r)) * int64(r) }

// Panels calls f for all features in turn, some at a time: the n from `from` on, r numbers each, which are lent
// until f returns. A factor of float64 is one panel. It panics where G is in full.
func (m *Matrix) Panels(threads int, f func(from, n int, features []float64)) {
	m.panels(threads, func(from int, rows kernel.Matrix[float64]) { f(from, rows.Rows, rows.Data) })
}

// panels is Panels by matrices.
func (m *Matrix) panels(threads int, f func(from int, rows kernel.Matrix[float64])) {
	if m.narrow == nil {
		f(0, m.factor())
		return
	}
	size := min(panelFeatures(m.Rank), m.D)
	room := make([]float64, size*m.Rank)
	for from := 0; from < m.D; from += size {
		n := min(size, m.D-from)
		m.FeaturesTo(threads, room, from, n)
		f(from, kernel.RowMajor(room, n, m.Rank, m.Rank))
	}
}

// FeaturesTo writes n columns of R, from `from` on, to dst one after the other, r numbers each. It panics
// where G is in full.
func (m *Matrix) FeaturesTo(threads int, dst []float64, from, n int) {
	if m.narrow == nil {
		copy(dst[:n*m.Rank], m.factor().Data[from*m.Rank:])
		return
	}
	const together = 16 // features a task
	kernel.Each(threads, (n+together-1)/together, func(task int) {
		for j := task * together; j < min((task+1)*together, n); j++ {
			m.narrow.to(dst[j*m.Rank:][:m.Rank], from+j)
		}
	})
}

// addThin adds ZR to Y, as AddUps, for a factor of float32 and few rows.
func (m *Matrix) addThin(threads, k int, z, y []float64) {
	const shares = 8 // of a thread: one that is late has a small rest
	size := (m.D + threads*shares - 1) / (threads * shares)
	kernel.Each(threads, (m.D+size-1)/size, func(task int) {
		a := make([]float64, m.Rank)
		for j := task * size; j < min((task+1)*size, m.D); j++ {
			m.narrow.to(a, j)
			for i := range k {
				y[i*m.D+j] += kernel.Dot(z[i*m.Rank:][:m.Rank], a)
			}
		}
	})
}

// Feature is column j of R: a factor of float64 lends it, and else it is written to room, of r numbers.
func (m *Matrix) Feature(room []float64, j int) []float64 {
	return m.Some(room, j, 1)
}

// Some are so many columns of R, from `from` on, r numbers each: lent, or written to room.
func (m *Matrix) Some(room []float64, from, count int) []float64 {
	if m.narrow == nil {
		return m.factor().Data[from*m.Rank:][:count*m.Rank]
	}
	for j := range count {
		m.narrow.to(room[j*m.Rank:][:m.Rank], from+j)
	}
	return room[:count*m.Rank]
}

// Clear makes feature j of a factor 0.
func (m *Matrix) Clear(j int) {
	if m.narrow != nil {
		m.narrow.scale(j, 0)
		return
	}
	clear(m.factor().Data[j*m.Rank:][:m.Rank])
}
