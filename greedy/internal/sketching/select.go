package sketching

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/refine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SelectSketched implements greedy.SelectSketched: it chooses features by a sketch of the rows.
func SelectSketched(ctx context.Context, g *gram.Gram, src stream.Source, std *gram.Standardizer, passes int, opt selection.StreamOptions) (*selection.Result, error) {
	switch {
	case len(opt.Explain) > 0:
		return nil, stream.Usagef("{explain-columns} needs the exact products with the explained columns; leave it or {-sketch} out")
	case opt.Partitioned:
		return nil, stream.Usagef("the partition-based algorithm has its target in one pass, and no use of a sketch")
	case opt.Refine:
		return nil, refine.ErrWithSketch()
	case opt.MinGain > 0:
		return nil, stream.Usagef("{min-gain} needs exact shares, but {sketch} estimates them during the choice; use {k}")
	case passes > 1 && (opt.Blocks != nil || opt.Budget > 0):
		return nil, blocks.ErrNeedGram(blocks.RemedyOnePass)
	case opt.Variance > 0:
		return nil, stream.Usagef("{variance} needs an exact share, but {sketch} estimates it during the choice; use {k}")
	}
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt.Options = opt.WithDefaults(g.D)
	s := &sketchSelection{gram: g, opt: opt.Options, isCandidate: make([]bool, g.D), maxCandidates: candidateRoom(g.D, opt.K, max(passes, 2))}
	res, err := s.selectBySketch(ctx, opt.Keep)
	if err != nil {
		return nil, err
	}
	if passes < 2 {
		left := heldOutErrors(opt.Threads, &g.Matrix, g.Held, res.Order)
		if res.Blocks != nil { // errors after each block
			for n, at := 0, -1; n < len(res.Blocks); n++ {
				at += len(opt.Blocks[res.Blocks[n]].Members)
				left[n] = left[at]
			}
			left = left[:len(res.Blocks)]
		}
		res.Estimate = &stream.Estimate{
			SketchRows: g.Rank, HeldRows: g.Held.Rank, HeldError: left,
			Deviation: stream.Number(math.NaN()), Outside: stream.Number(math.NaN()),
		}
		exactly := stream.Textf("{passes} 2, from the data, makes them exact")
		if res.Blocks != nil {
			exactly = stream.Textf("they are exact without {sketch}")
		}
		res.Warnings = append(res.Warnings, stream.Textf("all numbers are estimates from a sketch of %d rows: on rows kept out of it %.3g of the sum of squares is left, not %.3g; %v",
			g.Rank, float64(left[len(left)-1]), res.Error[len(res.Error)-1], exactly))
		return res, nil
	}
	return s.selectAmongCandidates(ctx, scan.NewReader(src, std, &opt), passes)
}

// SketchedBytes implements greedy.SketchedBytes: it returns the memory of SelectSketched in addition to the sketch.
func SketchedBytes(d, k, rows, passes int) int64 {
	return room.Measure(func(l *room.Layout) {
		l.Add(engine.FactorBytes(d, k, rows, rows) + int64(d)*int64(rows)) // an eighth of the rows is held out
		if passes < 2 {
			layOutHeldOut(l, d, k, rows, rows/8)
			return
		}
		n := candidateRoom(d, k, passes)
		new(candidateEngine).layOut(l, d)
		engine.LayOutSelection(l, d, k)
		room.Slice[float64](l, n*(d+k)+(n+d)*stream.BlockRows(d)) // columns and scores of candidates, and blocks of rows
		l.Add(kernel.TeamBytes(d, d))
	})
}

// candidateRoom returns the largest number of candidates for a choice of k of d features: (RivalsPerTurn+1)·k from the
// first pass that fetches candidates, and the same number from all later passes together.
func candidateRoom(d, k, passes int) int {
	return min(d, (engine.RivalsPerTurn+1)*k*min(passes-1, 2))
}

// sketchSelection holds the sketch and the candidates, i.e. the features that the sketch has proposed so far. Exact
// columns of G are computed only for candidates.
type sketchSelection struct {
	gram          *gram.Gram
	opt           selection.Options
	isCandidate   []bool // by feature
	candidates    []int  // in the order in which they were named
	maxCandidates int    // largest length of candidates

	// The next two fields have an entry for each turn of the last call of selectBySketch. Scores in them are divided by
	// ‖A‖², the sum of squares of the data.
	scores      [][]float64 // of the candidates known before that call, parallel to candidates
	bestOutside []float64   // the best score of a feature that was not a candidate
}

