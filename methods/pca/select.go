package pca

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// tieTolerance is the relative difference up to which loadings or distances count as equal.
	tieTolerance = 1e-9
	// loadingStep is the number of which multiples replace the loadings, so that rounding errors neither separate the
	// loadings of copies, nor make the clusters depend on the form of G.
	loadingStep = 0x1p-32
	// distanceError bounds the rounding error of a distance, as a share of the length of a row of loadings.
	distanceError = 1e-12
	// kmeansStarts is the number of k-means runs, of which the best counts. Of 10 the best was 5 % above the best of 30 on
	// the 13 features of wine.
	kmeansStarts = 50
)

// Options sets the number of features to choose.
type Options struct {
	K          int                   // number of features
	Components method.ComponentCount // q, only for SelectPrincipal; default 90 % of the variance
	Seed       uint64                // of k-means, only for SelectPrincipal
	Threads    int                   // 0 means GOMAXPROCS; the answer does not depend on it
}

// defaultComponents is the share of the variance that the paper of pfa considers enough.
var defaultComponents = method.ComponentCount{Share: 0.9}

func (o Options) checkForFeatures(d int) error {
	var faults stream.Faults
	method.RefuseNumber(&faults, o.K, d)
	if o.Components.Count < 0 || !(o.Components.Share >= 0 && o.Components.Share <= 1) {
		faults.Addf("{components} %v is neither a number of components nor a share of the variance", o.Components.ToText())
	}
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// Result lists the chosen features.
type Result struct {
	Order      []int
	Turns      []float64 // of each chosen feature: its absolute loading, or for SelectPrincipal the size of its cluster
	Components int       // number of components that were used
	Clusters   []int32   // for SelectPrincipal: the cluster of each feature
	Warnings   []stream.Text
}

// LargestBytes bounds the memory of SelectLargest in addition to G, for k of d features. If rank is not 0, G is a
// factor of `rank` rows.
func LargestBytes(d, rank, k int) int64 {
	return spectral.ComponentsBytes(d, rank, max(k, 1)) + 17*int64(d) // the taken features, and the result
}

// SelectLargest chooses K of d features by the Gram matrix of their centred columns, as the method pcalrg of the package
// comment. It computes the K leading eigenpairs of a matrix of order d, or of order r if G is a factor of r rows. During
// the call no other method of g may be running, but g stays the same. The memory is given by [LargestBytes]. The error
// is a *stream.UsageError for wrong options, a *stream.DataError if all features are constant, or wraps an error of
// package linalg.
func SelectLargest(g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.checkForFeatures(g.D); err != nil {
		return nil, err
	}
	if opt.K == 0 {
		return &Result{}, nil
	}
	found, err := findComponents(g, opt, opt.K, 0)
	if err != nil {
		return nil, err
	}
	count := len(found.Values)
	out := &Result{Order: make([]int, 0, opt.K), Turns: make([]float64, 0, opt.K), Components: count, Warnings: found.WarnOfTies(0)}
	if opt.K > count {
		out.Warnings = append(out.Warnings, stream.Textf("the data have only %d components, so each of them takes more than one of the %d features", count, opt.K))
	}
	isTaken := make([]bool, g.D)
	for turn := range opt.K {
		loadings := found.Loadings.Data[turn%count*g.D:][:g.D]
		j := firstOfLargestLoadings(loadings, isTaken)
		isTaken[j] = true
		out.Order, out.Turns = append(out.Order, j), append(out.Turns, math.Abs(loadings[j]))
	}
	return out, nil
}

func firstOfLargestLoadings(loadings []float64, isTaken []bool) int {
	largest := 0.0
	for j, v := range loadings {
		if !isTaken[j] {
			largest = max(largest, math.Abs(v))
		}
	}
	for j, v := range loadings {
		if !isTaken[j] && math.Abs(v) >= largest*(1-tieTolerance) {
			return j
		}
	}
	panic("pca: all features are taken")
}

// PrincipalBytes bounds the memory of SelectPrincipal in addition to G, for k of d features and the given number of
// components. If rank is not 0, G is a factor of `rank` rows.
func PrincipalBytes(d, rank, k, threads int, components method.ComponentCount) int64 {
	q := components.Count
	if components = orDefault(components); q == 0 {
		q = d
		if rank > 0 {
			q = min(d, rank)
		}
	}
	return room.Measure(func(l *room.Layout) {
		l.Phase(func() { l.Add(spectral.ComponentsBytes(d, rank, components.Count)) })
		l.Phase(func() {
			l.Add(8 * int64(rank) * int64(rank)) // the dual matrix of a factor stays
			kernel.NewMatrix[float64](l, q, d)   // the loadings
			l.Add(cluster.Options{Clusters: max(k, 1), Threads: threads}.Bytes(d, q))
			l.Add(8*int64(k)*int64(q) + 80*int64(d)) // the best clusters so far, distances and the result
		})
	})
}

func orDefault(c method.ComponentCount) method.ComponentCount {
	if c == (method.ComponentCount{}) {
		return defaultComponents
	}
	return c
}

// SelectPrincipal chooses K of d features by the Gram matrix of their centred columns, as the method pfa of the package
// comment, or fewer features if the loadings of fewer differ. It computes the q leading eigenpairs of a matrix of order
// d, or of order r if G is a factor of r rows; if q is given as a share, it computes up to twice as many, or all of
// them. K-means costs about d·q·K flops for each move. During the call no other method of g may be running, but g stays
// the same. The memory is given by [PrincipalBytes]. The error is a *stream.UsageError for wrong options, a
// *stream.DataError if all features are constant, the context's error, or wraps an error of package linalg.
func SelectPrincipal(ctx context.Context, g *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.checkForFeatures(g.D); err != nil {
		return nil, err
	}
	if opt.K == 0 {
		return &Result{}, nil
	}
	want := orDefault(opt.Components)
	found, err := findComponents(g, opt, want.Count, want.Share)
	if err != nil {
		return nil, err
	}
	count := len(found.Values)
	out := &Result{Components: count, Warnings: found.WarnOfTies(0)}
	if want.Count > count {
		out.Warnings = append(out.Warnings, stream.Textf("the data have only %d components, not {components} %d", count, want.Count))
	}
	rows := found.Loadings.Data
	for i, v := range rows {
		rows[i] = math.RoundToEven(math.Abs(v)/loadingStep) * loadingStep
	}
	// Neither k-means nor ties may depend on the order of the columns. Only of copies the first column is the first.
	order := sortByLoadings(rows, g.D)
	groups, err := bestClusters(ctx, cluster.Matrix{Data: rows, Rows: g.D, Cols: count, RowStride: 1, ColStride: g.D}, opt)
	if err != nil {
		return nil, fmt.Errorf("pfa: clusters of the features: %w", errors.Join(err, ctx.Err()))
	}
	out.takeFromClusters(rows, groups)
	for i, at := range out.Order {
		out.Order[i] = order[at]
	}
	out.Clusters = make([]int32, g.D)
	for at, j := range order {
		out.Clusters[j] = groups.Labels[at]
	}
	if n := len(out.Order); n < opt.K {
		out.Warnings = append(out.Warnings, stream.Textf("the loadings of the features form only %d clusters, so there are %d features instead of the %d wanted", n, n, opt.K))
	}
	return out, nil
}

func sortByLoadings(rows []float64, d int) (order []int) {
	for j := range d {
		order = append(order, j)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for from := 0; from < len(rows); from += d {
			if c := cmp.Compare(rows[from+a], rows[from+b]); c != 0 {
				return c
			}
		}
		return 0
	})
	unsorted := make([]float64, d)
	for from := 0; from < len(rows); from += d {
		copy(unsorted, rows[from:])
		for at, j := range order {
			rows[from+at] = unsorted[j]
		}
	}
	return order
}

