package udfs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// epsilon keeps D finite if a row of W is 0.
	epsilon = 1e-8
	// nullShare: a direction w has no cost, apart from rounding, if wᵀMw is below this share of ‖M‖. The relative error of
	// M is about 1e-14.
	nullShare = 1e-8
	// normErrorShare is the largest relative error of W's row norms for which a ranking is meaningful.
	normErrorShare = 1e-4
)

// solver minimizes Tr(WᵀMW) + γΣ√(‖wᵢ‖² + ε) over WᵀW = I.
type solver struct {
	d, c  int
	gamma float64
	form  scatterForm
	norm  float64                // the largest norm of a column of M
	warm  kernel.Matrix[float64] // last eigenvectors, from which the next computation starts
}

func newSolver(f scatterForm, d, c int, gamma float64) *solver {
	return &solver{d: d, c: c, gamma: gamma, form: f, norm: f.largestColumnNorm()}
}

func solverBytes(n int64, d, c int) int64 {
	vectors := 8 * int64(d) * int64(8*c+64) // W's, with their bases and products
	if isWide(n, d) {
		rows := int(n)
		return vectors + 8*(4*n*n+n*int64(d)) + linalg.LowRankBytes(rows, d, 2*c+4) + // U, its axes, L, LV and T
			linalg.SmallestFormBytes(d, pairCount(d, c), linalg.EigenOptions{}) + kernel.TeamBytes(d, rows)
	}
	return vectors + 8*int64(d)*int64(d) + // A
		linalg.SmallestBytes(d, pairCount(d, c), linalg.EigenOptions{}) + linalg.CholeskyBytes(d) + kernel.TeamBytes(d, d)
}

// projectionUpdate describes the projection W that an update has found.
type projectionUpdate struct {
	norms     []float64 // of W's rows
	objective float64
	gap       float64 // difference of nextValue and the largest used eigenvalue; +Inf for c = d
	nextValue float64 // smallest eigenvalue that W does not use
	slack     float64 // bound of the rounding error of the objective
}

// minimizeTrace computes the W with WᵀW = I that minimizes Tr(Wᵀ(M + γD)W) for D = diag(q).
func (s *solver) minimizeTrace(q []float64) (*projectionUpdate, error) {
	d, c := s.d, s.c
	weights := make([]float64, d)
	var size float64
	for i, v := range q {
		weights[i] = s.gamma * v
		size = max(size, weights[i])
	}
	e, err := s.form.smallestPairs(weights, s.warm)
	if err != nil {
		return nil, fmt.Errorf("udfs: %w", err)
	}
	s.warm = e.Basis
	w := kernel.RowMajor(make([]float64, d*c), d, c, c)
	kernel.Copy(w, e.Vectors.Sub(0, 0, d, c))
	u := &projectionUpdate{norms: make([]float64, d), objective: s.form.traceCost(w), gap: math.Inf(1), nextValue: math.Inf(1)}
	for i := range d {
		row := w.Data[i*c:][:c]
		square := kernel.Dot(row, row)
		u.norms[i] = math.Sqrt(square)
		u.objective += s.gamma * math.Sqrt(square+epsilon)
	}
	if len(e.Values) > c {
		u.nextValue = e.Values[c]
		u.gap = u.nextValue - e.Values[c-1]
	}
	// The error of the eigenpairs is at most 4·tol + residual, and tol is √d·2⁻⁴⁹ of the norm. The slack is twice this
	// error, plus the rounding error of the products in M.
	u.slack = float64(c) * 9 * math.Sqrt(float64(d)) * 0x1p-49 * (s.norm + size)
	return u, nil
}

// hasKnownNorms reports whether the row norms of W are accurate. The error of M is √d·2⁻⁵² of its norm. By the theorem
// of Davis and Kahan, it rotates the space of the c columns of W by at most √c times this error divided by the gap
// u.gap.
func (s *solver) hasKnownNorms(u *projectionUpdate) bool {
	return math.Sqrt(float64(s.d)*float64(s.c))*0x1p-52*s.norm <= normErrorShare*u.gap
}