// selectBySketch makes a selection by the sketch. The features in the parameter first are chosen first. It adds the
// features with the highest scores of every turn to the candidates.
func (s *sketchSelection) selectBySketch(ctx context.Context, first []int) (*selection.Result, error) {
	opt := s.opt
	opt.Keep = first
	t, err := target.NewFactored(kernel.NewTeam(opt.Threads), &s.gram.Matrix)
	if err != nil {
		return nil, err
	}
	oldCandidates := slices.Clone(s.candidates)
	s.scores, s.bestOutside = make([][]float64, opt.K+1), make([]float64, opt.K+1)
	res, err := inmemory.ChooseFeatures(ctx, &s.gram.Matrix, t, opt, func(c *engine.Criterion) {
		turn, bias := countChosenFeatures(c), c.RemainingError()/float64(s.gram.Rank)
		s.scores[turn] = scoreShares(c, oldCandidates, bias)
		leaders := engine.TopFeatures(engine.RivalsPerTurn, c.FeatureCount, c.Score)
		for i, share := range scoreShares(c, leaders, bias) {
			if !slices.Contains(oldCandidates, leaders[i]) {
				s.bestOutside[turn] = max(s.bestOutside[turn], share)
			}
			s.addCandidate(leaders[i])
		}
	})
	if err != nil {
		return nil, err
	}
	for _, p := range res.Order {
		s.addCandidate(p)
	}
	return res, nil
}

func (s *sketchSelection) addCandidate(feature int) {
	if !s.isCandidate[feature] && len(s.candidates) < s.maxCandidates {
		s.isCandidate[feature], s.candidates = true, append(s.candidates, feature)
	}
}

func countChosenFeatures(c *engine.Criterion) (n int) {
	for _, isChosen := range c.Chosen {
		if isChosen {
			n++
		}
	}
	return n
}

// scoreShares returns the scores of the listed features less the parameter bias, divided by ‖A‖², the sum of squares of
// the data. A score is the reduction of the error by a feature. Exact scores need no bias. If Ĝ is the estimate of G by
// a sketch of r rows, the expectation of ‖Ĝ₍:,i₎‖² is ‖G₍:,i₎‖²(1 + 1/r) + Gᵢᵢ·tr(G)/r. The last term makes the scores
// of all features too large, by about tr(R)/r, R being the residual of G.
func scoreShares(c *engine.Criterion, list []int, bias float64) []float64 {
	whole := floats.Sum(c.G0)
	out := make([]float64, len(list))
	for i, p := range list {
		out[i] = max(c.Score(p)-bias, 0) / whole
	}
	return out
}

func (s *sketchSelection) selectAmongCandidates(ctx context.Context, rows *scan.Reader, passes int) (*selection.Result, error) {
	a := &candidateEngine{rows: rows}
	a.layOut(nil, s.gram.D)
	for pass := 2; ; pass++ {
		if err := a.fetchColumns(ctx, s.candidates); err != nil {
			return nil, err
		}
		scores := make([][]float64, s.opt.K+1)
		a.startCriterion()
		res, err := engine.RunLayers(ctx, a, a.Criterion, s.opt, func(c *engine.Criterion) { scores[countChosenFeatures(c)] = scoreShares(c, s.candidates, 0) })
		if err != nil {
			return nil, err
		}
		res.Passes = rows.Source.Passes
		knownCount := len(s.candidates)
		if _, err := s.selectBySketch(ctx, res.Order); err != nil {
			return nil, err
		}
		if pass < passes && len(s.candidates) > knownCount {
			a.restoreColumns()
			continue
		}
		res.Estimate = s.estimateSketchError(knownCount, res.Order, scores)
		s.addEstimateWarnings(res)
		return res, nil
	}
}

func (s *sketchSelection) estimateSketchError(candidates int, order []int, exact [][]float64) *stream.Estimate {
	e := &stream.Estimate{SketchRows: s.gram.Rank, HeldRows: s.gram.Held.Rank, Candidates: candidates}
	squares, n := 0.0, 0
	for turn := len(s.opt.Keep); turn < len(order); turn++ {
		chosen := exact[turn][slices.Index(s.candidates, order[turn])]
		if chosen <= 0 {
			continue
		}
		for i, score := range exact[turn] {
			if score >= chosen/2 { // features far from being chosen do not matter
				off := s.scores[turn][i]/score - 1
				squares, n = squares+off*off, n+1
			}
		}
		e.Outside = max(e.Outside, stream.Number(s.bestOutside[turn]/chosen))
	}
	e.Deviation = stream.Number(math.Sqrt(squares / float64(n)))
	return e
}

func (s *sketchSelection) addEstimateWarnings(r *selection.Result) {
	e := r.Estimate
	outside := stream.Textf("by the sketch, no other feature scored more than %.0f %% of a chosen one", 100*float64(e.Outside))
	if e.Outside == 0 {
		outside = stream.Textf("by the sketch, no other feature came near a chosen one")
	}
	r.Warnings = append(r.Warnings, stream.Textf("chosen among %d candidates that a sketch of %d rows named: their scores and shares are exact; %v, whose scores are off by %.1f %%",
		e.Candidates, e.SketchRows, outside, 100*float64(e.Deviation)))
	if r.Exhausted {
		r.Warnings = append(r.Warnings, stream.Textf("no candidate is left to choose: {passes} %d finds others", r.Passes+2))
	}
}