// bestClusters starts k-means many times, one start after the other so that the memory is for one, and returns the first
// of the results with the least inertia.
func bestClusters(ctx context.Context, rows cluster.Matrix, opt Options) (best *cluster.Result, err error) {
	for start := range uint64(kmeansStarts) {
		found, err := cluster.KMeans(ctx, rows, cluster.Options{Clusters: opt.K, Seed: opt.Seed*kmeansStarts + start, Threads: opt.Threads})
		if err != nil {
			return nil, err
		}
		if best == nil || found.Inertia < best.Inertia {
			best = found
		}
	}
	return best, nil
}

// takeFromClusters takes from each cluster that has features the one nearest to the mean of its rows. Large clusters come
// first, and of equally large ones the one whose feature has the smaller loadings. rows holds a column for each feature.
func (r *Result) takeFromClusters(rows []float64, groups *cluster.Result) {
	d, clusters := len(groups.Labels), len(groups.Sizes)
	means := make([]float64, clusters)
	distances, lengths := make([]float64, d), make([]float64, d)
	for from := 0; from < len(rows); from += d {
		clear(means)
		for j, k := range groups.Labels {
			means[k] += rows[from+j] / float64(groups.Sizes[k])
		}
		for j, k := range groups.Labels {
			v := rows[from+j]
			distances[j] += (v - means[k]) * (v - means[k])
			lengths[j] += v * v
		}
	}
	least := slices.Repeat([]float64{math.Inf(1)}, clusters)
	for j, k := range groups.Labels {
		distances[j] = math.Sqrt(distances[j])
		least[k] = min(least[k], distances[j])
	}
	isDone := make([]bool, clusters)
	for j, k := range groups.Labels {
		if !isDone[k] && distances[j] <= least[k]*(1+tieTolerance)+distanceError*math.Sqrt(lengths[j]) {
			isDone[k] = true
			r.Order = append(r.Order, j)
		}
	}
	size := func(j int) int64 { return groups.Sizes[groups.Labels[j]] }
	slices.SortStableFunc(r.Order, func(a, b int) int { return int(size(b) - size(a)) })
	for _, j := range r.Order {
		r.Turns = append(r.Turns, float64(size(j)))
	}
}

func findComponents(g *gram.Matrix, opt Options, count int, share float64) (*spectral.Components, error) {
	if err := g.Check(); err != nil {
		panic(fmt.Sprintf("pca: %v", err))
	}
	found, err := spectral.FindComponents(kernel.NewTeam(opt.Threads), g, count, share)
	if err != nil {
		return nil, fmt.Errorf("principal components: %w", err)
	}
	return found, nil
}
