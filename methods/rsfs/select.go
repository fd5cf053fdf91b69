package rsfs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// kmeansRestarts is the number of k-means runs. The best run is the start.
	kmeansRestarts = 10
	// startShare is added to all entries of the indicators of the first clusters, see the package comment.
	startShare = 0.2
)

// Result is a ranking of all d features.
type Result struct {
	method.Descent         // its scores are ‖wᵢ‖
	Beta, Nu       float64 // β and ν as numbers, also if they were given as shares
	Clusters       int     // number of columns of Y; fewer than requested if there are fewer distinct rows
	Shortened      int     // number of rounds in which the update of Y had a lower power than 1/2
	Warnings       []stream.Text
}

// RankBytes bounds the memory of RankFeatures in addition to the n×d rows.
func RankBytes(n int64, d int, opt Options) int64 {
	opt = opt.WithDefaults(n)
	rowCount, k, c := int(n), opt.Neighbors, opt.Clusters
	return room.Measure(func(l *room.Layout) {
		l.Phase(func() { l.Add(rows.SearchBytes(n, d, k, opt.Threads)) })
		l.Add(n * int64(k) * rows.NeighbourBytes)
		l.Phase(func() {
			l.Add(spectral.EmbedRowsBytes(rowCount, c) + cluster.Options{Clusters: c, Restarts: kmeansRestarts, Threads: opt.Threads}.Bytes(rowCount, c))
		})
		rank := rankOfGramFactor(rowCount, d)
		kernel.NewMatrix[float64](l, d, cmp.Or(rank, d)) // G, or its factor
		ridge.LayOut(l, d, rank, c)
		(&problem{n: rowCount, d: d, c: c}).layOut(l)
		l.Add(kernel.TeamBytes(max(rowCount, d), max(rowCount, d)) + 40*n + 72*int64(d)) // also labels, norms and the ranking
	})
}

// RankFeatures ranks the features of the n×d rows of x, row-major, which it does not change. It needs the memory given by
// [RankBytes]. The search for neighbours costs 2·n²·d flops in float32, and the start the c smallest eigenpairs of an n×n
// matrix. A round costs about d³/3 flops, or n²·d if there are at least twice as many features as rows, and 4·n·d·c.
//
// Errors are a *[stream.UsageError] for wrong options, a *[stream.DataError] for fewer than two rows or rows that are
// all 0, the context's error, or an error that wraps an error of packages cluster and linalg.
func RankFeatures(ctx context.Context, x []float64, n, d int, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(int64(n))
	if n < 2 || d < 1 {
		return nil, stream.Dataf("", "%d rows of %d features: clusters take two rows", n, d)
	}
	p := &problem{n: n, d: d, c: opt.Clusters, team: kernel.NewTeam(opt.Threads), alpha: opt.Alpha, gamma: opt.Gamma, current: new(clusters), x: kernel.RowMajor(x[:n*d], n, d, d)}
	near, err := rows.FindNearest(ctx, p.team, n, d, opt.Neighbors, rows.PartBytes(int64(n), d), rows.PassInMemory(p.x))
	if err != nil {
		return nil, err
	}
	p.graph = newLocalGraph(near, n)
	r := &Result{}
	stage := stream.StageOf(opt.Stages, "rows", stream.InMemory{})
	state := func() []any {
		return []any{&p.c, &p.current.y.Data, &p.z.Data, &p.norms, &p.beta, &p.nu, &r.Objective, &r.Shortened}
	}
	switch progress, err := stage.Load(ctx, state()...); {
	case err != nil:
		return nil, err
	case progress == stream.StageNew:
		if err := p.startFromClusters(ctx, opt); err != nil {
			return nil, err
		}
	default:
		y, z, norms := p.current.y.Data, p.z.Data, p.norms
		p.layOut(nil)
		copy(p.current.y.Data, y)
		copy(p.z.Data, z)
		copy(p.norms, norms)
	}
	p.prepareRegression()
	return p.runRounds(ctx, opt, r, stage, state)
}

func rankOfGramFactor(n, d int) int {
	if 2*n <= d {
		return n
	}
	return 0 // XᵀX is stored in full
}

