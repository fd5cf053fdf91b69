package selecting

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// MaxCorrelated bounds the number of chosen features: a selection of more features does not record their
	// correlations. The JSON of the correlations grows with the square of the number, and people cannot read a larger
	// matrix.
	MaxCorrelated = 100
	// MaxMapped bounds the number of columns in the map. People cannot distinguish more points, and the eigenvectors for
	// as many take 3 ms.
	MaxMapped = 150
)

// recordCorrelations records the correlations of all features with their nearest chosen ones, those between the chosen
// features in order, and the map, if the Gram matrix is in memory and exact. For k features it computes k²/2 entries of
// the matrix, and one for each feature. If the matrix is a factor of r rows, each entry costs 2r floating-point
// operations.
func recordCorrelations(t *Trial, order []int) error {
	c := newCorrelator(t)
	if c == nil {
		return nil
	}
	chosen, near := make(map[string]int, len(order)), make([][]int, len(order))
	for i, j := range order {
		chosen[t.Columns[j].Name] = i
	}
	for j := range t.Selection.Columns {
		if i, known := chosen[t.Selection.Columns[j].Nearest]; known {
			if r := c.correlationOf(j, order[i]); !math.IsNaN(float64(r)) {
				t.Selection.Columns[j].Correlation = &r
				near[i] = append(near[i], j)
			}
		}
	}
	if len(order) > MaxCorrelated {
		return nil
	}
	for i, a := range order {
		row := make([]stream.Number, i)
		for j, b := range order[:i] {
			row[j] = c.correlationOf(a, b)
		}
		t.Selection.Correlations = append(t.Selection.Correlations, row)
	}
	for _, list := range near {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Compare(math.Abs(float64(*t.Selection.Columns[b].Correlation)), math.Abs(float64(*t.Selection.Columns[a].Correlation)))
		})
	}
	return recordMap(t, c, listMapped(order, near))
}

func listMapped(order []int, near [][]int) []int {
	list := slices.Clone(order)
	// After the chosen columns come the nearest of each, then the second nearest of each.
	for turn, more := 0, true; more; turn++ {
		more = false
		for _, n := range near {
			if turn < len(n) && len(list) < MaxMapped {
				more = true
				if !slices.Contains(order, n[turn]) {
					list = append(list, n[turn])
				}
			}
		}
	}
	return list
}

func recordMap(t *Trial, c *correlator, list []int) error {
	list = slices.DeleteFunc(list, func(j int) bool { return !(c.columnNorm(j) > 0) })
	n := len(list)
	if n < 2 {
		return nil
	}
	r := make([]float64, n*n)
	for i, a := range list {
		r[i*n+i] = 1
		for j, b := range list[:i] {
			r[i*n+j] = float64(c.correlationOf(a, b))
			if r[j*n+i] = r[i*n+j]; math.IsNaN(r[i*n+j]) {
				return nil
			}
		}
	}
	values, err := linalg.SymmetricEigen(kernel.NewTeam(1), kernel.RowMajor(r, n, n, n))
	if err != nil {
		return err
	}
	m := &stream.ColumnMap{Columns: make([]stream.MapColumn, n)}
	for axis := range 2 {
		at, first, largest := n-1-axis, 0, 0.0
		m.Shown += stream.Number(max(values[at], 0) / float64(n))
		for i := range list {
			largest = max(largest, math.Abs(r[i*n+at]))
		}
		// Eigenvectors have no sign of their own: the first column with a coordinate of at least half of the largest
		// gets a positive one.
		for math.Abs(r[first*n+at]) < largest/2 {
			first++
		}
		length := math.Copysign(math.Sqrt(max(values[at], 0)), r[first*n+at])
		for i, j := range list {
			x := roundCorrelation(length * r[i*n+at])
			if m.Columns[i].Name = t.Columns[j].Name; axis == 0 {
				m.Columns[i].X = x
			} else {
				m.Columns[i].Y = x
			}
		}
	}
	t.Selection.Map = m
	return nil
}

// correlator computes correlations between features from a Gram matrix.
type correlator struct {
	matrix *gram.Matrix
	offset []float64 // means of the matrix's columns; nil if the matrix is centred
	weight float64   // sum of the weights of the rows
	varied []int     // features of the matrix, ascending, for which alone it has columns; nil for all
	norms  []float64 // of the centred columns of the features; 0 for constant features
	room   []float64 // two features of a factor
}

func newCorrelator(t *Trial) *correlator {
	c := &correlator{matrix: t.ExplainGram, varied: t.explainFeatures}
	if c.matrix == nil && t.Gram != nil {
		c.matrix, c.offset, c.weight, c.varied = &t.Gram.Matrix, t.ColumnOffsets(), t.Gram.Weight, nil
	}
	if c.matrix == nil || c.matrix.Absent() || t.bundle.Sketch != nil {
		return nil // the matrix is not in memory, or not exact
	}
	c.norms, c.room = slices.Repeat([]float64{math.NaN()}, len(t.Columns)), make([]float64, 2*c.matrix.Rank)
	return c
}

func (c *correlator) columnNorm(feature int) float64 {
	if math.IsNaN(c.norms[feature]) {
		c.norms[feature] = math.Sqrt(c.centredProduct(feature, feature))
	}
	return c.norms[feature]
}

func (c *correlator) centredProduct(a, b int) float64 {
	if c.varied != nil {
		var hasA, hasB bool
		a, hasA = slices.BinarySearch(c.varied, a)
		if b, hasB = slices.BinarySearch(c.varied, b); !hasA || !hasB {
			return 0 // the matrix lacks constant features
		}
	}
	return CentreEntry(c.matrix.AtWithin(c.room, a, b), c.offset, c.weight, a, b)
}

func (c *correlator) correlationOf(a, b int) stream.Number {
	if !(c.columnNorm(a) > 0 && c.columnNorm(b) > 0) { // also if rounding made a square negative
		return stream.Number(math.NaN())
	}
	return roundCorrelation(c.centredProduct(a, b) / c.columnNorm(a) / c.columnNorm(b))
}

func roundCorrelation(r float64) stream.Number {
	return stream.Number(math.Round(1e4*min(max(r, -1), 1))/1e4 + 0) // + 0 turns −0 into 0
}

// CentreEntry returns entry (i, j) of the Gram matrix of the centred columns, computed from the same entry of the Gram
// matrix. offset has the means of the columns, and weight is the sum of the rows' weights. offset is nil if the matrix is
// already centred. A diagonal entry that is only a rounding error of centring is returned as 0.
func CentreEntry(entry float64, offset []float64, weight float64, i, j int) float64 {
	if offset == nil {
		return entry
	}
	centred := entry - weight*(offset[i]*offset[j])
	if i == j && centred <= 1e-10*entry {
		return 0
	}
	return centred
}
