package alike

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// Matrix is the correlation matrix of D columns, sorted by name.
type Matrix struct {
	D      int
	Names  []string
	Source []int     // index of each column in the Data passed to New
	R      []float64 // D×D row-major, both triangles; 1 on the diagonal

	team  *kernel.Team
	eps   float64   // ε of the package documentation
	lever []float64 // aⱼ of the package documentation, see Data.Lever
}

// Data is a Gram matrix of centred columns.
type Data struct {
	Names []string  // distinct
	Gram  []float64 // d×d row-major, both triangles; New overwrites it. No column may be constant
	Rows  int64     // number of rows from which Gram was computed
	// Lever is, for each column, the norm of the column minus its pilot (see the package documentation), divided by the
	// norm of the column minus its mean. It is at least 1. Nil means 1 for all columns.
	Lever []float64
}

// New turns the Gram matrix into the correlation matrix, in place and in O(d²) operations. It allocates O(d) numbers.
func New(team *kernel.Team, data Data) *Matrix {
	d := len(data.Names)
	m := &Matrix{D: d, R: data.Gram, team: team, Source: make([]int, d)}
	m.eps = (256 + float64(data.Rows)/256 + float64(d)) * 0x1p-52
	for j := range m.Source {
		m.Source[j] = j
	}
	slices.SortFunc(m.Source, func(a, b int) int { return cmp.Compare(data.Names[a], data.Names[b]) })
	linalg.PermuteSymmetric(m.R, m.Source, make([]float64, d), make([]bool, d))
	root := make([]float64, d)
	for k, j := range m.Source {
		m.Names = append(m.Names, data.Names[j])
		lever := 1.0
		if data.Lever != nil {
			lever = max(data.Lever[j], 1)
		}
		m.lever = append(m.lever, lever)
		root[k] = math.Sqrt(m.R[k*d+k])
	}
	kernel.Each(team.Threads(), d, func(i int) {
		row := m.R[i*d:][:d]
		for j, v := range row {
			// Dividing by the larger root first gives the same bits if i and j are exchanged.
			row[j] = min(max(v/max(root[i], root[j])/min(root[i], root[j]), -1), 1)
		}
		row[i] = 1
	})
	return m
}

func (m *Matrix) correlationsOf(column int) []float64 { return m.R[column*m.D:][:m.D] }

func (m *Matrix) correlation(i, j int) float64 { return m.R[i*m.D+j] }

// RoundingBound returns an upper bound of the rounding error of a share: the share of the variance of column j that a
// combination of the columns in others leaves unexplained. weights are the weights of the combination, in units of
// standard deviations.
func (m *Matrix) RoundingBound(j int, others []int, weights []float64) float64 {
	return m.boundFromLeverSum(m.sumWeightedLevers(j, others, weights))
}

func (m *Matrix) sumWeightedLevers(column int, others []int, weights []float64) float64 {
	sum := m.lever[column]
	for k, i := range others {
		sum += m.lever[i] * math.Abs(weights[k])
	}
	return sum
}

func (m *Matrix) boundFromLeverSum(leverSum float64) float64 { return m.eps * leverSum * leverSum }

// Near is a column together with its correlation with another column.
type Near struct {
	Column      int
	Correlation float64
}

// NearestColumns returns the `count` columns whose absolute correlations with column j are largest, in descending
// order. Columns with equal correlations are sorted by name. It costs O(d log d).
func (m *Matrix) NearestColumns(j, count int) []Near {
	list := make([]Near, 0, m.D)
	for i, r := range m.correlationsOf(j) {
		if i != j {
			list = append(list, Near{i, r})
		}
	}
	slices.SortFunc(list, func(a, b Near) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Correlation), math.Abs(a.Correlation)), cmp.Compare(a.Column, b.Column))
	})
	return list[:min(count, len(list))]
}

// MemoryBytes returns an upper bound of the memory that New and the methods of a Matrix need besides the Gram matrix of
// d columns. It includes a second d×d matrix, the search for components, and lists.
func MemoryBytes(d int) int64 {
	return room.Measure(func(l *room.Layout) { new(clusterer).layOut(l, d) }) + linalg.SymmetricEigenBytes(max(min(d, maxDenseOrder), searchSpace)) +
		512*int64(d) + kernel.TeamBytes(d, d)
}
