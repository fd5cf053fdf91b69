package gram

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// narrowFactor is a factor R kept as the float32 values of the input, by features, with the numbers that convert them
// to entries of A:
//
//	a = √w·((x − shift)·factor − offset)
//
// Nothing is lost: a has the same bits as in a factor of float64, in half the memory.
type narrowFactor struct {
	x             []float32 // column j is x[j*r:][:r]; missing entries are NaN
	shift, factor []float64 // of each feature
	missing       []float64 // (x − shift)·factor of missing entries
	offset        []float64 // nil for 0
	root          []float64 // √w of each row; nil for rows without weights
}

func (s *narrowFactor) featureTo(dst []float64, j int) {
	r := len(dst)
	kernel.FromSingles(s.x[j*r:][:r], dst)
	kernel.Standardize(dst, dst, s.shift[j], s.factor[j], s.missing[j], dst)
	if s.offset != nil {
		for i := range dst {
			dst[i] -= s.offset[j]
		}
	}
	for i, w := range s.root {
		dst[i] *= w
	}
}

func (s *narrowFactor) scaleFeature(j int, factor float64) {
	s.factor[j] *= factor
	s.missing[j] *= factor
	if s.offset != nil {
		s.offset[j] *= factor
	}
}

func (s *narrowFactor) keepFeatures(r int, places []int) {
	for k, j := range places {
		copy(s.x[k*r:][:r], s.x[j*r:][:r])
	}
	s.x = s.x[:len(places)*r]
	s.shift, s.factor, s.missing = keepPlaces(s.shift, places), keepPlaces(s.factor, places), keepPlaces(s.missing, places)
	if s.offset != nil {
		s.offset = keepPlaces(s.offset, places)
	}
}

// centredBy returns the same rows with offset[j] subtracted from feature j. The copies share x.
func (s *narrowFactor) centredBy(offset []float64) *narrowFactor {
	c := *s
	c.shift, c.factor, c.missing = slices.Clone(s.shift), slices.Clone(s.factor), slices.Clone(s.missing)
	c.offset = slices.Clone(offset)
	for j, less := range s.offset {
		c.offset[j] += less
	}
	return &c
}

// storeAsFloat32 writes src to dst as float32, with NaN for NaN, and reports whether all other values are exact.
func storeAsFloat32(src []float64, dst []float32) bool {
	if kernel.AllSingles(src) {
		kernel.ToSingles(src, dst)
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
	// panelValues is the number of values of a narrow factor that all threads together convert to float64 at a time,
	// and then multiply: 4 MiB, which stays in level-3 caches.
	panelValues = 1 << 19
	// minPanelFeatures is the least number of features of a panel. RRᵀ is read and written once for each panel, which
	// for 3,000 rows took as long as the products of a panel with 32 features.
	minPanelFeatures = 256
	// fewRows is the largest number of rows for which a product converts each feature when it multiplies it, which
	// moves less memory. 100 turns of greedy on 3,000 × 100,000 took 39 s of processor time by panels, and 24 s in
	// this way.
	fewRows = 4
)

func panelFeatures(r int) int {
	return max(panelValues/max(r, 1)/minPanelFeatures, 1) * minPanelFeatures
}

// PanelBytes returns the memory that a pass needs in addition for a factor of r rows that is kept as float32.
func PanelBytes(r int) int64 { return 8 * int64(panelFeatures(r)) * int64(r) }

// Panels calls f for all features in turn. A call gets n features from the feature `from` on, with r numbers each,
// which are valid until f returns. A factor of float64 is one panel. Panels panics if G is in full.
func (m *Matrix) Panels(threads int, f func(from, n int, features []float64)) {
	m.eachPanel(threads, func(from int, rows kernel.Matrix[float64]) { f(from, rows.Rows, rows.Data) })
}

func (m *Matrix) eachPanel(threads int, f func(from int, rows kernel.Matrix[float64])) {
	if m.narrow == nil {
		f(0, m.floatFactor())
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

// FeaturesTo writes n columns of R, from the given one on, one after the other to dst, with r numbers each. It panics
// if G is in full.
func (m *Matrix) FeaturesTo(threads int, dst []float64, from, n int) {
	if m.narrow == nil {
		copy(dst[:n*m.Rank], m.floatFactor().Data[from*m.Rank:])
		return
	}
	const together = 16 // features a task
	kernel.Each(threads, (n+together-1)/together, func(task int) {
		for j := task * together; j < min((task+1)*together, n); j++ {
			m.narrow.featureTo(dst[j*m.Rank:][:m.Rank], from+j)
		}
	})
}

// addFewRows does the same as AddUps for a factor of float32 and few rows.
func (m *Matrix) addFewRows(threads, k int, z, y []float64) {
	const shares = 8 // per thread, so that a late one has little left to do
	size := (m.D + threads*shares - 1) / (threads * shares)
	kernel.Each(threads, (m.D+size-1)/size, func(task int) {
		a := make([]float64, m.Rank)
		for j := task * size; j < min((task+1)*size, m.D); j++ {
			m.narrow.featureTo(a, j)
			for i := range k {
				y[i*m.D+j] += kernel.Dot(z[i*m.Rank:][:m.Rank], a)
			}
		}
	})
}

// Feature returns column j of R. A factor of float64 lends it; otherwise it is written to the r numbers of room.
func (m *Matrix) Feature(room []float64, j int) []float64 {
	return m.Some(room, j, 1)
}

// Some returns count columns of R, from the given one on, with r numbers each. They are lent, or written to room.
func (m *Matrix) Some(room []float64, from, count int) []float64 {
	if m.narrow == nil {
		return m.floatFactor().Data[from*m.Rank:][:count*m.Rank]
	}
	for j := range count {
		m.narrow.featureTo(room[j*m.Rank:][:m.Rank], from+j)
	}
	return room[:count*m.Rank]
}

// Clear sets feature j of a factor to 0.
func (m *Matrix) Clear(j int) {
	if m.narrow != nil {
		m.narrow.scaleFeature(j, 0)
		return
	}
	clear(m.floatFactor().Data[j*m.Rank:][:m.Rank])
}
