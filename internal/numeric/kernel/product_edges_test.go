package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// A view whose strides are both more than 1 is packed element by element.
func TestAnyStride(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r, team := rand.New(rand.NewPCG(4, 4)), newTeam(2, p)
		const m, n, k = 13, 29, 11
		a, b, c := newGuarded[float64](r, 2*m, 3*k, false), newGuarded[float64](r, k, n, true), newGuarded[float64](r, m, n, false)
		every := a.Matrix
		every.Rows, every.Cols, every.RowStride, every.ColStride = m, k, 2*a.RowStride, 3
		got := c.clone()
		Gemm(team, 1, every, b.Matrix, got.Matrix)
		rows, columns := guarded[float64]{Matrix: every}.lines(), guarded[float64]{Matrix: b.Trans()}.lines()
		for i, row := range rows {
			for j, column := range columns {
				want := spec(p, 1, c.at(i, j), row, column)
				if got.at(i, j) != want {
					t.Fatalf("[%d,%d] = %g, want %g", i, j, got.at(i, j), want)
				}
			}
		}
	})
}

// NaN and infinities reach the rows and columns they belong to and no other, even
// against zeros.
func TestConfinesNaN(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		const d, rows, nan, inf, zero = 133, 70, 67, 2, 5
		r := rand.New(rand.NewPCG(5, 5))
		x := newGuarded[float64](r, d, rows, false)
		for k := range rows {
			x.Data[nan*x.RowStride+k], x.Data[inf*x.RowStride+k], x.Data[zero*x.RowStride+k] = math.NaN(), 1e300, 0
		}
		g := make([]float64, d*d)
		Syrk(newTeam(2, p), 1, x.Matrix, RowMajor(g, d, d, d))
		for i := range d {
			for j := i; j < d; j++ {
				v := g[i*d+j]
				switch {
				case i == nan || j == nan:
					if !math.IsNaN(v) {
						t.Fatalf("[%d,%d] = %g, want NaN", i, j, v)
					}
				case i == inf && j == inf:
					if !math.IsInf(v, 1) {
						t.Fatalf("[%d,%d] = %g, want +Inf", i, j, v)
					}
				case i == zero || j == zero:
					if v != 0 {
						t.Fatalf("[%d,%d] = %g, want 0", i, j, v)
					}
				case math.IsNaN(v) || math.IsInf(v, 0):
					t.Fatalf("[%d,%d] = %g, want a finite number", i, j, v)
				}
			}
		}
	})
}

// Shapes that do not fit, and views longer than their data, are refused: the assembly
// would read on.
func TestRefusesWrongShapes(t *testing.T) {
	team, v := NewTeam(1), make([]float64, 11)
	for name, call := range map[string]func(){
		"inner": func() { Gemm(team, 1, RowMajor(v, 2, 3, 3), RowMajor(v, 2, 2, 2), RowMajor(v, 2, 2, 2)) },
		"outer": func() { Gemm(team, 1, RowMajor(v, 2, 3, 3), RowMajor(v, 3, 2, 2), RowMajor(v, 2, 3, 3)) },
		"short": func() {
			Gemm(team, 1, RowMajor(v, 4, 3, 3), RowMajor(v, 3, 2, 2), RowMajor(make([]float64, 8), 4, 2, 2))
		},
		"square": func() { Syrk(team, 1, RowMajor(v, 2, 3, 3), RowMajor(v, 2, 3, 3)) },
		"strides": func() {
			Gemm(team, 1, Matrix[float64]{v, 9, 1, math.MaxInt/4 + 1, 1}, RowMajor(v, 1, 1, 1), RowMajor(v, 9, 1, 1))
		},
		"columns": func() { Syrk(team, 1, RowMajor(v, 2, 3, 3), ColMajor(v, 2, 2, 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			call()
		})
	}
}

// A steady state allocates nothing, and a team holds no more than TeamBytes.
func TestTeamMemory(t *testing.T) {
	for _, d := range []int{1, 100, superBlock + 1} {
		for _, workers := range []int{1, 3} {
			if !long.IsOn() && d > superBlock && workers == 1 {
				continue
			}
			team, x, g := NewTeam(workers), make([]float64, d*300), make([]float64, d*d)
			team.minSharedSize = 0
			run := func() { Syrk(team, 1, RowMajor(x, d, 300, 300), RowMajor(g, d, d, d)) }
			if n := testing.AllocsPerRun(3, run); n != 0 {
				t.Errorf("d = %d, %d workers: %g allocations a product", d, workers, n)
			}
			size := 8 * int64(cap(team.f64.packedA)+cap(team.f64.packedB)+cap(team.f64.edges))
			if size > TeamBytes(d, d) {
				t.Errorf("d = %d: holds %d bytes, TeamBytes says %d", d, size, TeamBytes(d, d))
			}
		}
	}
}
