package sogfs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// projectionUpdates is the number of updates of W in a round.
const projectionUpdates = 3

// Result is a ranking of all d features.
type Result struct {
	method.Descent     // its scores are ‖wᵢ‖; an objective is that of its round's λ
	Components     int // number of connected components of the last graph
	Warnings       []stream.Text
}

func (r *Result) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}

// problem is the objective of SOGFS for n rows X of d features in c clusters, with the current solution.
type problem struct {
	n, d, c, k    int
	team          *kernel.Team
	alpha, lambda float64
	x             kernel.Matrix[float64] // n×d, centred
	longest       float64                // length of the longest row of X
	projection    *rowsparse.Solver
	scatter       scatterMatrix

	near       []rows.Neighbour       // n×k, the rows that have an entry in a row of S, and their d_ij
	s          []float64              // n×k, the entries
	w          kernel.Matrix[float64] // W, d×m
	f          kernel.Matrix[float64] // F, n×c
	components int
	isMean     bool // the first W is a mean of all choices
	isTied     bool // another F has the same cost
	isKnown    bool // rounding does not decide the norms of W's rows
	// The objective is fixed + λ·cut. slack bounds the rounding errors of fixed, and top the eigenvalues of L.
	fixed, cut, slack, top float64

	xw, points kernel.Matrix[float64] // XW, n×m, and (XW, √λ·F), n×(m+c)
}

func (p *problem) layOut(l *room.Layout, m int) {
	p.near, p.s = room.Slice[rows.Neighbour](l, p.n*p.k), room.Slice[float64](l, p.n*p.k)
	p.xw, p.points = kernel.NewMatrix[float64](l, p.n, m), kernel.NewMatrix[float64](l, p.n, m+p.c)
}

// RankBytes bounds the memory of RankFeatures in addition to the n×d rows.
func RankBytes(n int64, d int, opt Options) int64 {
	opt = opt.WithDefaults(n, d)
	rowCount, k, c, m := int(n), opt.Neighbors, opt.Clusters, opt.Dimensions
	return room.Measure(func(l *room.Layout) {
		(&problem{n: rowCount, d: d, c: c, k: k}).layOut(l, m)
		new(scatterMatrix).layOut(l, rowCount, d)
		l.Add(n * int64(k) * rows.NeighbourBytes) // the graph
		l.Phase(func() { l.Add(max(rows.SearchBytes(n, d, k+1, opt.Threads), rows.SearchBytes(n, m+c, k, opt.Threads))) })
		l.Add(rowsparse.SolverBytes(n, d, m))
		l.Add(spectral.EmbedRowsBytes(rowCount, c) + kernel.TeamBytes(max(rowCount, d), max(rowCount, d)))
	})
}

// RankFeatures ranks the features of the n×d rows of x, row-major, which it centres and scales in place. It needs the memory given
// by [RankBytes]. The first search for neighbours costs 2·n²·d flops in float32. A round costs 2·n²·(m+c) such flops, the
// c smallest eigenpairs of an n×n matrix, 2·n·d² flops for XᵀLX, and about d³ for each update of W. If there are at least
// twice as many features as rows, the last two cost n³ and n²·d instead.
//
// Errors are a *[stream.UsageError] for wrong options, a *[stream.DataError] for fewer than two rows or rows that all
// equal their nearest, the context's error, or an error that wraps an error of package linalg.
func RankFeatures(ctx context.Context, x []float64, n, d int, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(int64(n), d)
	if n < 2 || d < 1 {
		return nil, stream.Dataf("", "%d rows of %d features: similarities take two rows", n, d)
	}
	p := &problem{n: n, d: d, c: opt.Clusters, k: opt.Neighbors, team: kernel.NewTeam(opt.Threads), x: kernel.RowMajor(x[:n*d], n, d, d)}
	if err := p.scaleRows(); err != nil {
		return nil, err
	}
	p.layOut(nil, opt.Dimensions)
	if err := p.scatter.prepareMatrix(ctx, p.team, p.x, opt.Dimensions); err != nil {
		return nil, fmt.Errorf("sogfs: %w", err)
	}
	return p.runRounds(ctx, opt)
}

// scaleRows centres X, and divides it by √(Tr(XᵀX)/d), so that γ has the same meaning for any units and number of rows.
func (p *problem) scaleRows() error {
	rows.CentreColumns(p.x)
	x := p.x.Data
	unit := math.Sqrt(kernel.Dot(x, x) / float64(p.d))
	if unit-unit != 0 {
		return fmt.Errorf("sogfs: sum of squares: %w", linalg.ErrNotFinite)
	}
	if unit == 0 {
		return stream.Dataf("", "every feature is constant")
	}
	for i := range x {
		x[i] /= unit
	}
	for i := range p.n {
		row := x[i*p.d:][:p.d]
		p.longest = max(p.longest, math.Sqrt(kernel.Dot(row, row)))
	}
	return nil
}

