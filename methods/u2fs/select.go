package u2fs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features.
type Result struct {
	Order       []int     // all features; the feature that was removed last is first
	Utilities   []float64 // of the features in Order, when they were removed; for the first feature, the sum of squares that it explains alone
	Eigenvalues []float64 // of the affinity, one for each column of U, descending
	Warnings    []string
}

// Select ranks the features of g, which it does not modify. It needs the memory given by [Bytes]. It costs the
// eigenpairs of an m×m matrix, and about 4·d³ flops, or n·d² flops if G is a factor of n rows. Errors are a
// *stream.UsageError for wrong options, a *stream.DataError for features that are all constant or a graph without
// clusters, the context's error, or an error that wraps an error of package linalg.
func Select(ctx context.Context, g *anchor.Graph, opt Options) (*Result, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults()
	team := kernel.NewTeam(opt.Threads)
	e, err := spectral.Embed(team, g, opt.Clusters)
	if err != nil {
		return nil, err
	}
	if len(e.Values) == 0 {
		return nil, stream.Dataf("", "the anchor graph has no eigenvector but the constant one: there are no clusters to explain")
	}
	trace := g.G.Trace(1)
	if trace == 0 || g.D == 0 {
		return nil, stream.Dataf("", "every feature is constant")
	}
	x := newElimination(team, g, trace/float64(g.D), e)
	if err := x.eliminateAll(ctx, opt.Progress); err != nil {
		return nil, err
	}
	return &Result{Order: x.order, Utilities: x.utilities, Eigenvalues: e.Values, Warnings: e.Warnings}, nil
}

// liftEigenvectors writes aVΣ^(−1/2) to dst, with the eigenvectors V and eigenvalues Σ in e. a has a column for each
// anchor. dst must be 0.
func liftEigenvectors(team *kernel.Team, dst, a kernel.Matrix[float64], e *spectral.Embedding) {
	kernel.Gemm(team, 1, a, e.Vectors.Trans(), dst)
	for i := range dst.Data {
		dst.Data[i] /= math.Sqrt(e.Values[i%dst.Cols])
	}
}
