package spec

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features.
type Result struct {
	Order         []int     // all features, best first; features with equal scores in column order
	Scores        []float64 // d: score of each feature; for a constant feature +Inf, or 0 with φ₃
	LowerIsBetter bool
	Ties          method.Ties // ties of Order
	Eigenvalues   []float64   // eigenvalues of L that φ₃ uses, ascending
	Warnings      []string
}

// Select scores the features of a Graph, which is not modified. For γ(λ) = λʳ, φ₁ and φ₂ cost 2·r·m²·d flops, and φ₃
// costs the eigenpairs of an m×m matrix. The error is a *stream.UsageError, a *stream.DataError if all features are
// constant, or an error of the eigenpairs.
func Select(g *anchor.Graph, opt Options) (*Result, error) {
	return selectScaled(g, opt, 1)
}

// selectScaled selects as Select does, for L = unit·(I − BBᵀ). The anchor graph has unit 1. Any other graph has this
// form with unit 2 and BBᵀ = (I + A)/2, which is positive semidefinite: then 2(I − BBᵀ) = I − A.
func selectScaled(g *anchor.Graph, opt Options, unit float64) (*Result, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	squares := g.G.Diagonal(opt.Threads) // ‖x̃‖²
	var trace float64
	for _, square := range squares {
		trace += square
	}
	if math.IsNaN(trace) || math.IsInf(trace, 0) {
		return nil, fmt.Errorf("spec: sum of squares: %w", linalg.ErrNotFinite)
	}
	if !(trace > 0) {
		return nil, stream.Dataf("", "every feature is constant")
	}
	r := &Result{LowerIsBetter: opt.Score != Phi3}
	team := kernel.NewTeam(opt.Threads)
	if opt.Score == Phi3 {
		if err := r.scoreLeading(team, g, opt, unit); err != nil {
			return nil, err
		}
	} else {
		r.scoreQuadratic(team, g, squares, opt, unit)
	}
	for j, square := range squares {
		whole := square
		if opt.Mean != nil && opt.Score != Phi2 {
			whole += float64(g.Rows) * opt.Mean[j] * opt.Mean[j]
		}
		switch {
		case square > 0:
			r.Scores[j] /= whole
		case r.LowerIsBetter:
			r.Scores[j] = math.Inf(1) // with the paper's φ₁ a constant feature would be first
		default:
			r.Scores[j] = 0
		}
	}
	r.rankScores()
	return r, nil
}

// panelColumns is the number of columns of C that are multiplied by powers of N at a time.
const panelColumns = 256

// scoreQuadratic sets each feature's score to x̃ᵀγ(L)x̃, x̃ being the centred feature and L the Laplacian.
func (r *Result) scoreQuadratic(team *kernel.Team, g *anchor.Graph, squares []float64, opt Options, unit float64) {
	r.Scores = make([]float64, g.D)
	now, next, smooth := layOutPanels(nil, g.D, g.M)
	s := kernel.RowMajor(g.S, g.M, g.M, g.M)
	for from := 0; from < g.D; from += panelColumns {
		n := min(panelColumns, g.D-from)
		clear(smooth) // cᵀ(I + N + …)c
		c := kernel.RowMajor(g.C, g.M, g.D, g.D).Sub(0, from, g.M, n)
		power, further := kernel.RowMajor(now, g.M, n, n), kernel.RowMajor(next, g.M, n, n)
		kernel.Copy(power, c) // N^p·c
		for p := range opt.Power {
			if p > 0 {
				kernel.Copy(further, power)
				kernel.Gemm(team, -1, s, power, further)
				power, further = further, power
			}
			for a := range g.M {
				row := g.C[a*g.D+from:][:n]
				for j, v := range power.Data[a*n:][:n] {
					smooth[j] += row[j] * v
				}
			}
		}
		for j, v := range smooth[:n] {
			// Values below 0 are rounding errors, because L and all its powers are positive semidefinite.
			r.Scores[from+j] = math.Pow(unit, float64(opt.Power)) * max(squares[from+j]-v, 0)
		}
	}
}

func layOutPanels(l *room.Layout, d, m int) (now, next, sums []float64) {
	wide := min(panelColumns, d)
	return room.Slice[float64](l, m*wide), room.Slice[float64](l, m*wide), room.Slice[float64](l, wide)
}

// scoreLeading sets each feature's score to Σⱼ (γ(2) − γ(λⱼ))(x̃ᵀξⱼ)², summed over the leading eigenvectors ξⱼ.
func (r *Result) scoreLeading(team *kernel.Team, g *anchor.Graph, opt Options, unit float64) error {
	r.Scores = make([]float64, g.D)
	e, err := spectral.Embed(team, g, opt.Clusters-1)
	if err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	r.Warnings = e.Warnings
	products := kernel.NewMatrix[float64](nil, len(e.Values), g.D) // √σⱼ·x̃ᵀξⱼ
	kernel.Gemm(team, 1, e.Vectors, kernel.RowMajor(g.C, g.M, g.D, g.D), products)
	power := float64(opt.Power)
	for i, sigma := range e.Values {
		lambda := unit * max(1-sigma, 0)
		r.Eigenvalues = append(r.Eigenvalues, lambda)
		weight := (math.Pow(2, power) - math.Pow(lambda, power)) / sigma
		for j, v := range products.Data[i*g.D:][:g.D] {
			r.Scores[j] += weight * v * v
		}
	}
	return nil
}

// tieTolerance is the relative difference up to which two scores are considered equal. If a table is split differently
// into files, its sums differ by rounding errors, which must not affect the ranking. φ₁ and φ₂ are differences of
// numbers between 0 and 1, so their rounding errors are small compared with 1, but not with a small score.
const tieTolerance = 1e-12

func (r *Result) rankScores() {
	key := make([]float64, len(r.Scores))
	for j, v := range r.Scores {
		if key[j] = v; r.LowerIsBetter {
			key[j] = -v
		}
	}
	r.Order, r.Ties = method.Rank(key, func(largest, key float64) bool {
		return key == largest || largest-key <= tieTolerance*max(1, math.Abs(largest))
	})
}

// Bytes bounds the memory of Select in addition to the Graph of m anchors and d features.
func Bytes(d, m int, opt Options) int64 {
	opt = opt.withDefaults()
	return room.Measure(func(l *room.Layout) {
		l.Add(64*int64(d) + kernel.TeamBytes(m, max(m, d))) // the first part is for lists of features
		if opt.Score == Phi3 {
			l.Add(spectral.EmbedBytes(m, opt.Clusters-1))
			kernel.NewMatrix[float64](l, min(opt.Clusters-1, m), d)
		} else {
			layOutPanels(l, d, m)
		}
	})
}
