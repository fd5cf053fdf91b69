package udfs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// epsilon keeps D finite where a row of W vanishes.
	epsilon = 1e-8
	// nullShare is the cost, as a share of ‖M‖, below which a direction counts as free: M is
	// known to some 1e-14.
	nullShare = 1e-8
	// knownShare is the largest relative error of W's row norms with which a ranking means
	// something.
	knownShare = 1e-4
)

// solver minimizes Tr(WᵀMW) + γΣ√(‖wᵢ‖² + ε) over WᵀW = I.
type solver struct {
	d, c  int
	gamma float64
	form  form
	norm  float64 // the largest norm of a column of M
	warm  kernel.Matrix[float64]
}

func newSolver(f form, d, c int, gamma float64) *solver {
	return &solver{d: d, c: c, gamma: gamma, form: f, norm: f.norm()}
}

// solverBytes is what a solver holds beside M, or X.
func solverBytes(n int64, d, c int) int64 {
	vectors := 8 * int64(d) * int64(8*c+64) // W's, their bases and products
	if isWide(n, d) {
		rows := int(n)
		return vectors + 8*(4*n*n+n*int64(d)) + linalg.LowRankBytes(rows, d, 2*c+4) + // U, its axes, L, LV and T
			linalg.SmallestFormBytes(d, pairs(d, c), linalg.EigenOptions{}) + kernel.TeamBytes(d, rows)
	}
	return vectors + 16*int64(d)*int64(d) + // A and at the start a factor
		linalg.SmallestBytes(d, pairs(d, c), linalg.EigenOptions{}) + linalg.CholeskyBytes(d) + kernel.TeamBytes(d, d)
}

// update is one W.
type update struct {
	norms     []float64 // of W's rows
	objective float64
	gap       float64 // between the last eigenvalue taken and the next; +Inf for c = d
	next      float64 // the next
	slack     float64 // what rounding may have added to the objective
}

// minimize finds W for the diagonal D = diag(q).
func (s *solver) minimize(q []float64) (*update, error) {
	d, c := s.d, s.c
	weights := make([]float64, d)
	var size float64
	for i, v := range q {
		weights[i] = s.gamma * v
		size = max(size, weights[i])
	}
	e, err := s.form.smallest(weights, s.warm)
	if err != nil {
		return nil, fmt.Errorf("udfs: %w", err)
	}
	s.warm = e.Basis
	w := kernel.RowMajor(make([]float64, d*c), d, c, c)
	kernel.Copy(w, e.Vectors.Sub(0, 0, d, c))
	u := &update{norms: make([]float64, d), objective: s.form.cost(w), gap: math.Inf(1), next: math.Inf(1)}
	for i := range d {
		row := w.Data[i*c:][:c]
		square := kernel.Dot(row, row)
		u.norms[i] = math.Sqrt(square)
		u.objective += s.gamma * math.Sqrt(square+epsilon)
	}
	if len(e.Values) > c {
		u.next = e.Values[c]
		u.gap = u.next - e.Values[c-1]
	}
	// The pairs are off by no more than 4·tol + residual, tol = √d·2⁻⁴⁹ of the norm; twice
	// that is allowed, and the rounding of M's own products.
	u.slack = float64(c) * 9 * math.Sqrt(float64(d)) * 0x1p-49 * (s.norm + size)
	return u, nil
}

// determined reports whether W's row norms are known: by Davis and Kahan the space of W turns
// by no more than M's error, √d·2⁻⁵² of its norm, over the gap.
func (s *solver) determined(u *update) bool {
	return math.Sqrt(float64(s.d)*float64(s.c))*0x1p-52*s.norm <= knownShare*u.gap
}

// spread writes the D of the mean ‖wᵢ‖² over all W of directions that cost nothing, c·P_ii/Tr(P)
// for the projection P on them, which is P ≈ τ(M + τI)⁻¹ with τ = nullShare·‖M‖: smooth in M,
// where the eigenvectors themselves are rounding.
func (s *solver) spread(q []float64) error {
	squares, err := s.form.free(nullShare * s.norm)
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

// start is the first W, of D = I or of the mean of all choices.
func (s *solver) start() (u *update, spread bool, err error) {
	q := make([]float64, s.d)
	for i := range q {
		q[i] = 1
	}
	if u, err = s.minimize(q); err != nil {
		return nil, false, err
	}
	if !(s.gamma > 0 && s.norm > 0 && u.next-s.gamma <= nullShare*s.norm) {
		return u, false, nil
	}
	if err := s.spread(q); err != nil {
		return nil, false, err
	}
	s.warm = kernel.Matrix[float64]{}
	u, err = s.minimize(q)
	return u, true, err
}

// values are what an update needs beside M: see stream.Stage. u is the W that is to be judged,
// and best the one before.
func (s *solver) values(u, best *update, spread *bool, objective *[]float64) []any {
	w := &s.warm
	list := []any{spread, objective, &w.Data, &w.Rows, &w.Cols, &w.RowStride, &w.ColStride}
	for _, x := range []*update{u, best} {
		list = append(list, &x.norms, &x.objective, &x.gap, &x.next, &x.slack)
	}
	return list
}

// run iterates until the objective settles.
func (s *solver) run(ctx context.Context, opt Options) (*Result, error) {
	r := &Result{}
	u, best, spread := new(update), new(update), false
	stage := stream.StageOf(opt.Stages, "rows", stream.InMemory{})
	progress, err := stage.Load(ctx, s.values(u, best, &spread, &r.Objective)...)
	if err == nil && progress == stream.StageNew {
		u, spread, err = s.start()
		best = u
	}
	if err != nil {
		return nil, err
	}
	if spread {
		r.warn("more than %d directions cost nothing, as where features outnumber rows: started from the mean of all choices", s.c)
	}
	for t := len(r.Objective) + 1; ; t++ {
		r.Objective = append(r.Objective, u.objective)
		if opt.Progress != nil {
			opt.Progress(t, u.objective)
		}
		if t > 1 {
			last := r.Objective[t-2]
			// The sums over d rows round too.
			allowed := u.slack + float64(s.d)*0x1p-52*(math.Abs(last)+math.Abs(u.objective))
			if !(u.objective-last <= allowed) {
				r.Rose = &method.Rise{Iteration: t, From: last, To: u.objective, Allowed: allowed}
				break
			}
			best = u
			if last-u.objective <= opt.Tol*math.Abs(u.objective) {
				r.Converged = true
				break
			}
		}
		if t == opt.MaxIter {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := make([]float64, s.d)
		for i, v := range best.norms {
			q[i] = 0.5 / math.Sqrt(v*v+epsilon)
		}
		if u, err = s.minimize(q); err != nil {
			return nil, err
		}
		if err := stage.Save(ctx, t, s.values(u, best, &spread, &r.Objective)...); err != nil {
			return nil, err
		}
	}
	r.Scores = best.norms
	r.Order, r.Ties = rank(best.norms)
	if s.c == s.d {
		r.warn("{clusters} %d for as many features leave every feature the same norm: column order decides; want fewer {clusters}", s.c)
	} else if !s.determined(best) {
		r.warn("eigenvalues %d and %d of the last update are equal to rounding: another W costs as little and may rank otherwise; try another {clusters}", s.c, s.c+1)
	}
	return r, nil
}

// rank orders features by falling norm. Norms that agree to 1e-10 count as equal and stand in
// column order: the eigenvectors' own error in a row that γD keeps small is some 1e-13.
func rank(norms []float64) ([]int, method.Ties) {
	return method.Rank(norms, func(largest, norm float64) bool { return norm >= largest*(1-1e-10)-1e-12 })
}
