package greedy

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// selectBlocks is selectMemory for blocks: by gain per cost where costs differ. Within a budget that is
// compared with greedy by gain alone, which begins with the best single block: each may be arbitrarily
// far from the best set, and the better of both is not (Khuller, Moss, Naor, "The budgeted maximum
// coverage problem", Information Processing Letters 70 (1999); Leskovec et al., "Cost-effective outbreak
// detection in networks", KDD 2007, section 3.2), as far as gains fall while the set grows.
func selectBlocks(ctx context.Context, m *memory, from products, opt Options) (*Result, error) {
	choose := func(perCost bool) (*Result, error) {
		b, err := newBlocks(ctx, m, from, opt.Blocks)
		if err != nil {
			return nil, err
		}
		return runBlocks(ctx, b, opt, perCost)
	}
	best, err := choose(opt.Priced())
	if err != nil || !opt.Priced() || opt.Budget == 0 {
		return best, err
	}
	if m, err = from.again(ctx, nil); err != nil {
		return nil, err
	}
	plain, err := choose(false)
	if err != nil {
		return nil, err
	}
	if floats.Sum(plain.gains()) > floats.Sum(best.gains())*(1+tieShare) {
		plain.Warnings = append(plain.Warnings, stream.Textf("within the budget the choice by gain alone explains more than the one by gain per cost, and is taken"))
		return plain, nil
	}
	return best, nil
}

// blockRun is a selection of blocks under way.
type blockRun struct {
	*blocks
	*recorder
	opt     Options
	perCost bool
	gate    *gate
	left    float64 // of the budget
	tried   []bool  // blocks that are chosen
	out     blockResult
}

// blockResult is what a Result has of blocks in place of features.
type blockResult struct {
	order        []int
	score, error []float64
	layers       []int
	ties         []Tie
}

// budgetShare is how far costs may go over a budget: their rounding.
const budgetShare = 1e-12

// runBlocks is run for blocks.
func runBlocks(ctx context.Context, b *blocks, opt Options, perCost bool) (*Result, error) {
	s := &blockRun{
		blocks: b, recorder: newRecorder(b.criterion), opt: opt, perCost: perCost,
		gate: newGate(opt.Choice, b.d), left: math.Inf(1), tried: make([]bool, len(b.list)),
	}
	if opt.Budget > 0 {
		s.left = opt.Budget * (1 + budgetShare)
	}
	for {
		before := len(s.out.order)
		end, err := s.layer(ctx)
		if err != nil {
			return nil, err
		}
		if end == notEnded || len(s.out.order) == before && s.current() > 1 {
			break
		}
		s.ends = append(s.ends, layerEnd{end, len(s.Order)})
		if opt.Variance > 0 || opt.MinGain > 0 || len(s.out.order) == opt.K || len(s.out.order) == before || !s.anyMay() {
			break
		}
		out := make([]bool, b.d)
		for _, p := range s.Order {
			out[p] = true
		}
		if err := b.next(ctx, out); err != nil {
			return nil, err
		}
		s.follow(end)
	}
	return s.finish(), nil
}

// may reports whether block i may be chosen.
func (s *blockRun) may(i int) bool {
	return !s.tried[i] && s.gate.open(i) && s.list[i].Cost <= s.left
}

func (s *blockRun) anyMay() bool {
	for i := range s.list {
		if s.may(i) {
			return true
		}
	}
	return false
}

// layer chooses blocks until there are K, none may be chosen, or nothing is left to explain.
func (s *blockRun) layer(ctx context.Context) (ending, error) {
	for len(s.out.order) < s.opt.K {
		if err := ctx.Err(); err != nil {
			return notEnded, err
		}
		turn := len(s.out.order)
		if turn < len(s.opt.Keep) {
			i := s.opt.Keep[turn]
			s.factors[i] = s.factor(i)
			if len(s.factors[i].pivots) == 0 {
				s.Redundant = append(s.Redundant, s.list[i].Members...)
			}
			if err := s.choose(ctx, i); err != nil {
				return notEnded, err
			}
			continue
		}
		if s.opt.Variance > 0 && s.share() >= s.opt.Variance || !s.anyMay() {
			break
		}
		s.judge(s.may)
		i, ties, end := s.winner()
		if end != notEnded {
			return end, nil
		}
		if gain := s.gained(i); s.opt.MinGain > 0 && gain < s.opt.MinGain {
			if turn == 0 {
				return notEnded, stream.Usagef("{min-gain} %v: nothing gains as much; the first gains %.2g", s.opt.MinGain, gain)
			}
			break
		}
		if ties != nil {
			s.out.ties = append(s.out.ties, Tie{turn, ties})
		}
		if err := s.choose(ctx, i); err != nil {
			return notEnded, err
		}
	}
	return notEnded, nil
}

// winner is the lowest of the blocks within a tie of the best gain, or gain per cost, and the others.
func (s *blockRun) winner() (first int, ties []int, end ending) {
	best := 0.0
	for i := range s.list {
		best = max(best, s.value(i))
	}
	if best == 0 {
		return -1, nil, rankReached
	}
	first = -1
	noise := !s.target.self
	for i := range s.list {
		if s.value(i) < best*(1-tieShare) {
			continue
		}
		noise = noise && !(s.gains[i] > targetShare*s.start[i])
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

// gained is the share of the whole that block i takes off it.
func (s *blockRun) gained(i int) float64 {
	gain, whole := s.gains[i]*s.scoreUnit(), s.opt.whole
	if whole == 0 { // of the data itself
		whole = s.total / s.gUnit
	}
	if whole <= 0 {
		return 0
	}
	return gain / whole
}

func (s *blockRun) value(i int) float64 {
	if s.perCost {
		return s.gains[i] / s.list[i].Cost
	}
	return s.gains[i]
}

// choose takes block i.
func (s *blockRun) choose(ctx context.Context, i int) error {
	score, err := s.take(ctx, i, len(s.ends) == 0, s.recorder, func(room int) []int { return s.soon(i, room) })
	if err != nil {
		return err
	}
	s.tried[i] = true
	s.gate.count(i)
	s.left -= s.list[i].Cost
	s.out.order = append(s.out.order, i)
	s.out.score = append(s.out.score, score*s.scoreUnit())
	s.out.error = append(s.out.error, last(s.Error))
	s.out.layers = append(s.out.layers, s.current())
	return nil
}

// soon are the features of the blocks beside i that were worth most, up to so many.
func (s *blockRun) soon(i, room int) (features []int) {
	values := make([]float64, len(s.list))
	for j := range values {
		values[j] = s.value(j)
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

// finish is the result, of blocks.
func (s *blockRun) finish() *Result {
	// Whether all K were chosen is a matter of blocks, and the end of a layer one of features.
	opt := s.opt
	opt.K, opt.Groups = len(s.Order), s.opt.Groups
	r := s.recorder.finish(opt)
	r.Blocks, r.Scores, r.Error, r.Ties = s.out.order, s.out.score, s.out.error, s.out.ties
	if r.Layers = nil; last(append([]int{1}, s.out.layers...)) > 1 {
		r.Layers = s.out.layers
	}
	r.Exhausted = len(r.Blocks) < s.opt.K && s.anyMay()
	return r
}

// singly turns a choice among single features into one among blocks of one, whose result is that of
// features: the same choice, in the engines for features. Others it leaves alone.
func singly(opt Options) Options {
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

// blocksOf numbers the blocks of one that features are.
func blocksOf(features []int, list []method.Block) []int {
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
