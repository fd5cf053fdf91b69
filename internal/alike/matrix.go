package alike

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Matrix is the correlation matrix of D columns in the order of their names.
type Matrix struct {
	D      int
	Names  []string
	Source []int     // the place of each column in what New was given
	R      []float64 // D×D row-major, both triangles; 1 on the diagonal

	team  *kernel.Team
	eps   float64   // ε
	lever []float64 // a
}

// Data is a Gram matrix of columns less their means.
type Data struct {
	Names []string  // no two alike
	Gram  []float64 // d×d row-major, both triangles; used up. No column is constant
	Rows  int64     // that it is of
	// Lever is how long each column is about the pilot that it was summed about, in lengths about its
	// mean: 1 and more. Nil means 1.
	Lever []float64
}

// New makes the correlation matrix in place of the Gram matrix, in O(d²). It holds O(d) beside it.
func New(team *kernel.Team, data Data) *Matrix {
	d := len(data.Names)
	m := &Matrix{D: d, R: data.Gram, team: team, Source: make([]int, d)}
	m.eps = (256 + float64(data.Rows)/256 + float64(d)) * 0x1p-52
	for j := range m.Source {
		m.Source[j] = j
	}
	slices.SortFunc(m.Source, func(a, b int) int { return cmp.Compare(data.Names[a], data.Names[b]) })
	permute(m.R, m.Source)
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
			// Alike with i and j exchanged.
			row[j] = min(max(v/max(root[i], root[j])/min(root[i], root[j]), -1), 1)
		}
		row[i] = 1
	})
	return m
}

// row is row i of R.
func (m *Matrix) row(i int) []float64 { return m.R[i*m.D:][:m.D] }

// at is the correlation of columns i and j.
func (m *Matrix) at(i, j int) float64 { return m.R[i*m.D+j] }

// permute puts rows and columns of the d×d matrix into the order given, in place.
func permute(a []float64, order []int) {
	d := len(order)
	room := make([]float64, d)
	for i := range d {
		row := a[i*d:][:d]
		for k, j := range order {
			room[k] = row[j]
		}
		copy(row, room)
	}
	done := make([]bool, d)
	for first := range d { // row k comes from row order[k], cycle by cycle
		if done[first] || order[first] == first {
			continue
		}
		copy(room, a[first*d:][:d])
		k := first
		for ; order[k] != first; k = order[k] {
			copy(a[k*d:][:d], a[order[k]*d:][:d])
			done[k] = true
		}
		copy(a[k*d:][:d], room)
		done[k] = true
	}
}

// Bound is the share of column j that is rounding beside a combination of others by the weights, in
// standard deviations.
func (m *Matrix) Bound(j int, others []int, weights []float64) float64 {
	return m.bound(m.spread(j, others, weights))
}

func (m *Matrix) spread(j int, others []int, weights []float64) float64 {
	sum := m.lever[j]
	for k, i := range others {
		sum += m.lever[i] * math.Abs(weights[k])
	}
	return sum
}

func (m *Matrix) bound(spread float64) float64 { return m.eps * spread * spread }

// Near is a column and how it is correlated with another one.
type Near struct {
	Column      int
	Correlation float64
}

// Nearest are the count columns that are most correlated with column j by size, the nearest first and equal ones
// by name. Costs O(d log d).
func (m *Matrix) Nearest(j, count int) []Near {
	list := make([]Near, 0, m.D)
	for i, r := range m.row(j) {
		if i != j {
			list = append(list, Near{i, r})
		}
	}
	slices.SortFunc(list, func(a, b Near) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Correlation), math.Abs(a.Correlation)), cmp.Compare(a.Column, b.Column))
	})
	return list[:min(count, len(list))]
}

// Bytes is what the methods hold beside the Gram matrix of d columns, the largest of them: one further
// d×d matrix, the search for components, and lists.
func Bytes(d int) int64 {
	n := int64(d)
	return 8*n*n + componentBytes(d) + 512*n + kernel.TeamBytes(d, d)
}
