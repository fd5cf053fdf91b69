package rufs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// kmeansRestarts is the number of k-means runs. The best run is the start.
const kmeansRestarts = 10

// Result is a ranking of all d features.
type Result struct {
	method.Descent     // its scores are ‖wᵢ‖
	Clusters       int // number of columns of G; fewer than requested if there are fewer distinct rows
}

// problem is the objective of RUFS for n rows X of d features in c clusters, with the current solution G, F and W.
type problem struct {
	n, d, c         int
	workers         int
	team            *kernel.Team
	nu, alpha, beta float64
	x               kernel.Matrix[float64] // n×d
	squares         []float64              // ‖x_i‖²
	neighbours      *predictor             // predicts the clusters of each row from its nearest rows
	g, f, w         kernel.Matrix[float64] // n×c, c×d, d×c
	// Smoothing constants ε for the norms of rows of X, G and W. Each is 1e-8 times the mean square norm of the rows. For
	// W it is the mean square norm that rows of W have if all features contribute equally.
	epsilonX, epsilonG, epsilonW float64
	zeta                         float64 // weight of GᵀG = I
	progress                     method.Descent

	// Memory that each round overwrites.
	xf, xw, r, weighted kernel.Matrix[float64]    // XFᵀ, XW, G − AG, and G with weights for its rows, n×c
	gradients           [2]kernel.Matrix[float64] // n×c
	step, next          kernel.Matrix[float64]    // n×c
	right               kernel.Matrix[float64]    // right sides or solutions of the least squares, n×c
	ff, gg, gx          kernel.Matrix[float64]    // FFᵀ and products with Gᵀ: c×c, c×c and c×d
	leastSquares        kernel.Matrix[float64]    // matrix of the least squares
	chol                linalg.Cholesky           // its factor
	u, v, scaled        []float64                 // weights of rows and features; rows or features, panelSize of them
}

// Bytes bounds the memory of Select in addition to the n×d rows.
func Bytes(n int64, d int, opt Options) int64 {
	opt = opt.WithDefaults(n)
	rowCount, k := int(n), opt.Neighbors
	return room.Measure(func(l *room.Layout) {
		l.Phase(func() { l.Add(rows.SearchBytes(n, d, k, opt.Threads)) })
		layOutPredictor(l, rowCount, k)
		l.Phase(func() {
			l.Add(n * int64(16*k+8))    // the neighbours, and a copy of the starts of columns
			for range opt.Threads + 1 { // with garbage of a worker's previous run
				layOutRegression(l, k, d)
				l.Add(kernel.TeamBytes(k, k))
			}
		})
		l.Phase(func() {
			l.Add(cluster.Options{Clusters: opt.Clusters, Restarts: kmeansRestarts, Threads: opt.Threads}.Bytes(rowCount, d))
		})
		p := &problem{n: rowCount, d: d, c: opt.Clusters}
		p.layOutSolution(l)
		p.layOutRounds(l)
		l.Add(kernel.TeamBytes(max(rowCount, d), max(d, opt.Clusters)) + 16*n + 24*int64(d)) // also the labels and weights of the start, and norms
	})
}

func (p *problem) layOutSolution(l *room.Layout) {
	p.g, p.f, p.w = kernel.NewMatrix[float64](l, p.n, p.c), kernel.NewMatrix[float64](l, p.c, p.d), kernel.NewMatrix[float64](l, p.d, p.c)
	p.squares = room.Slice[float64](l, p.n)
}

func (p *problem) layOutRounds(l *room.Layout) {
	n, d, c, order := p.n, p.d, p.c, min(p.n, p.d)
	for _, m := range []*kernel.Matrix[float64]{&p.xf, &p.xw, &p.r, &p.weighted, &p.gradients[0], &p.gradients[1], &p.step, &p.next, &p.right} {
		*m = kernel.NewMatrix[float64](l, n, c)
	}
	p.ff, p.gg, p.gx = kernel.NewMatrix[float64](l, c, c), kernel.NewMatrix[float64](l, c, c), kernel.NewMatrix[float64](l, c, d)
	p.leastSquares = kernel.NewMatrix[float64](l, order, order)
	p.chol.LayOut(l, order)
	p.u, p.v, p.scaled = room.Slice[float64](l, n), room.Slice[float64](l, d), room.Slice[float64](l, min(panelSize, max(n, d))*order)
}

// Select ranks the features of the n×d rows of x, row-major, which it does not change. It needs the memory given by
// [Bytes]. The search for neighbours costs 2·n²·d flops in float32. A round costs about n·d·min(n, d) flops, and about
// 40·n·c² flops for products with the c clusters.
//
// Errors are a *[stream.UsageError] for wrong options, a *[stream.DataError] for rows that are all equal, the context's
// error, or an error that wraps an error of packages cluster and linalg.
func Select(ctx context.Context, x []float64, n, d int, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(int64(n))
	if n < 2 || d < 1 {
		return nil, stream.Dataf("", "%d rows of %d features: clusters take two rows", n, d)
	}
	p := &problem{n: n, d: d, workers: opt.Threads, team: kernel.NewTeam(opt.Threads),
		nu: opt.Nu, alpha: opt.Alpha, beta: max(opt.Beta, leastBeta*opt.Alpha), x: kernel.RowMajor(x[:n*d], n, d, d)}
	near, err := rows.FindNearest(ctx, p.team, n, d, opt.Neighbors, rows.PartBytes(int64(n), d), rows.PassInMemory(p.x))
	if err != nil {
		return nil, err
	}
	if p.neighbours, err = newPredictor(p.workers, p.x, near, opt.Neighbors); err != nil {
		return nil, err
	}
	stage := stream.StageOf(opt.Stages, "rows", stream.InMemory{})
	switch progress, err := stage.Load(ctx, p.savedState()...); {
	case err != nil:
		return nil, err
	case progress == stream.StageNew:
		if err := p.startFromClusters(ctx, opt); err != nil {
			return nil, err
		}
		p.progress.Objective = []float64{p.totalObjective()}
	default:
		p.setMatrixShapes()
		p.layOutRounds(nil)
	}
	return p.runRounds(ctx, opt, stage)
}

