package sketching

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// candidateEngine is the engine for a choice among a list of candidates only. For each candidate it holds a column δ of
// the residual R, which is G less the contribution of the chosen features, and it updates δ every turn. The numbers of
// a candidate in the criterion, f = ‖δ‖² and h = δᵀω, are computed from δ and are thus exact. For ω, see Step.
type candidateEngine struct {
	*engine.Criterion
	rows     *scan.Reader
	list     []int       // the candidates
	placeOf  map[int]int // index of a candidate in list
	delta    [][]float64 // by candidate, d numbers each
	diagonal []float64   // of G
	column   []float64   // column of G of the latest choice
	omegas   [][]float64
	step     engine.Step
}

func (a *candidateEngine) layOut(l *room.Layout, d int) {
	a.diagonal, a.column, a.step.H = room.Slice[float64](l, d), room.Slice[float64](l, d), room.Slice[float64](l, d)
}

// fetchColumns makes a pass over the rows, which computes the columns of G for the new candidates at the end of list.
// The first call also computes the diagonal of G.
func (a *candidateEngine) fetchColumns(ctx context.Context, list []int) error {
	d, old := a.rows.D, len(a.list)
	fresh := list[old:]
	a.list = slices.Clone(list)
	columns := room.MakeSlice[float64](len(fresh) * d)
	for i := range fresh {
		a.delta = append(a.delta, columns[i*d:][:d])
	}
	var scratch []float64
	err := a.rows.RunPass(ctx, scan.Pass{Purpose: fmt.Sprintf("columns of %d candidates", len(fresh)), Sums: [][]float64{columns, a.diagonal}, AddBlock: func(b *scan.Block) {
		if need := len(fresh) * b.Rows; b.Sparse == nil && len(scratch) < need {
			scratch = make([]float64, need)
		}
		a.rows.AddColumns(b, columns, fresh, scratch)
		if old == 0 {
			a.rows.AddSquares(b, a.diagonal)
		}
	}, Finish: func() {
		a.rows.UnshiftColumns(columns, fresh)
		if old == 0 {
			a.rows.UnshiftSquares(a.diagonal)
		}
	}})
	if err != nil {
		return err
	}
	a.placeOf = make(map[int]int, len(list))
	for i, p := range a.list {
		a.placeOf[p] = i
	}
	return nil
}

func (a *candidateEngine) startCriterion() {
	d := a.rows.D
	f0, g0 := make([]float64, d), slices.Clone(a.diagonal)
	kernel.Each(a.rows.Workers, len(a.list), func(i int) { f0[a.list[i]] = kernel.Dot(a.delta[i], a.delta[i]) })
	for i := range g0 {
		g0[i] = max(g0[i], 0)
	}
	a.Criterion = engine.NewCriterion(f0, g0, true, nil)
	for i := range a.Alive {
		_, isCandidate := a.placeOf[i]
		a.Alive[i] = a.Alive[i] && isCandidate
	}
	a.omegas = nil
}

// restoreColumns turns the candidates' columns of the residual R back into columns of G = R + Σ ωωᵀ.
func (a *candidateEngine) restoreColumns() {
	kernel.Each(a.rows.Workers, len(a.list), func(i int) {
		for _, w := range a.omegas {
			kernel.Axpy(w[a.list[i]], w, a.delta[i])
		}
	})
}

func (a *candidateEngine) MakeExact(context.Context, []int) error {
	kernel.Each(a.rows.Workers, len(a.list), func(i int) {
		if p := a.list[i]; a.Alive[p] {
			a.SetExact(p, kernel.Dot(a.delta[i], a.delta[i]), a.TargetNorm[p])
		}
	})
	return nil
}

func (a *candidateEngine) TakeFeature(_ context.Context, p int) (*engine.Step, error) {
	root := math.Sqrt(a.G[p])
	omega := slices.Clone(a.delta[a.placeOf[p]])
	copy(a.column, omega)
	for _, w := range a.omegas {
		kernel.Axpy(w[p], w, a.column)
	}
	floats.Scale(1/root, omega)
	s := &a.step
	s.Omega, s.Column, s.Score = omega, a.column, kernel.Dot(omega, omega)
	s.HErr.Reach = engine.RoundingBound(a.rows.D) * math.Sqrt(s.Score)
	clear(s.H)
	kernel.Each(a.rows.Workers, len(a.list), func(i int) {
		delta, q := a.delta[i], a.list[i]
		s.H[q] = kernel.Dot(delta, omega)
		kernel.Axpy(-omega[q], omega, delta)
	})
	a.omegas = append(a.omegas, omega)
	return s, nil
}

// StartNextLayer ends the selection: there is no second layer among the candidates.
func (a *candidateEngine) StartNextLayer(_ context.Context, excluded []bool) (*engine.Criterion, error) {
	a.Criterion = engine.NewCriterion(make([]float64, a.FeatureCount), make([]float64, a.FeatureCount), true, excluded)
	return a.Criterion, nil
}

func (a *candidateEngine) ScoreUnit() float64 { return 1 / a.rows.Unit }
