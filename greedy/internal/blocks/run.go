package blocks

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// SelectBlocks chooses blocks as [engine.RunLayers] chooses features. If costs differ, it chooses by gain per cost. Under a
// budget it then also chooses by gain alone, which begins with the best single block, and returns the better of the two
// results. Each of the two may be arbitrarily far from the best set. The better one cannot be, if each block's gain
// falls as the set grows (Khuller, Moss, Naor, "The budgeted maximum coverage problem", Information Processing Letters
// 70 (1999); Leskovec et al., "Cost-effective outbreak detection in networks", KDD 2007, section 3.2).
func SelectBlocks(ctx context.Context, m *engine.Gram, from Source, opt selection.Options) (*selection.Result, error) {
	choose := func(perCost bool) (*selection.Result, error) {
		b, err := newBlockEngine(ctx, m, from, opt.Blocks)
		if err != nil {
			return nil, err
		}
		return runBlockLayers(ctx, b, opt, perCost)
	}
	best, err := choose(opt.HasCosts())
	if err != nil || !opt.HasCosts() || opt.Budget == 0 {
		return best, err
	}
	if m, err = from.RestartWithout(ctx, nil); err != nil {
		return nil, err
	}
	plain, err := choose(false)
	if err != nil {
		return nil, err
	}
	if floats.Sum(engine.FirstLayerGains(plain)) > floats.Sum(engine.FirstLayerGains(best))*(1+engine.TieShare) {
		plain.Warnings = append(plain.Warnings, stream.Textf("within the budget the choice by gain alone explains more than the choice by gain per cost, and was used"))
		return plain, nil
	}
	return best, nil
}

type blockRun struct {
	blocks       *blockEngine
	recorder     *engine.Recorder
	opt          selection.Options
	perCost      bool
	gate         *engine.Filter
	budgetLeft   float64 // rest of the budget; +Inf without a budget
	chosenBlocks []bool  // by block
	turns        blockResult
}

// blockResult has the fields of Result that have one entry for each chosen block.
type blockResult struct {
	order        []int
	score, error []float64
	layers       []int
	ties         []selection.Tie
}

// budgetShare is the share of the budget by which the costs of the chosen blocks may exceed it, because of rounding.
const budgetShare = 1e-12

func runBlockLayers(ctx context.Context, b *blockEngine, opt selection.Options, perCost bool) (*selection.Result, error) {
	s := &blockRun{
		blocks: b, recorder: engine.NewRecorder(b.engine.Criterion, opt.Explain), opt: opt, perCost: perCost,
		gate: engine.NewFilter(opt.Choice, b.engine.D), budgetLeft: math.Inf(1), chosenBlocks: make([]bool, len(b.blockList)),
	}
	if opt.Budget > 0 {
		s.budgetLeft = opt.Budget * (1 + budgetShare)
	}
	for {
		before := len(s.turns.order)
		end, err := s.chooseBlockLayer(ctx)
		if err != nil {
			return nil, err
		}
		if end == engine.NotEnded || len(s.turns.order) == before && s.recorder.CurrentLayer() > 1 {
			break
		}
		s.recorder.LayerEnds = append(s.recorder.LayerEnds, engine.LayerEnd{Reason: end, Chosen: len(s.recorder.Order)})
		if opt.Variance > 0 || opt.MinGain > 0 || len(s.turns.order) == opt.K || len(s.turns.order) == before || !s.canChooseAny() {
			break
		}
		excluded := make([]bool, b.engine.D)
		for _, p := range s.recorder.Order {
			excluded[p] = true
		}
		if err := b.startNextBlockLayer(ctx, excluded); err != nil {
			return nil, err
		}
		s.recorder.PrepareNextLayer(end)
	}
	return s.finishBlocks(), nil
}

func (s *blockRun) canChoose(block int) bool {
	return !s.chosenBlocks[block] && s.gate.Allows(block) && s.blocks.blockList[block].Cost <= s.budgetLeft
}

func (s *blockRun) canChooseAny() bool {
	for i := range s.blocks.blockList {
		if s.canChoose(i) {
			return true
		}
	}
	return false
}