// savedState returns the values that stream.Stage must save in addition to the rows and their neighbours.
func (p *problem) savedState() []any {
	return []any{&p.c, &p.g.Data, &p.f.Data, &p.w.Data, &p.squares, &p.epsilonX, &p.epsilonG, &p.epsilonW, &p.zeta, &p.progress.Objective}
}

func (p *problem) setMatrixShapes() {
	p.g = kernel.RowMajor(p.g.Data, p.n, p.c, p.c)
	p.f = kernel.RowMajor(p.f.Data, p.c, p.d, p.d)
	p.w = kernel.RowMajor(p.w.Data, p.d, p.c, p.c)
}

// startFromClusters computes the assignment G by k-means, F as the means of the clusters, and the projection W by least
// squares.
func (p *problem) startFromClusters(ctx context.Context, opt Options) error {
	groups, err := cluster.KMeans(ctx, cluster.Matrix{Data: p.x.Data, Rows: p.n, Cols: p.d, RowStride: p.d, ColStride: 1},
		cluster.Options{Clusters: opt.Clusters, Restarts: kmeansRestarts, Seed: opt.Seed, Threads: opt.Threads})
	if err != nil {
		return fmt.Errorf("rufs: clusters to start from: %w", err)
	}
	place := make([]int, len(groups.Sizes))
	for k, size := range groups.Sizes {
		if place[k] = p.c; size > 0 {
			p.c++
		}
	}
	p.layOutSolution(nil)
	p.layOutRounds(nil)
	var total float64
	for i, k := range groups.Labels {
		p.g.Data[i*p.c+place[k]] = 1 / math.Sqrt(float64(groups.Sizes[k]))
		row := p.x.Data[i*p.d:][:p.d]
		p.squares[i] = kernel.Dot(row, row)
		total += p.squares[i]
	}
	if !(total > 0) {
		return stream.Dataf("", "every value is 0: there is nothing to cluster")
	}
	const share = 1e-8
	p.epsilonX = share * total / float64(p.n)
	p.epsilonG = share * float64(p.c) / float64(p.n)
	// XW approximates G, so ‖X‖²·‖W‖²/d is about c.
	p.epsilonW = share * float64(p.c) / total
	kernel.Gemm(p.team, 1, p.g.Trans(), p.x, p.f)
	for i, v := range p.f.Data {
		p.f.Data[i] = max(v, 0)
	}
	linalg.MultiplyTo(p.team, p.ff, 1, p.f, p.f.Trans())
	curvature := p.nu
	for k := range p.c { // curvature of the terms other than the penalty, for a row of typical norm
		curvature = max(curvature, p.ff.Data[k*p.c+k]/math.Sqrt(total/float64(p.n)))
	}
	p.zeta = stiffness * max(curvature, p.alpha*math.Sqrt(float64(p.n)/float64(p.c)))
	// These are the weights if all rows of XW − G, and all rows of W, have the same length.
	u := slices.Repeat([]float64{0.5 / math.Sqrt(float64(p.c)/float64(p.n))}, p.n)
	v := slices.Repeat([]float64{0.5 / math.Sqrt(float64(p.c)/total)}, p.d)
	return p.updateProjection(u, v)
}

func (p *problem) updateProductsOfSolution() {
	linalg.MultiplyTo(p.team, p.xf, 1, p.x, p.f.Trans())
	linalg.MultiplyTo(p.team, p.xw, 1, p.x, p.w)
	linalg.MultiplyTo(p.team, p.ff, 1, p.f, p.f.Trans())
}

func (p *problem) totalObjective() float64 {
	p.updateProductsOfSolution()
	value := p.objectiveAt(p.g.Data, nil)
	for _, norm := range linalg.RowNorms(p.w.Data, p.c) {
		value += p.beta * math.Sqrt(norm*norm+p.epsilonW)
	}
	return value
}

func (p *problem) runRounds(ctx context.Context, opt Options, stage stream.Stage) (*Result, error) {
	r := &p.progress
	r.FromStart = true
	r.Scores = linalg.RowNorms(p.w.Data, p.c)
	for t := len(r.Objective); t <= opt.MaxIter; t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.updateProjection(p.computeNormWeights()); err != nil {
			return nil, err
		}
		p.descendGradient(p.g.Data)
		p.updateCentres()
		// Squared residuals are differences of sums of squares, and have errors of 1e-15 of these sums. If a norm is as
		// small as its smoothing constant, its error is 1e-11.
		if !r.RecordStep(t, p.totalObjective(), 1e-10*math.Abs(r.Objective[t-1]), opt.Tol, opt.Progress) {
			break
		}
		if r.Scores = linalg.RowNorms(p.w.Data, p.c); r.Converged {
			break
		}
		if err := stage.Save(ctx, t, p.savedState()...); err != nil {
			return nil, err
		}
	}
	floor := 1e-12 * slices.Max(r.Scores)
	r.Order, r.Ties = method.Rank(r.Scores, func(largest, norm float64) bool { return norm >= largest*(1-1e-10)-floor })
	return &Result{Descent: *r, Clusters: p.c}, nil
}
