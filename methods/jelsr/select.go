package jelsr

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features.
type Result struct {
	method.Descent // its scores are ‖wᵢ‖
	Warnings       []stream.Text
}

// Select ranks the features of a Graph, which is not modified. An iteration costs a Cholesky factorization of order d,
// and for JELSR also the c leading eigenpairs of order m+d. If G is a factor of n rows, both have order n. [Bytes]
// bounds the memory of Select. The error is a *stream.UsageError, a *stream.DataError if all features are constant, an
// error of the factorization or the eigenpairs, or the context's error.
func Select(ctx context.Context, g *anchor.Graph, opt Options) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	if err := checkGraph(g); err != nil {
		return nil, err
	}
	team := kernel.NewTeam(opt.Threads)
	if opt.Method == JELSR {
		return embedAndRegress(ctx, team, g, opt)
	}
	p := newLabelProblem(team, g)
	start, warnings, err := initialLabels(ctx, team, g, opt)
	if err != nil {
		return nil, err
	}
	r, _, err := p.iterateLabels(ctx, start, opt)
	if err != nil {
		return nil, err
	}
	r.Warnings = append(stream.PlainTexts(warnings), r.Warnings...)
	return r, nil
}

func checkGraph(g *anchor.Graph) error {
	d, m := g.D, g.M
	if g.G.Check() != nil || g.G.D != d || len(g.C) != m*d || len(g.S) != m*m || len(g.Delta) != m {
		panic(fmt.Sprintf("jelsr: graph of %d features and %d anchors with %d, %d and %d values",
			d, m, len(g.C), len(g.S), len(g.Delta)))
	}
	trace := g.G.Trace(1)
	if math.IsNaN(trace) || math.IsInf(trace, 0) {
		return fmt.Errorf("jelsr: sum of squares: %w", linalg.ErrNotFinite)
	}
	if !(trace > 0) {
		return stream.Dataf("", "every feature is constant")
	}
	return nil
}

// Bytes bounds the memory of Select in addition to the Graph of m anchors and d features. rank is the number of rows of
// G if it is a factor, otherwise 0.
func Bytes(d, m, rank int, opt Options) int64 {
	opt = opt.withDefaults()
	c := min(opt.Clusters, m+d)
	return room.Measure(func(l *room.Layout) {
		l.Add(kernel.TeamBytes(m+d, m+d) + 8*int64(rank)*int64(m)) // and B
		l.Add(72 * int64(d))                                       // R, the norms of a few updates, and the ranking
		if opt.Method == NDFS {
			c = min(c, m)
			l.Add(8 * int64(m) * int64(c)) // the coordinates of initialLabels, then its result
			l.Phase(func() {
				l.Add(spectral.EmbedBytes(m, c) + cluster.Options{Clusters: c, Restarts: startRestarts, Threads: opt.Threads}.Bytes(m, max(c-1, 1)))
			})
			ridge.LayOut(l, d, rank, c)
			new(labelProblem).layOut(l, d, m, rank, c)
			return
		}
		ridge.LayOut(l, d, rank, c)
		new(embeddingSolver).layOut(l, d, m, rank, c)
		order := cmp.Or(rank, m+d)
		l.Add(linalg.SmallestBytes(order, min(c+1, order), linalg.EigenOptions{}) + 8*int64(rank)*int64(2*c+5)) // and the last basis
	})
}

// embedAndRegress runs JELSR, with the Y, W and U of the package comment. It computes Y for U, then W for Y and U, then
// U for W, and repeats this until the objective hardly changes.
func embedAndRegress(ctx context.Context, team *kernel.Team, g *anchor.Graph, opt Options) (*Result, error) {
	reg := newRegression(team, g.G, min(opt.Clusters, g.M+g.D), opt)
	emb := newEmbeddingSolver(team, g, reg, opt)
	r := &Result{}
	if emb.c < opt.Clusters {
		r.addWarning("{clusters} %d is more than the %d anchors and features: there are as many dimensions", opt.Clusters, emb.c)
	}
	var last *embeddingProducts
	for t := range opt.maxUpdates() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := reg.setWeightsFromNorms(r.Scores); err != nil {
			return nil, err
		}
		y, err := emb.nextEmbedding()
		if err != nil {
			return nil, err
		}
		w, penalty := reg.Solve(y.Target)
		norm, sum := rowNorms(w, emb.c)
		// With W = HXᵀY, ‖XW − Y‖² + α·Tr(WᵀUW) is Tr Yᵀ(I − XHXᵀ)Y.
		value := y.cost + opt.Alpha*opt.Beta*(sum-penalty)
		// The error of linalg.Smallest for each pair is about √n·2⁻⁴⁹ of the norm, which is at most 1 + β.
		order := float64(g.M + g.D)
		allowed := float64(emb.c)*8*math.Sqrt(order)*0x1p-49*(1+opt.Beta) + opt.Beta*reg.roundingBound(penalty) +
			order*0x1p-52*(math.Abs(value)+opt.Alpha*opt.Beta*(sum+penalty))
		if !r.RecordStep(t+1, value, allowed, opt.Tol, opt.Progress) {
			break
		}
		r.Scores, last = norm, y
		if r.Converged && opt.Iterations == 0 {
			break
		}
	}
	if last.freeColumns > 0 {
		r.addWarning("graph and features span only %d dimensions of {clusters} %d: the others choose no feature", emb.c-last.freeColumns, opt.Clusters)
	}
	if last.isTied {
		r.addWarning("eigenvalues %d and %d of the embedding are equal to rounding: another embedding has the same cost and may give another ranking; try another {clusters}", emb.c, emb.c+1)
	}
	r.rankByNorm()
	return r, nil
}

func (r *Result) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, stream.Textf(format, args...))
}

// The norms of two rows of W are considered equal if they differ by less than tieShare of the norm or tieFloor of the
// largest norm, as in package sfufs. Eigenvectors whose eigenvalues differ little have errors of this order.
const (
	tieShare = 1e-7
	tieFloor = 1e-12
)

func (r *Result) rankByNorm() {
	var largest float64
	for _, v := range r.Scores {
		largest = max(largest, v)
	}
	r.Order, r.Ties = method.Rank(r.Scores, func(first, norm float64) bool {
		return norm >= first*(1-tieShare)-tieFloor*largest
	})
}
