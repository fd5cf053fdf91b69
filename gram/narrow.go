package gram

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// narrowFactor is a factor R stored by features as the float32 values x of the input. It also contains the numbers that
// convert a value to an entry a of R, i.e. of the weighted, scaled matrix:
//
//	a = √w·((x − shift)·factor − offset)
//
// The conversion is exact: a has the same bits as in a factor of float64, in half the memory.
type narrowFactor struct {
	x             []float32 // column j is x[j*r:][:r]; missing entries are NaN
	shift, factor []float64 // of each feature
	missing       []float64 // (x − shift)·factor of missing entries
	offset        []float64 // nil for 0
	root          []float64 // √w of each row; nil for rows without weights
}

func (s *narrowFactor) writeFeature(dst []float64, feature int) {
	r := len(dst)
	kernel.FromSingles(s.x[feature*r:][:r], dst)
	kernel.Standardize(dst, dst, s.shift[feature], s.factor[feature], s.missing[feature], dst)
	if s.offset != nil {
		for i := range dst {
			dst[i] -= s.offset[feature]
		}
	}
	for i, w := range s.root {
		dst[i] *= w
	}
}

func (s *narrowFactor) scaleFeature(feature int, factor float64) {
	s.factor[feature] *= factor
	s.missing[feature] *= factor
	if s.offset != nil {
		s.offset[feature] *= factor
	}
}

func (s *narrowFactor) reduceToFeatures(rowCount int, features []int) {
	for k, j := range features {
		copy(s.x[k*rowCount:][:rowCount], s.x[j*rowCount:][:rowCount])
	}
	s.x = s.x[:len(features)*rowCount]
	s.shift, s.factor, s.missing = keepIndices(s.shift, features), keepIndices(s.factor, features), keepIndices(s.missing, features)
	if s.offset != nil {
		s.offset = keepIndices(s.offset, features)
	}
}

// centredBy returns a factor with offset[j] subtracted from all entries of feature j. It shares x with s.
func (s *narrowFactor) centredBy(offset []float64) *narrowFactor {
	c := *s
	c.shift, c.factor, c.missing = slices.Clone(s.shift), slices.Clone(s.factor), slices.Clone(s.missing)
	c.offset = slices.Clone(offset)
	for j, less := range s.offset {
		c.offset[j] += less
	}
	return &c
}

// storeAsFloat32 writes values to `stored` as float32. It reports whether every value other than NaN is exact.
func storeAsFloat32(values []float64, stored []float32) bool {
	if kernel.AllSingles(values) {
		kernel.ToSingles(values, stored)
		return true
	}
	for i, v := range values {
		stored[i] = float32(v)
		if !math.IsNaN(v) && float64(stored[i]) != v {
			return false
		}
	}
	return true
}

const (
	// valuesPerPanel is the number of values of a narrow factor that are converted to float64 and multiplied at a time by
	// all threads together. They take 4 MiB, which stays in level-3 caches.
	valuesPerPanel = 1 << 19
	// minPanelFeatures is the smallest number of features of a panel. RRᵀ is read and written once for each panel. For
	// 3,000 rows this took as long as the products of a panel with 32 features.
	minPanelFeatures = 256
	// maxDirectRows is the largest number of rows of Z for which AddUps converts each feature immediately before
	// multiplying it, which moves less memory than converting panels. For 100 selections by greedy on 3,000 × 100,000,
	// panels took 39 s of processor time, and single features 24 s.
	maxDirectRows = 4
)

func featuresPerPanel(rowCount int) int {
	return max(valuesPerPanel/max(rowCount, 1)/minPanelFeatures, 1) * minPanelFeatures
}

// PanelBytes returns the memory that Panels needs in addition to a float32 factor of r rows.
func PanelBytes(r int) int64 { return 8 * int64(featuresPerPanel(r)) * int64(r) }

// Panels calls f for panels of consecutive features. A call receives n features, the first with index `from`, with r
// numbers each, which are valid until f returns. A factor of float64 is one panel. It panics if G is stored in full.
func (m *Matrix) Panels(threads int, f func(from, n int, features []float64)) {
	m.eachPanel(threads, func(from int, rows kernel.Matrix[float64]) { f(from, rows.Rows, rows.Data) })
}

func (m *Matrix) eachPanel(threads int, f func(from int, rows kernel.Matrix[float64])) {
	if m.narrow == nil {
		f(0, m.floatFactor())
		return
	}
	size := min(featuresPerPanel(m.Rank), m.D)
	room := make([]float64, size*m.Rank)
	for from := 0; from < m.D; from += size {
		n := min(size, m.D-from)
		m.FeaturesTo(threads, room, from, n)
		f(from, kernel.RowMajor(room, n, m.Rank, m.Rank))
	}
}

// FeaturesTo writes n columns of R, starting with column `from`, one after the other to dst, with r numbers each. It
// panics if G is stored in full.
func (m *Matrix) FeaturesTo(threads int, dst []float64, from, n int) {
	if m.narrow == nil {
		copy(dst[:n*m.Rank], m.floatFactor().Data[from*m.Rank:])
		return
	}
	const together = 16 // number of features that a worker writes at a time
	kernel.Each(threads, (n+together-1)/together, func(task int) {
		for j := task * together; j < min((task+1)*together, n); j++ {
			m.narrow.writeFeature(dst[j*m.Rank:][:m.Rank], from+j)
		}
	})
}

// addProductOfFewRows adds Z·R to Y, as AddUps does, for a factor R of float32 and a matrix Z of k rows, k being small.
func (m *Matrix) addProductOfFewRows(threads, k int, z, y []float64) {
	const shares = 8 // number of tasks for each thread: many, so that no thread works much longer than the others
	size := (m.D + threads*shares - 1) / (threads * shares)
	kernel.Each(threads, (m.D+size-1)/size, func(task int) {
		a := make([]float64, m.Rank)
		for j := task * size; j < min((task+1)*size, m.D); j++ {
			m.narrow.writeFeature(a, j)
			for i := range k {
				y[i*m.D+j] += kernel.Dot(z[i*m.Rank:][:m.Rank], a)
			}
		}
	})
}

// Feature returns column j of R. For a factor of float64 the result is a view. Otherwise it is written to the slice
// `room`, which must have r numbers.
func (m *Matrix) Feature(room []float64, j int) []float64 {
	return m.Some(room, j, 1)
}

// Some returns `count` columns of R, starting with column `from`, with r numbers each, as a view or a copy in the slice
// `room`.
func (m *Matrix) Some(room []float64, from, count int) []float64 {
	if m.narrow == nil {
		return m.floatFactor().Data[from*m.Rank:][:count*m.Rank]
	}
	for j := range count {
		m.narrow.writeFeature(room[j*m.Rank:][:m.Rank], from+j)
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
