package greedy

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/outofcore"
	"github.com/ufs-stream/ufs-stream/greedy/internal/refine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graphGreedy is the method graphgreedy: Algorithm 1 of Farahat et al. for a target from the anchor graph.
type graphGreedy struct {
	target     string
	roundsText string // text of the option smooth: a number or auto
	rounds     int    // rounds of smoothing; automaticRounds until Select has found their number
	clusters   int
	refinement refinement
}

// Values of the option target.
const (
	targetSmooth   = "smooth"
	targetSpectral = "spectral"
	targetScatter  = "scatter"
)

const (
	// defaultRounds is the number of rounds of smoothing that did best on 17 data sets (bench/results/quality).
	defaultRounds = 2
	// maxRounds is the largest number of rounds: after a hundred rounds of smoothing, columns are practically constant.
	maxRounds = 100
)

func (m *graphGreedy) Options(o *method.Options) {
	o.Choice(&m.target, "target", targetSmooth, "what the features reconstruct: the data smoothed on the graph, its spectral embedding, or the smoothest directions for their scatter", targetSmooth, targetSpectral, targetScatter)
	m.rounds = defaultRounds
	o.Text(&m.roundsText, "smooth", fmt.Sprintf("rounds `T` of smoothing on the graph, for the target smooth; 0 is plain greedy on centred data; auto: of 1 to 16 the number whose choice follows long walks on the graph best (default %d)", defaultRounds)).
		Bound(m.setRoundsFromText, stream.Textf("want 0 to %d, or auto", maxRounds).String())
	o.Clusters(&m.clusters)
	m.refinement.addRefineOption(o)
	o.Check(func(isSet func(string) bool) error {
		switch {
		case m.target != targetSmooth && isSet("smooth"):
			return stream.Usagef("{-smooth} is for {target} smooth; {target} %s has {clusters} dimensions", m.target)
		case m.target == targetSmooth && isSet("clusters"):
			return stream.Usagef("{-clusters} is for {target} spectral and scatter; {target} smooth has {smooth} rounds")
		}
		return nil
	})
}

func (m *graphGreedy) Cost(s method.Shape) (method.Cost, error) {
	if s.OutOfCore {
		return m.costOutOfCore(s)
	}
	d, rows := len(s.Columns), m.clusters
	var building int64
	switch m.target {
	case targetSpectral:
		building = spectral.EmbedBytes(s.Anchors, m.clusters) + 8*int64(m.clusters)*int64(d) + kernel.TeamBytes(s.Anchors, d)
	case targetScatter:
		building = target.ScatterBytes(s.Anchors, d, m.clusters)
		if s.Rank > 0 {
			building = target.ScatterFactorBytes(s.Rank, s.Anchors, d, m.clusters)
		}
	case targetSmooth:
		building, rows = anchor.SmoothBytes(s.Anchors, d), d
		if s.Rank > 0 {
			building, rows = target.SmoothBytes(s.Anchors, d), s.Anchors
			if m.rounds == 0 {
				building, rows = 0, s.Rank
			}
		}
		if m.rounds == automaticRounds {
			building = max(building, spectral.DiffusionBytes(s.Anchors, d)) + 8*int64(d)
		}
	}
	solving := Bytes(d, s.K, rows)
	if s.Rank > 0 {
		solving = FactorBytes(d, s.K, s.Rank, rows)
	}
	solving += blocks.BlockBytes(d, rows, s.Blocks, s.Threads)
	return method.Cost{Bytes: building + max(solving+m.refinement.bytesOfExchanges(d, s.K, rows), m.leastErrorBytes(s))}, nil
}

