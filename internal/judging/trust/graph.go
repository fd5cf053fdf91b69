package trust

import (
	"cmp"
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/methods/align"
)

// CompareGraph compares how well chosen features follow the anchors' graph, in which each row has the given number of
// neighbors, with the same measure (alignment) for a permuted copy of the anchors. If a copy of the anchors would need
// too much memory, the anchors themselves are permuted, and restored before the return. It needs the memory given by
// [GraphBytes] in addition to the anchors. If atOnce is true, it computes both graphs in parallel, each with half of
// the threads, and needs twice as much memory. With two threads this reduces the time by a third, because computing
// eigenvectors cannot fully use two threads. The result depends only on the anchors, not on the threads or the order of
// the columns.
func CompareGraph(ctx context.Context, a *anchor.Anchors, neighbors, threads int, atOnce bool) (anchor.Trust, error) {
	workers, each := 1, kernel.NewTeam(threads).Threads()
	m := min(a.M, maxPoints)
	if atOnce && each > 1 && !isLargeMatrix(m, a.D) {
		workers, each = 2, (each+1)/2
	}
	t := anchor.Trust{Few: fewFeatureCount(a.D), Features: chooseFeatureCount(m, a.D)}
	judge := alignmentFunc(a, neighbors)
	var alignments [2][]float64
	var errs [2]error
	kernel.Each(workers, 2, func(i int) {
		alignments[i], errs[i] = judge(ctx, kernel.NewTeam(each), i == 1, t.Features)
	})
	if err := cmp.Or(errs[:]...); err != nil {
		return t, err
	}
	actual, chance := alignments[0], alignments[1]
	t.Value, t.Chance = actual[t.Features-1], chance[t.Features-1]
	t.FewValue, t.FewChance = actual[t.Few-1], chance[t.Few-1]
	return t, nil
}

func alignmentFunc(a *anchor.Anchors, neighbors int) func(ctx context.Context, team *kernel.Team, permuted bool, k int) ([]float64, error) {
	if a.Thin != nil {
		p := pickSpreadThinAnchors(a)
		p.neighbors = neighbors
		return func(ctx context.Context, team *kernel.Team, permuted bool, k int) ([]float64, error) {
			q := &thinPoints{p.Compressed, neighbors, team}
			if permuted {
				q = q.permutedCopy()
			}
			return q.alignFeatures(ctx, k)
		}
	}
	p := pickSpreadAnchors(a)
	p.neighbors = neighbors
	return func(ctx context.Context, team *kernel.Team, permuted bool, k int) ([]float64, error) {
		q := *p
		q.team = team
		if permuted && p.isLargeMatrix() {
			defer q.permuteInPlace()()
		} else if permuted {
			q = *q.permutedCopy()
		}
		return q.alignFeatures(ctx, k)
	}
}

const (
	selectedShare  = 0.05 // typical share of the features that people select
	maxFewFeatures = 10
	// maxPoints is the largest number of anchors used, even if users request more. A limit of 1,000 would make a selection
	// a fifth to a third faster. But on BASEHOCK, which has 1,993 rows, the alignment would then be between 0.46 and 0.78,
	// depending on the seed that orders the rows, and the verdict would vary too. With all rows it is 0.70.
	maxPoints = 2000
)

func isLargeMatrix(rows, columns int) bool { return rows*columns >= 1<<24 }

func (p *points) isLargeMatrix() bool { return isLargeMatrix(p.m, p.d) }

func pickSpreadAnchors(a *anchor.Anchors) *points {
	p := &points{m: min(a.M, maxPoints), d: a.D, x: a.Points}
	if p.m < a.M {
		p.x = make([]float64, 0, p.m*p.d)
		for i := range p.m {
			p.x = append(p.x, a.Points[i*a.M/p.m*p.d:][:p.d]...)
		}
	}
	return p
}

// fewFeatureCount returns the number of features, out of d, whose choice best distinguishes structure from chance. If
// rows are few, even hundreds of features chosen from random columns follow the graph as well as a choice from the data
// does. The number is at most half of the features, because a choice of nearly all features shows nothing.
func fewFeatureCount(d int) int { return min(maxFewFeatures, (d+1)/2) }

// maxFeatures is the largest number of chosen features, and maxWork the largest cost in flops. Each chosen feature
// needs a column of XᵀX, which costs 2md flops. Of thousands of columns people select at most hundreds, and the sets on
// which the verdict was measured do not have more.
const (
	maxFeatures = 300
	maxWork     = 2.5e9
)

func chooseFeatureCount(anchors, features int) int {
	most := min(maxFeatures, int(maxWork/float64(anchors)/float64(features)))
	return max(min(int(math.Round(selectedShare*float64(features))), most), fewFeatureCount(features))
}

// GraphBytes returns an upper bound of the memory of CompareGraph in addition to the anchors, m of d features.
func GraphBytes(m, d, neighbors, threads int) int64 {
	return room.Measure(func(l *room.Layout) {
		if m > maxPoints {
			kernel.NewMatrix[float64](l, maxPoints, d)
		}
		m := min(m, maxPoints)
		if !isLargeMatrix(m, d) { // the permuted copy
			kernel.NewMatrix[float64](l, m, d)
		}
		l.Add(anchor.AmongBytes(m, d, neighbors, threads))
		new(centredProducts).layOut(l, m, d)
		l.Phase(func() { l.Add(spectral.DiffusionBytes(m, d)) })
		l.Add(align.ChooseBytes(d, chooseFeatureCount(m, d), false) + 24*int64(d))
	})
}

// points holds m points in d dimensions, row-major.
type points struct {
	m, d      int
	x         []float64
	neighbors int
	team      *kernel.Team
}

func (p *points) alignFeatures(ctx context.Context, count int) ([]float64, error) {
	g, err := anchor.Among(p.x, p.m, p.d, anchor.Options{Neighbors: p.neighbors, Threads: p.team.Threads(), Limit: math.MaxInt64})
	if err != nil {
		return nil, err
	}
	c := p.newCentredProducts()
	return selectByAlignment(ctx, p.team, g, align.Problem{Squares: c.squares, Column: c.productColumn, Ahead: c.computeAhead}, count)
}

// selectByAlignment chooses k features greedily. It returns the alignments of the first 1, 2, … k of these with the
// graph g. Before, the caller sets problem.Squares, the diagonal of XᵀX, and problem.Column, which returns a column of
// XᵀX.
func selectByAlignment(ctx context.Context, team *kernel.Team, g *anchor.Graph, problem align.Problem, k int) ([]float64, error) {
	diffusion, err := spectral.Diffuse(team, g, spectral.DefaultDiffusion)
	if err != nil {
		return nil, err
	}
	problem.A, problem.Norm = diffusion.A, diffusion.Norm
	r, err := align.Choose(ctx, problem, align.Options{K: k, Threads: team.Threads()})
	if err != nil {
		return nil, err
	}
	return r.Alignment, nil
}
