package greedy

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// selectBlocks chooses blocks as selectInMemory chooses features. If costs differ, it chooses by gain per cost. Under a
// budget it then also chooses by gain alone, which begins with the best single block, and returns the better of the two
// results. Each of the two may be arbitrarily far from the best set. The better one cannot be, if each block's gain
// falls as the set grows (Khuller, Moss, Naor, "The budgeted maximum coverage problem", Information Processing Letters
// 70 (1999); Leskovec et al., "Cost-effective outbreak detection in networks", KDD 2007, section 3.2).
func selectBlocks(ctx context.Context, m *gramEngine, from gramSource, opt Options) (*Result, error) {
	choose := func(perCost bool) (*Result, error) {
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
	if m, err = from.restartWithout(ctx, nil); err != nil {
		return nil, err
	}
	plain, err := choose(false)
	if err != nil {
		return nil, err
	}
	if floats.Sum(plain.firstLayerGains()) > floats.Sum(best.firstLayerGains())*(1+tieShare) {
		plain.Warnings = append(plain.Warnings, stream.Textf("within the budget the choice by gain alone explains more than the choice by gain per cost, and was used"))
		return plain, nil
	}
	return best, nil
}

// blockRun is a selection of blocks in progress.
type blockRun struct {
	*blockEngine
	*resultRecorder
	opt          Options
	perCost      bool
	gate         *choiceFilter
	budgetLeft   float64 // rest of the budget; +Inf without a budget
	chosenBlocks []bool  // by block
	turns        blockResult
}

// blockResult has the fields of Result that have one entry for each chosen block.
type blockResult struct {
	order        []int
	score, error []float64
	layers       []int
	ties         []Tie
}

// budgetShare is the share of the budget by which the costs of the chosen blocks may exceed it, because of rounding.
const budgetShare = 1e-12

func runBlockLayers(ctx context.Context, b *blockEngine, opt Options, perCost bool) (*Result, error) {
	s := &blockRun{
		blockEngine: b, resultRecorder: newRecorder(b.criterion), opt: opt, perCost: perCost,
		gate: newChoiceFilter(opt.Choice, b.d), budgetLeft: math.Inf(1), chosenBlocks: make([]bool, len(b.blockList)),
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
		if end == notEnded || len(s.turns.order) == before && s.currentLayer() > 1 {
			break
		}
		s.layerEnds = append(s.layerEnds, layerEnd{end, len(s.Order)})
		if opt.Variance > 0 || opt.MinGain > 0 || len(s.turns.order) == opt.K || len(s.turns.order) == before || !s.canChooseAny() {
			break
		}
		excluded := make([]bool, b.d)
		for _, p := range s.Order {
			excluded[p] = true
		}
		if err := b.startNextBlockLayer(ctx, excluded); err != nil {
			return nil, err
		}
		s.prepareNextLayer(end)
	}
	return s.finishBlocks(), nil
}

func (s *blockRun) canChoose(i int) bool {
	return !s.chosenBlocks[i] && s.gate.allows(i) && s.blockList[i].Cost <= s.budgetLeft
}

func (s *blockRun) canChooseAny() bool {
	for i := range s.blockList {
		if s.canChoose(i) {
			return true
		}
	}
	return false
}

func (s *blockRun) chooseBlockLayer(ctx context.Context) (endReason, error) {
	for len(s.turns.order) < s.opt.K {
		if err := ctx.Err(); err != nil {
			return notEnded, err
		}
		turn := len(s.turns.order)
		if turn < len(s.opt.Keep) {
			i := s.opt.Keep[turn]
			s.factors[i] = s.factorBlock(i)
			if len(s.factors[i].pivots) == 0 {
				s.Redundant = append(s.Redundant, s.blockList[i].Members...)
			}
			if err := s.chooseBlock(ctx, i); err != nil {
				return notEnded, err
			}
			continue
		}
		if s.opt.Variance > 0 && s.explainedShare() >= s.opt.Variance || !s.canChooseAny() {
			break
		}
		s.computeGains(s.canChoose)
		i, ties, end := s.bestBlock()
		if end != notEnded {
			return end, nil
		}
		if gain := s.blockGainShare(i); s.opt.MinGain > 0 && gain < s.opt.MinGain {
			if turn == 0 {
				return notEnded, stream.Usagef("{min-gain} %v: nothing gains as much; the first gains %.2g", s.opt.MinGain, gain)
			}
			break
		}
		if ties != nil {
			s.turns.ties = append(s.turns.ties, Tie{turn, ties})
		}
		if err := s.chooseBlock(ctx, i); err != nil {
			return notEnded, err
		}
	}
	return notEnded, nil
}

// bestBlock returns the block with the largest gain, or gain per cost. Blocks whose gain is within tieShare of the
// largest are tied: the result first is the tied block with the lowest number, and ties has the other tied blocks.
func (s *blockRun) bestBlock() (first int, ties []int, end endReason) {
	best := 0.0
	for i := range s.blockList {
		best = max(best, s.gainOrGainPerCost(i))
	}
	if best == 0 {
		return -1, nil, rankReached
	}
	first = -1
	noise := !s.target.isSelf
	for i := range s.blockList {
		if s.gainOrGainPerCost(i) < best*(1-tieShare) {
			continue
		}
		noise = noise && !(s.blockGains[i] > targetNoiseShare*s.startGains[i])
		if first < 0 {
			first = i
		} else {
			ties = append(ties, i)
		}
	}
	if noise {
		return -1, nil, targetReached
	}
	return first, ties, notEnded
}

func (s *blockRun) blockGainShare(i int) float64 {
	gain, whole := s.blockGains[i]*s.scoreUnit(), s.opt.targetSquares
	if whole == 0 { // the target is the data itself
		whole = s.total / s.gUnit
	}
	if whole <= 0 {
		return 0
	}
	return gain / whole
}

func (s *blockRun) gainOrGainPerCost(i int) float64 {
	if s.perCost {
		return s.blockGains[i] / s.blockList[i].Cost
	}
	return s.blockGains[i]
}

func (s *blockRun) chooseBlock(ctx context.Context, i int) error {
	score, err := s.takeBlock(ctx, i, len(s.layerEnds) == 0, s.resultRecorder, func(room int) []int { return s.nextLikelyFeatures(i, room) })
	if err != nil {
		return err
	}
	s.chosenBlocks[i] = true
	s.gate.countChosen(i)
	s.budgetLeft -= s.blockList[i].Cost
	s.turns.order = append(s.turns.order, i)
	s.turns.score = append(s.turns.score, score*s.scoreUnit())
	s.turns.error = append(s.turns.error, lastElement(s.Error))
	s.turns.layers = append(s.turns.layers, s.currentLayer())
	return nil
}

// nextLikelyFeatures lists at most `room` features that may be chosen after block i: the pivots of the other blocks, in
// order of falling gain, or gain per cost.
func (s *blockRun) nextLikelyFeatures(i, room int) (features []int) {
	values := make([]float64, len(s.blockList))
	for j := range values {
		values[j] = s.gainOrGainPerCost(j)
	}
	order, _ := method.Rank(values, func(_, _ float64) bool { return false })
	for _, j := range order {
		pivots := s.factors[j].pivots
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

func (s *blockRun) finishBlocks() *Result {
	// finishResult counts features. Exhausted and other fields that count blocks are set after it.
	opt := s.opt
	opt.K, opt.Groups = len(s.Order), s.opt.Groups
	r := s.finishResult(opt)
	r.Blocks, r.Scores, r.Error, r.Ties = s.turns.order, s.turns.score, s.turns.error, s.turns.ties
	if r.Layers = nil; lastElement(append([]int{1}, s.turns.layers...)) > 1 {
		r.Layers = s.turns.layers
	}
	r.Exhausted = len(r.Blocks) < s.opt.K && s.canChooseAny()
	return r
}

// singleFeatureOptions replaces blocks of one feature each by the features themselves, so that an engine for single
// features can be used. Options with larger blocks, or without blocks, stay unchanged.
func singleFeatureOptions(opt Options) Options {
	if opt.Blocks == nil || !opt.Single() {
		return opt
	}
	number := func(list []int) []int {
		out := make([]int, len(list))
		for n, i := range list {
			out[n] = opt.Blocks[i].Members[0]
		}
		return out
	}
	opt.Keep, opt.Forbid = number(opt.Keep), number(opt.Forbid)
	if opt.Most > 0 {
		sets := make([]int, len(opt.Blocks))
		for i, b := range opt.Blocks {
			sets[b.Members[0]] = opt.Sets[i]
		}
		opt.Sets = sets
	}
	opt.Blocks = nil
	return opt
}

func blocksOfFeatures(features []int, list []method.Block) []int {
	at := make(map[int]int, len(list))
	for i, b := range list {
		at[b.Members[0]] = i
	}
	out := make([]int, len(features))
	for n, j := range features {
		out[n] = at[j]
	}
	return out
}