func (m *graphGreedy) costOutOfCore(s method.Shape) (method.Cost, error) {
	d, rows, building := len(s.Columns), s.Anchors, target.SmoothBytes(s.Anchors, len(s.Columns))
	switch {
	case m.refinement.swapsFeatures():
		return method.Cost{}, refine.ErrNeedsGram(d)
	case m.target == targetSpectral:
		rows, building = m.clusters, spectral.EmbedBytes(s.Anchors, m.clusters)+8*int64(m.clusters)*int64(d)+kernel.TeamBytes(s.Anchors, d)
	case m.target != targetSmooth || m.rounds == automaticRounds || m.rounds == 0:
		return method.Cost{}, stream.Usagef("{target} scatter and {smooth} auto and 0 work on the Gram matrix, and that of %d features does not fit: raise {memory-limit}, or give {smooth} a number", d)
	}
	if s.Thin && m.target == targetSmooth {
		building += target.ThinColumnsBytes(s.Anchors)
	}
	least := building + outofcore.TargetBytes(d, s.K, rows, sparseEntries(s), s.Rows) + outofcore.BlocksBytes(d, rows, s.Blocks, s.Threads)
	most := 2*s.K + 1
	if s.Blocks > 0 {
		most += outofcore.MaxBlockStartPasses
	}
	if s.Rows > 0 { // see dataGreedy.Cost
		most += int((int64(s.K) - 1) / s.Rows)
	}
	return method.Cost{Bytes: max(s.Memory, least), Least: least, Passes: method.Passes{Least: 2, Most: most,
		Why: stream.Textf("the Gram matrix does not fit, so the selector reads the rows again for every few features")}}, nil
}

func (m *graphGreedy) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	g, team := e.Graph, kernel.NewTeam(e.Threads)
	var goal *target.Graph
	var warnings []string
	var err error
	switch m.target {
	case targetSpectral:
		goal, warnings, err = target.NewSpectral(team, g, m.clusters)
	case targetScatter:
		goal, err = target.NewScatter(team, g, m.clusters)
	default:
		if m.rounds == automaticRounds {
			if m.rounds, err = m.bestNumberOfRounds(ctx, team, e); err != nil {
				return nil, err
			}
		}
		goal, err = target.NewSmooth(team, g, m.rounds)
	}
	if err != nil {
		return nil, err
	}
	if goal.Height == 0 {
		return nil, stream.Dataf("", "the anchor graph has no direction for {target} %s: it holds only a constant; choose {target smooth}", m.target)
	}
	opt := selectionOptions(e)
	opt.Refine, opt.TargetSquares = m.refinement.swapsFeatures(), goal.TotalSquares
	var res *Result
	if g.G.Absent() {
		res, err = outofcore.SelectTarget(ctx, e.Source, e.Std, goal.Matrix, StreamOptions{Options: opt, Profile: e.Profile, Memory: e.Memory, Meter: e.Meter, Pass: e.Pass, Checkpoint: e.Checkpoint})
	} else {
		res, err = inmemory.SelectMatrix(ctx, g.G, goal.Matrix, opt)
	}
	if err != nil {
		return nil, err
	}
	res.Error = goal.ErrorCurve(engine.FirstLayerGains(res))
	out := toRanking(res, e)
	switch {
	case g.G.Absent() || res.Blocks != nil:
	case m.target == targetSmooth:
		out.Least = target.LeastSmoothErrors(team, g, goal, res)
	case m.target == targetSpectral:
		out.Least = target.LeastOrthonormalErrors(goal.Height, res.Error)
	}
	out.Used["target"] = m.target
	if m.target == targetSmooth {
		out.Used["smooth"] = m.rounds
	} else {
		out.Used["clusters"] = m.clusters
	}
	out.Warnings = append(out.Warnings, stream.PlainTexts(warnings)...)
	return out, nil
}

// Unnested implements method.Unnested: it returns advice if the selections are not nested. With {smooth} auto they are
// not, because the number of smoothing rounds depends on the number of features.
func (m *graphGreedy) Unnested() stream.Text {
	if m.target == targetSmooth && m.rounds == automaticRounds {
		return stream.Textf("finds {smooth} auto for one number of features; give {smooth} a number, or select with each {k}")
	}
	return m.refinement.whyUnnested()
}

func (m *graphGreedy) leastErrorBytes(s method.Shape) int64 {
	d := len(s.Columns)
	if s.Rank == 0 || m.target != targetSmooth {
		return target.LeastErrorBytes(d, s.K) + 8*int64(s.Anchors)*target.BoundStartRows
	}
	return target.LeastAnchorErrorBytes(max(s.Rank, s.Anchors), d, s.K)
}
