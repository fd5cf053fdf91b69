package survey

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// The sums of squared correlations are those of the definition, for fewer columns than rows and for more.
func TestCorrelationsAreTheirDefinition(t *testing.T) {
	for _, c := range []struct{ n, d int }{{40, 12}, {12, 40}, {5, 1030}} {
		table, _ := makeLake(3, c.n, 2, c.d, 0, false)
		n, d := table.Rows, table.Cols
		x := append([]float64(nil), table.Values...)
		sums, squares, cubes := powersOf(x, n, d)
		m := make([][]float64, d)
		for i := range m {
			m[i] = make([]float64, d)
			for j := range m[i] {
				for k := range n {
					a, b := table.Columns[i], table.Columns[j]
					m[i][j] += (table.Values[k*d+i] - a.Mean) * (table.Values[k*d+j] - b.Mean) / a.Std / b.Std / float64(n)
				}
			}
		}
		wantSquares, wantCubes := 0.0, 0.0
		for i := range m {
			want := 0.0
			for j := range m {
				want += m[i][j] * m[i][j]
				if d < 100 {
					for k := range m {
						wantCubes += m[i][j] * m[j][k] * m[k][i]
					}
				}
			}
			wantSquares += want
			if !isNear(sums[i], want) {
				t.Errorf("%+v, column %d: %v, want %v", c, i, sums[i], want)
			}
		}
		if !isNear(squares, wantSquares) || d < 100 && !isNear(cubes, wantCubes) {
			t.Errorf("%+v: traces %v, %v, want %v, %v", c, squares, cubes, wantSquares, wantCubes)
		}
	}
}

func powersOf(x []float64, n, d int) (sums []float64, squares, cubes float64) {
	team := kernel.NewTeam(1)
	standardizeColumns(team, x, n, d)
	return computeColumnPowers(team, x, n, d)
}

// isNear is for numbers of the size of the columns' number, from sums of as many terms.
func isNear(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(math.Abs(want), 1) }

// Chance is that of random directions: its mean, deviation and the share above three deviations, also
// of columns that go together, where few directions rule and the tail is long.
func TestChanceIsThatOfRandomDirections(t *testing.T) {
	const n, draws = 30, 20000
	for _, factors := range []int{1, 3, 10} {
		table, _ := makeLake(uint64(factors), n, factors, 5, 0, false)
		d := table.Cols
		x := append([]float64(nil), table.Values...)
		_, squares, cubes := powersOf(x, n, d)
		c := newChanceDistribution(n-1, float64(d), squares, cubes)
		r := rand.New(rand.NewPCG(9, 9))
		mean, square, beyond := 0.0, 0.0, 0
		u := make([]float64, n)
		for range draws {
			total, length := 0.0, 0.0
			for i := range u {
				u[i] = r.NormFloat64()
				total += u[i] / n
			}
			for i := range u {
				u[i] -= total
				length += u[i] * u[i]
			}
			value := 0.0
			for j := range d {
				dot := 0.0
				for i := range u {
					dot += u[i] * x[i*d+j]
				}
				value += dot * dot / length
			}
			mean += value / draws
			square += value * value / draws
			if c.standardScore(value) > 3 {
				beyond++
			}
		}
		deviate := math.Sqrt(square - mean*mean)
		// The mean of 20,000 draws is within 4 of its standard errors, the deviation within 6 %.
		if math.Abs(mean-c.mean) > 4*c.deviate/math.Sqrt(draws) || math.Abs(deviate/c.deviate-1) > 0.06 {
			t.Errorf("%d factors: %v ± %v, want %v ± %v", factors, c.mean, c.deviate, mean, deviate)
		}
		// 27 of 20,000 normals are above 3.
		if beyond > 60 {
			t.Errorf("%d factors: %d of %d draws are above 3 deviations", factors, beyond, draws)
		}
	}
}

// Rows of the surrogate have the covariance of the points, and adopt the values of their columns.
func TestSurrogateHasTheCovariance(t *testing.T) {
	table, _ := makeLake(5, 60, 2, 2, 3, false)
	n, d := table.Rows, table.Cols
	x := make([]float64, n*d)
	for i := range n {
		for j := range d {
			x[i*d+j] = table.Values[i*d+j] - table.Columns[j].Mean
		}
	}
	product := func(x []float64) []float64 {
		out := make([]float64, d*d)
		kernel.Gemm(kernel.NewTeam(1), 1/float64(n), kernel.RowMajor(x, n, d, d).Trans(), kernel.RowMajor(x, n, d, d), kernel.RowMajor(out, d, d, d))
		return out
	}
	const draws = 200
	want, got := product(x), make([]float64, d*d)
	for seed := range uint64(draws) {
		kernel.Axpy(1./draws, product(makeSurrogate(kernel.NewTeam(1), x, n, d, seed)), got)
	}
	rows := makeSurrogate(kernel.NewTeam(2), x, n, d, 1)
	adoptValues(kernel.NewTeam(2), rows, x, n, d)
	for j := range d {
		if a, b := sortedColumn(rows, n, d, j), sortedColumn(x, n, d, j); !slices.Equal(a, b) {
			t.Errorf("column %d has values %v, want %v", j, a, b)
		}
	}
	for k, v := range got {
		// The mean over 12,000 rows has a standard error of √(gᵢgⱼ(1+ρ²)/12,000); 5 of them.
		i, j := k/d, k%d
		if limit := 5 * math.Sqrt(2*want[i*d+i]*want[j*d+j]/draws/float64(n)); math.Abs(v-want[k]) > limit {
			t.Errorf("columns %d and %d: %v, want %v ± %v", i, j, v, want[k], limit)
		}
	}
}

func sortedColumn(x []float64, n, d, j int) (column []float64) {
	for i := range n {
		column = append(column, x[i*d+j])
	}
	slices.Sort(column)
	return column
}

// TestLayout: correlations and surrogates take the memory of their layouts, and no more.
func TestLayout(t *testing.T) {
	team := kernel.NewTeam(1)
	for _, c := range []struct{ m, d int }{{700, 400}, {300, 900}, {200, 5000}} {
		x, name := make([]float64, c.m*c.d), fmt.Sprintf("%+v", c)
		declared := room.Measure(func(l *room.Layout) { layOutColumnPowers(l, c.m, c.d) })
		roomtest.CheckLayout(t, "correlations of "+name, declared, func() { computeColumnPowers(team, x, c.m, c.d) })
		declared = room.Measure(func(l *room.Layout) { layOutSurrogate(l, c.m, c.d) })
		roomtest.CheckLayout(t, "surrogate of "+name, declared, func() { makeSurrogate(team, x, c.m, c.d, 1) })
	}
}