func (s *blockRun) chooseBlockLayer(ctx context.Context) (engine.EndReason, error) {
	for len(s.turns.order) < s.opt.K {
		if err := ctx.Err(); err != nil {
			return engine.NotEnded, err
		}
		turn := len(s.turns.order)
		if turn < len(s.opt.Keep) {
			i := s.opt.Keep[turn]
			s.blocks.factors[i] = s.blocks.factorBlock(i)
			if len(s.blocks.factors[i].pivots) == 0 {
				s.recorder.Redundant = append(s.recorder.Redundant, s.blocks.blockList[i].Members...)
			}
			if err := s.chooseBlock(ctx, i); err != nil {
				return engine.NotEnded, err
			}
			continue
		}
		if s.opt.Variance > 0 && s.recorder.ExplainedShare() >= s.opt.Variance || !s.canChooseAny() {
			break
		}
		s.blocks.computeGains(s.canChoose)
		i, ties, end := s.bestBlock()
		if end != engine.NotEnded {
			return end, nil
		}
		if gain := s.shareOfTotalGain(i); s.opt.MinGain > 0 && gain < s.opt.MinGain {
			if turn == 0 {
				return engine.NotEnded, stream.Usagef("{min-gain} %v: nothing gains as much; the first gains %.2g", s.opt.MinGain, gain)
			}
			break
		}
		if ties != nil {
			s.turns.ties = append(s.turns.ties, selection.Tie{Turn: turn, Columns: ties})
		}
		if err := s.chooseBlock(ctx, i); err != nil {
			return engine.NotEnded, err
		}
	}
	return engine.NotEnded, nil
}

// bestBlock returns the block with the largest gain, or gain per cost. Blocks whose gain is within TieShare of the
// largest are tied: the result first is the tied block with the lowest number, and ties has the other tied blocks.
func (s *blockRun) bestBlock() (first int, ties []int, end engine.EndReason) {
	best := 0.0
	for i := range s.blocks.blockList {
		best = max(best, s.gainOrGainPerCost(i))
	}
	if best == 0 {
		return -1, nil, engine.RankReached
	}
	first = -1
	noise := !s.blocks.engine.Target.IsSelf
	for i := range s.blocks.blockList {
		if s.gainOrGainPerCost(i) < best*(1-engine.TieShare) {
			continue
		}
		noise = noise && !(s.blocks.blockGains[i] > engine.TargetNoiseShare*s.blocks.startGains[i])
		if first < 0 {
			first = i
		} else {
			ties = append(ties, i)
		}
	}
	if noise {
		return -1, nil, engine.TargetReached
	}
	return first, ties, engine.NotEnded
}

func (s *blockRun) shareOfTotalGain(block int) float64 {
	gain, whole := s.blocks.blockGains[block]*s.blocks.scoreUnit(), s.opt.TargetSquares
	if whole == 0 { // the target is the data itself
		whole = s.recorder.Total / s.blocks.engine.GUnit
	}
	if whole <= 0 {
		return 0
	}
	return gain / whole
}

func (s *blockRun) gainOrGainPerCost(block int) float64 {
	if s.perCost {
		return s.blocks.blockGains[block] / s.blocks.blockList[block].Cost
	}
	return s.blocks.blockGains[block]
}

func (s *blockRun) chooseBlock(ctx context.Context, block int) error {
	score, err := s.blocks.takeBlock(ctx, block, len(s.recorder.LayerEnds) == 0, s.recorder, func(room int) []int { return s.nextLikelyFeatures(block, room) })
	if err != nil {
		return err
	}
	s.chosenBlocks[block] = true
	s.gate.CountChosen(block)
	s.budgetLeft -= s.blocks.blockList[block].Cost
	s.turns.order = append(s.turns.order, block)
	s.turns.score = append(s.turns.score, score*s.blocks.scoreUnit())
	s.turns.error = append(s.turns.error, s.recorder.Error[len(s.recorder.Error)-1])
	s.turns.layers = append(s.turns.layers, s.recorder.CurrentLayer())
	return nil
}

// nextLikelyFeatures lists at most `room` features that may be chosen after block i: the pivots of the other blocks, in
// order of falling gain, or gain per cost.
func (s *blockRun) nextLikelyFeatures(i, room int) (features []int) {
	values := make([]float64, len(s.blocks.blockList))
	for j := range values {
		values[j] = s.gainOrGainPerCost(j)
	}
	order, _ := method.Rank(values, func(_, _ float64) bool { return false })
	for _, j := range order {
		pivots := s.blocks.factors[j].pivots
		if j == i || values[j] == 0 {
			continue
		}
		if len(features)+len(pivots) > room {
			break
		}
		features = append(features, pivots...)
	}
	return features
}

func (s *blockRun) finishBlocks() *selection.Result {
	// FinishResult counts features. Exhausted and other fields that count blocks are set after it.
	opt := s.opt
	opt.K, opt.Groups = len(s.recorder.Order), s.opt.Groups
	r := s.recorder.FinishResult(opt)
	r.Blocks, r.Scores, r.Error, r.Ties = s.turns.order, s.turns.score, s.turns.error, s.turns.ties
	if r.Layers = nil; len(s.turns.layers) > 0 && s.turns.layers[len(s.turns.layers)-1] > 1 {
		r.Layers = s.turns.layers
	}
	r.Exhausted = len(r.Blocks) < s.opt.K && s.canChooseAny()
	return r
}