// setMeanDiagonal sets q to the D of the package comment, for the mean of ‖wᵢ‖² over all W whose directions have no
// cost. This mean is c·P_ii/Tr(P), with P the projection on the directions without cost. P ≈ τ(M + τI)⁻¹ with τ =
// nullShare·‖M‖ depends smoothly on M, while the eigenvectors themselves are determined only by rounding.
func (s *solver) setMeanDiagonal(q []float64) error {
	squares, err := s.form.inverseDiagonal(nullShare * s.norm)
	if err != nil {
		return fmt.Errorf("udfs: start: %w", err)
	}
	var trace float64
	for _, v := range squares {
		trace += v
	}
	for i, v := range squares {
		q[i] = 0.5 / math.Sqrt(float64(s.c)*v/trace+epsilon)
	}
	return nil
}

// firstUpdate computes the first W, with D = I. If more than c directions have no cost, it uses the D of
// setMeanDiagonal instead, and isMean is true.
func (s *solver) firstUpdate() (u *projectionUpdate, isMean bool, err error) {
	q := make([]float64, s.d)
	for i := range q {
		q[i] = 1
	}
	if u, err = s.minimizeTrace(q); err != nil {
		return nil, false, err
	}
	if !(s.gamma > 0 && s.norm > 0 && u.nextValue-s.gamma <= nullShare*s.norm) {
		return u, false, nil
	}
	if err := s.setMeanDiagonal(q); err != nil {
		return nil, false, err
	}
	s.warm = kernel.Matrix[float64]{}
	u, err = s.minimizeTrace(q)
	return u, true, err
}

// savedState returns the values that stream.Stage must save in addition to M. u describes the last W, whose objective
// has not been compared yet, and best the W before it.
func (s *solver) savedState(u, best *projectionUpdate, isMean *bool, objective *[]float64) []any {
	w := &s.warm
	list := []any{isMean, objective, &w.Data, &w.Rows, &w.Cols, &w.RowStride, &w.ColStride}
	for _, x := range []*projectionUpdate{u, best} {
		list = append(list, &x.norms, &x.objective, &x.gap, &x.nextValue, &x.slack)
	}
	return list
}

func (s *solver) runUpdates(ctx context.Context, opt Options) (*Result, error) {
	r := &Result{}
	u, best, isMean := new(projectionUpdate), new(projectionUpdate), false
	stage := stream.StageOf(opt.Stages, "rows", stream.InMemory{})
	progress, err := stage.Load(ctx, s.savedState(u, best, &isMean, &r.Objective)...)
	if err == nil && progress == stream.StageNew {
		u, isMean, err = s.firstUpdate()
		best = u
	}
	if err != nil {
		return nil, err
	}
	if isMean {
		r.addWarning("more than %d directions cost nothing, as when features outnumber rows: the iteration started from the mean of all choices", s.c)
	}
	for t := len(r.Objective) + 1; ; t++ {
		// The sums over d rows have rounding errors too.
		allowed := u.slack + float64(s.d)*0x1p-52*(math.Abs(best.objective)+math.Abs(u.objective))
		if !r.RecordStep(t, u.objective, allowed, opt.Tol, opt.Progress) {
			break
		}
		if best = u; r.Converged || t == opt.MaxIter {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := make([]float64, s.d)
		for i, v := range best.norms {
			q[i] = 0.5 / math.Sqrt(v*v+epsilon)
		}
		if u, err = s.minimizeTrace(q); err != nil {
			return nil, err
		}
		if err := stage.Save(ctx, t, s.savedState(u, best, &isMean, &r.Objective)...); err != nil {
			return nil, err
		}
	}
	r.Scores = best.norms
	r.Order, r.Ties = rankByNorm(best.norms)
	if s.c == s.d {
		r.addWarning("{clusters} %d for as many features leave every feature the same norm: column order decides; want fewer {clusters}", s.c)
	} else if !s.hasKnownNorms(best) {
		r.addWarning("eigenvalues %d and %d of the last update are equal to rounding: another W costs as little and may rank otherwise; try another {clusters}", s.c, s.c+1)
	}
	return r, nil
}

// rankByNorm sorts features by descending norm. Norms are considered equal if they agree to 1e-10; their features are
// in column order. In a row of W that γD keeps small, the eigenvectors have an error of about 1e-13.
func rankByNorm(norms []float64) ([]int, method.Ties) {
	return method.Rank(norms, func(largest, norm float64) bool { return norm >= largest*(1-1e-10)-1e-12 })
}
