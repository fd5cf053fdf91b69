package baseline

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MCFSOptions sets the number of targets, and the number of features for each target. A zero field means its default.
type MCFSOptions struct {
	K        int // number of features with a coefficient for each target; default min(50, d)
	Clusters int // number of targets, which are eigenvectors of the graph; default 10
	Threads  int // 0 means GOMAXPROCS; the answer does not depend on it
}

// Validate reports every fault of o for d features in one *stream.UsageError.
func (o MCFSOptions) Validate(d int) error {
	var faults stream.Faults
	method.RefuseNumber(&faults, o.K, d)
	method.RefuseNegative(&faults, "{clusters}", o.Clusters)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

func (o MCFSOptions) withDefaults(d int) MCFSOptions {
	o.K = cmp.Or(o.K, min(50, d))
	o.Clusters = cmp.Or(o.Clusters, 10)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o
}

// MCFSBytes bounds the memory of MCFS in addition to the Graph of m anchors and d features. rank is the number of rows
// of G if it is a factor, otherwise 0.
func MCFSBytes(m, d, rank int, opt MCFSOptions) int64 {
	opt = opt.withDefaults(d)
	c, k := min(opt.Clusters, m), int64(opt.K)
	return room.Measure(func(l *room.Layout) {
		l.Add(kernel.TeamBytes(m, max(m, d)))
		l.Phase(func() { l.Add(spectral.EmbedBytes(m, c)) })
		l.Add(16*int64(m)*int64(c) + 16*int64(d)) // the eigenvectors, and two lists of features
		kernel.NewMatrix[float64](l, c, d)        // products with the targets
		for range c {
			layOutLasso(l, d)
			l.Add(16*k*k + 8*int64(d)) // the factor of active features, and the coefficients
		}
		layOutDirections(l, c, d, rank)
	})
}

// MCFSResult holds the scores, and the spectrum of the graph.
type MCFSResult struct {
	Scores      []float64 // d: largest |coefficient| over the targets; 0 for features without a coefficient
	Eigenvalues []float64 // eigenvalues of A, one for each target, descending
	Components  int       // number of connected components of the graph
	Warnings    []string
}

// MCFS scores features by their contribution to the clusters of the rows (Cai, Zhang and He, Unsupervised feature
// selection for multi-cluster data, KDD 2010). The targets are the eigenvectors u of the affinity A = BBᵀ with the
// largest eigenvalues, except the constant eigenvector. For each target, a lasso path adds features to a regression
// until K features have a coefficient. A feature's score is the largest absolute value of its coefficients (eq. 4).
// Rank the scores by [Rank].
//
// The paper uses the graph of the k nearest neighbours of all rows. We use the anchor graph, and need only its
// statistics (see [anchor.Graph]). With S = BᵀB = VΣVᵀ the targets of length 1 are U = BVΣ^(−1/2), so that
//
//	XᵀU = X̃ᵀBVΣ^(−1/2) = CᵀVΣ^(−1/2),
//
// because L1 = 0 implies that the entries of every u except the constant one sum to 0. Coefficients depend on the
// features' scale. Standardized features have the same length and compete on equal terms.
//
// If the graph has several components, [spectral.Embed] documents which eigenvectors are used.
//
// For m anchors, c targets and d features, MCFS costs the eigenpairs of an m×m matrix, and O(K²·d) flops for each
// target, or O(K·r·d) if G is a factor of r rows. It needs O(m² + c·(d + K²)) numbers. The error is a
// *stream.UsageError or an error of the eigenpairs.
func MCFS(g *anchor.Graph, opt MCFSOptions) (*MCFSResult, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.withDefaults(g.D)
	team := kernel.NewTeam(opt.Threads)
	e, err := spectral.Embed(team, g, opt.Clusters)
	if err != nil {
		return nil, err
	}
	r := &MCFSResult{Scores: make([]float64, g.D), Eigenvalues: e.Values, Components: e.Components, Warnings: e.Warnings}
	targets := len(e.Values)
	b := kernel.NewMatrix[float64](nil, targets, g.D)
	kernel.Gemm(team, 1, e.Vectors, kernel.RowMajor(g.C, g.M, g.D, g.D), b)
	for i, sigma := range e.Values {
		for j := range g.D {
			b.Data[i*g.D+j] /= math.Sqrt(sigma)
		}
	}
	paths, squares := make([]*lasso, targets), g.G.Diagonal(opt.Threads)
	for i := range paths {
		paths[i] = newLasso(g.G, squares, b.Data[i*g.D:][:g.D])
	}
	followPaths(g.G, opt.Threads, opt.K, paths)
	short := 0
	for i, l := range paths {
		features := 0
		for j, v := range l.expandCoefficients() {
			r.Scores[j] = max(r.Scores[j], math.Abs(v))
			if v != 0 {
				features++
			}
		}
		if !l.hasEnded {
			r.addWarning("target %d: its lasso path did not end, because of ties among features", i+1)
		} else if features < opt.K {
			short++
		}
	}
	if short > 0 {
		r.addWarning("%d of %d targets are explained by fewer than k = %d features: the others are combinations of these", short, targets, opt.K)
	}
	return r, nil
}

func (r *MCFSResult) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