func (p *problem) prepareRegression() {
	n, d := p.n, p.d
	g := gram.Full(nil, d)
	if rank := rankOfGramFactor(n, d); rank > 0 {
		byFeature := kernel.NewMatrix[float64](nil, d, n)
		kernel.Copy(byFeature, p.x.Trans())
		g = gram.FromFactor(byFeature.Data, d, rank)
	} else {
		full := kernel.NewMatrix[float64](nil, d, d)
		kernel.Syrk(p.team, 1, p.x.Trans(), full)
		kernel.MirrorUpper(p.team.Threads(), full)
		g.Sym = full.Data
	}
	p.ridge = ridge.New(p.team, g, p.c)
}

// startFromClusters finds the first Y and the values of β and ν. The first clusters are k-means's of the eigenvectors of
// L, and W and Z are 0.
func (p *problem) startFromClusters(ctx context.Context, opt Options) error {
	e, err := spectral.EmbedRows(p.team, p.graph, p.c)
	if err != nil {
		return fmt.Errorf("rsfs: start: %w", err)
	}
	groups, err := cluster.KMeans(ctx, cluster.Matrix(e.Vectors), cluster.Options{Clusters: p.c, Restarts: kmeansRestarts, Seed: opt.Seed, Threads: opt.Threads})
	if err != nil {
		return fmt.Errorf("rsfs: clusters to start from: %w", err)
	}
	place := make([]int, len(groups.Sizes))
	p.c = 0
	for k, size := range groups.Sizes {
		if place[k] = p.c; size > 0 {
			p.c++
		}
	}
	p.layOut(nil)
	y := p.current.y
	for i, k := range groups.Labels {
		row := y.Data[i*p.c:][:p.c]
		for j := range row {
			row[j] = startShare
		}
		row[place[k]]++
	}
	scaleColumns(y)
	for i := range p.norms {
		p.norms[i] = 0.5 // for which D = I
	}
	most := 0.0
	for _, v := range y.Data {
		most = max(most, v)
	}
	p.nu = opt.Nu.Of(2 * p.alpha * most)
	linalg.MultiplyTo(p.team, p.xy, 1, p.x.Trans(), y)
	most = slices.Max(linalg.RowNorms(p.xy.Data, p.c))
	if !(most > 0) {
		return stream.Dataf("", "no feature varies with the clusters of the rows: every value may be 0")
	}
	p.beta = opt.Beta.Of(2 * p.alpha * most)
	if p.beta == 0 {
		p.beta = leastShare * 2 * p.alpha * most
	}
	return nil
}

func (p *problem) runRounds(ctx context.Context, opt Options, r *Result, stage stream.Stage, state func() []any) (*Result, error) {
	p.updateProducts(p.current)
	for t := len(r.Objective) + 1; t <= opt.MaxIter; t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.updateRegression(); err != nil {
			return nil, err
		}
		p.updateErrors()
		if p.updateClusters() {
			r.Shortened++
		}
		value, allowed := p.totalObjective(p.current)
		if !r.RecordStep(t, value, allowed, opt.Tol, opt.Progress) || r.Converged {
			break
		}
		if err := stage.Save(ctx, t, state()...); err != nil {
			return nil, err
		}
	}
	r.Scores, r.Beta, r.Nu, r.Clusters = p.norms, p.beta, p.nu, p.c
	if r.Shortened > 0 {
		r.Warnings = append(r.Warnings, stream.Textf("%d of %d updates of the clusters were shortened: the paper's would have raised the objective", r.Shortened, len(r.Objective)))
	}
	// The solutions have an error of about 1e-12 of the largest norm.
	floor := 1e-12 * slices.Max(r.Scores)
	r.Order, r.Ties = method.Rank(r.Scores, func(largest, norm float64) bool { return norm >= largest*(1-1e-10)-floor })
	return r, nil
}

func scaleColumns(y kernel.Matrix[float64]) {
	for k := range y.Cols {
		square := 0.0
		for i := range y.Rows {
			square += y.Data[i*y.Cols+k] * y.Data[i*y.Cols+k]
		}
		if square > 0 {
			for i := range y.Rows {
				y.Data[i*y.Cols+k] /= math.Sqrt(square)
			}
		}
	}
}