func (p *problem) runRounds(ctx context.Context, opt Options) (*Result, error) {
	r, u := &Result{}, new(rowsparse.Projection)
	r.FromStart = true
	p.projection = rowsparse.NewSolver(p.scatter.matrix, p.d, opt.Dimensions, opt.Gamma/2)
	state := func() []any {
		return append(p.projection.SavedState(u), &r.Objective, &p.alpha, &p.lambda, &p.w.Data, &p.f.Data, &p.components, &p.isMean, &p.isTied, &p.isKnown, &p.fixed, &p.cut)
	}
	stage := stream.StageOf(opt.Stages, "rows", stream.InMemory{})
	progress, err := stage.Load(ctx, state()...)
	if err == nil && progress == stream.StageNew {
		if err = p.startSimilarities(ctx); err == nil {
			u, err = p.updateFromGraph(ctx, nil)
			r.Objective = []float64{p.fixed + p.lambda*p.cut}
		}
	}
	if err != nil {
		return nil, err
	}
	p.w, p.f = kernel.RowMajor(p.w.Data, p.d, opt.Dimensions, opt.Dimensions), kernel.RowMajor(p.f.Data, p.n, p.c, p.c)
	for t := len(r.Objective); t <= opt.MaxIter; t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before, last := p.fixed+p.lambda*p.cut, r.Objective[t-1] // they differ if λ has changed
		if err := p.updateSimilarities(ctx); err != nil {
			return nil, err
		}
		if u, err = p.updateFromGraph(ctx, u); err != nil {
			return nil, err
		}
		isDone := !r.RecordStep(t, p.fixed+p.lambda*p.cut, max(before-last, 0)+p.roundingBound(before), opt.Tol, opt.Progress)
		r.Converged = r.Converged && p.components >= p.c
		if isDone || r.Converged {
			break
		}
		switch {
		case p.components < p.c:
			p.lambda *= 2
		case p.components > p.c:
			p.lambda /= 2
		}
		if err := stage.Save(ctx, t, state()...); err != nil {
			return nil, err
		}
	}
	r.Scores, r.Components = u.Norms, p.components
	r.Order, r.Ties = method.Rank(r.Scores, rowsparse.AreTied)
	p.warnOfChance(r, opt)
	return r, nil
}

// updateFromGraph finds W, from the previous W in u, and F for the current S: steps 2 and 3 of the package comment. It
// sets the parts of the objective, and returns the last W. The first time u is nil.
func (p *problem) updateFromGraph(ctx context.Context, u *rowsparse.Projection) (*rowsparse.Projection, error) {
	halves := make([]float64, len(p.s))
	for i, v := range p.s {
		halves[i] = v / 2
	}
	g := rows.JoinWeights(p.near, halves, p.n) // (S + Sᵀ)/2
	if err := p.scatter.setGraph(ctx, p.team, p.x, g); err != nil {
		return nil, fmt.Errorf("sogfs: %w", err)
	}
	p.projection.MatrixChanged()
	for range projectionUpdates {
		var err error
		if u == nil {
			u, p.isMean, err = p.projection.FirstUpdate()
		} else {
			u, err = p.projection.NextUpdate(u)
		}
		if err != nil {
			return nil, fmt.Errorf("sogfs: %w", err)
		}
	}
	p.w, p.isKnown = u.W, p.projection.HasKnownNorms(u)
	e, err := spectral.EmbedRows(p.team, g, p.c)
	if err != nil {
		return nil, fmt.Errorf("sogfs: %w", err)
	}
	p.f, p.components, p.isTied = e.Vectors, e.Components, e.Tied
	p.fixed, p.slack = 2*u.Objective, 2*u.Slack
	for _, v := range p.s {
		p.fixed += p.alpha * (v - 1/float64(p.k)) * (v - 1/float64(p.k))
	}
	p.cut, p.top = 0, 0
	for _, v := range e.Values {
		p.cut += 2 * v
	}
	for _, v := range g.Degree {
		p.top = max(p.top, 2*v)
	}
	return u, nil
}

// roundingBound bounds the rounding errors of two objectives, of which the first has the given value. The pairs of
// linalg.Smallest have errors of about √n·2⁻⁴⁹ of the norm of L, and sums of n or d terms have n·2⁻⁵² or d·2⁻⁵².
func (p *problem) roundingBound(before float64) float64 {
	n := float64(p.n)
	return p.slack + p.lambda*float64(p.c)*16*math.Sqrt(n)*0x1p-49*p.top + (n+float64(p.d))*0x1p-51*math.Abs(before)
}

func (p *problem) warnOfChance(r *Result, opt Options) {
	if p.isMean {
		r.addWarning("more than %d directions cost nothing, as when features outnumber rows: the iteration started from the mean of all choices", opt.Dimensions)
	}
	if p.components != p.c {
		r.addWarning("the last graph of the rows has %d components, not {clusters} %d; try other {clusters} or {neighbors}, or raise {max-iter}", p.components, p.c)
	} else if p.isTied {
		r.addWarning("eigenvalues %d and %d of the last graph are equal to rounding: other eigenvectors cost as little and may rank otherwise", p.c, p.c+1)
	}
	if opt.Dimensions == p.d {
		r.addWarning("{dimensions} %d for as many features leave every feature the same norm: column order decides; want fewer {dimensions}", p.d)
	} else if !p.isKnown {
		r.addWarning("eigenvalues %d and %d of the last update are equal to rounding: another W costs as little and may rank otherwise; try other {dimensions}", opt.Dimensions, opt.Dimensions+1)
	}
}
