package greedy

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
)

// componentGreedy is the method fastcan, the unsupervised form of: Zhang, Wang, Worden, Sun, Cross,
// "Canonical-correlation-based fast feature selection for structural health monitoring", Mechanical Systems and Signal
// Processing 223 (2025). It chooses, one at a time, the feature that most raises the sum of the squared canonical
// correlations between the chosen columns and the q leading principal components of the centred data.
//
// This is Algorithm 1 of Farahat et al. with the components T as target, each of norm 1. They are orthonormal, so the
// sum is tr(TᵀP_S T) = ‖T‖² − ‖T − P_S T‖², with the projection P_S on the chosen columns. The gain of a feature, which
// the paper computes as the sum of its h-correlations with the orthogonalized columns, is greedy's criterion fᵢ/gᵢ.
type componentGreedy struct{ components method.ComponentCount }

// defaultComponentCount is our own default; the paper has none, and its program's example uses as many components as
// features. It does not depend on the number of features, so that selections are nested. If the components had nearly
// all of the variance, they would span the features, and every feature would be as good as any other. Ten labelled sets
// did not decide between half of the variance, 70 %, and 5 or 10 components.
var defaultComponentCount = method.ComponentCount{Share: 0.5}

func (m *componentGreedy) Options(o *method.Options) {
	o.DeclareComponents(&m.components, defaultComponentCount)
}

func (m *componentGreedy) Cost(s method.Shape) (method.Cost, error) {
	if s.OutOfCore { // the components come from the Gram matrix
		return method.Cost{Bytes: method.Unaffordable, Least: method.Unaffordable}, nil
	}
	d := len(s.Columns)
	order := d // of the matrix whose eigenvectors give the components
	if s.Rank > 0 {
		order = min(d, s.Rank)
	}
	rows := order
	if m.components.Count > 0 {
		rows = min(m.components.Count, order)
	}
	solving := Bytes(d, s.K, rows)
	if s.Rank > 0 {
		solving = FactorBytes(d, s.K, s.Rank, rows)
	}
	solving += 8*int64(rows)*int64(d) + blocks.BlockBytes(d, rows, s.Blocks, s.Threads)
	return method.Cost{Bytes: max(solving, spectral.ComponentsBytes(d, s.Rank, m.components.Count))}, nil
}

func (m *componentGreedy) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	g := &e.Gram.Matrix
	if err := g.Check(); err != nil {
		return nil, err
	}
	found, err := spectral.FindComponents(kernel.NewTeam(e.Threads), g, m.components.Count, m.components.Share)
	if err != nil {
		return nil, fmt.Errorf("principal components: %w", err)
	}
	goal := target.NewComponents(found)
	opt := selectionOptions(e)
	opt.TargetSquares = goal.TotalSquares
	res, err := inmemory.SelectMatrix(ctx, g, goal.Matrix, opt)
	if err != nil {
		return nil, err
	}
	res.Error = goal.ErrorCurve(engine.FirstLayerGains(res))
	out := toRanking(res, e)
	if res.Blocks == nil {
		out.Least = target.LeastOrthonormalErrors(goal.Height, res.Error)
	}
	out.Used["components"] = m.components.ToText()
	// A basis of an eigenspace that is in the target as a whole does not matter.
	out.Warnings = append(out.Warnings, found.WarnOfTies(len(found.Values)-1)...)
	return out, nil
}
