package greedy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

func (s *streamEngine) allocateCandidates(slots, batch int) {
	d := s.rows.d
	s.batch = batch
	s.slotFeature, s.hasProduct, s.productError = slices.Repeat([]int{-1}, slots), make([]bool, slots), make([]float64, slots)
	s.delta = room.MakeSlice[float64](slots * d)
	if s.target == nil {
		s.product = room.MakeSlice[float64](slots * d)
	}
	s.slotOf = slices.Repeat([]int{-1}, d)
	s.step.h = make([]float64, d)
}

func (s *streamEngine) candidateDelta(slot int) []float64 {
	return s.delta[slot*s.rows.d : (slot+1)*s.rows.d]
}

func (s *streamEngine) candidateProduct(slot int) []float64 {
	return s.product[slot*s.rows.d : (slot+1)*s.rows.d]
}

// fetchCandidates reads the rows once. It fetches columns of G for the features in must that are not candidates yet,
// and for likely features until a batch is full. It also computes the missing products of older candidates.
func (s *streamEngine) fetchCandidates(ctx context.Context, must []int) error {
	d := s.rows.d
	keep := make(map[int]bool, len(must))
	var want []int
	for _, i := range must {
		keep[i] = true
		if s.slotOf[i] < 0 {
			want = append(want, i)
		}
	}
	if s.sketch != nil {
		want = s.addLikely(want)
	}
	oldCount := len(s.slotFeature) - s.placeCandidates(want, keep)
	// With rows in memory, a product costs as much as a pass, so it is computed only for features in must.
	pending := s.groupPending(oldCount, func(q int) bool { return s.sketch != nil || keep[q] })
	fresh := s.slotFeature[oldCount:]
	delta, product := s.delta[oldCount*d:], s.product
	if s.target == nil {
		product = s.product[pending*d : oldCount*d]
	}
	clear(delta)
	clear(product)
	sums := make([]float64, oldCount-pending)
	purpose := fmt.Sprintf("columns of %d candidates, products of %d", len(fresh), len(sums))
	err := s.rows.runPass(ctx, rowPass{purpose: purpose, sums: [][]float64{delta, product, sums}, addBlock: func(b *block) {
		if b.sparse == nil {
			s.scratch = rows.Resize(s.scratch, max(len(fresh), len(sums))*b.rows)
		}
		s.rows.addColumns(b, delta, fresh, s.scratch)
		s.rows.addProducts(b, product, s.delta[pending*d:oldCount*d], len(sums), s.scratch, sums)
	}, finish: func() {
		s.rows.finishColumns(delta, fresh)
		s.rows.finishProducts(product, sums)
	}, outputs: [][]float64{delta, product}})
	if err != nil {
		return err
	}
	s.deflateFetched(pending, oldCount)
	return nil
}

// addLikely adds features to want until it has a batch: first the features that the sketch expects to be chosen soon,
// then the features with the highest upper bound of the score. Only the error of the recursion makes these last
// features contenders, so their f must be computed exactly.
func (s *streamEngine) addLikely(want []int) []int {
	taken := make(map[int]bool, len(want))
	for _, i := range want {
		taken[i] = true
	}
	isCandidate := func(i int) bool { return s.slotOf[i] >= 0 || taken[i] }
	if room := s.batch - len(want); room > 0 {
		for _, i := range newPredictor(s).likelyFeatures(room, isCandidate) {
			want, taken[i] = append(want, i), true
		}
	}
	room := s.batch - len(want)
	if room <= 0 || s.target != nil {
		return want
	}
	var others []int
	for i, ok := range s.alive {
		if ok && !isCandidate(i) {
			others = append(others, i)
		}
	}
	sort.SliceStable(others, func(a, b int) bool { return s.scoreUpperBound(others[a]) > s.scoreUpperBound(others[b]) })
	return append(want, others[:min(room, len(others))]...)
}

// scoreUpperBound returns the bound by which candidates are ranked. A candidate near exhaustion may have a low score
// but a high upper bound. Without its columns, it would have to be fetched again and again to show that it is not the
// best.
func (s *streamEngine) scoreUpperBound(i int) float64 {
	_, high := s.scoreBounds(i)
	return high
}

// deflateFetched turns the fetched columns into residuals, in place. In the slots from oldCount on, G₍:,p₎ becomes δ.
// In the slots [pending, oldCount), Gδ becomes Rδ.
func (s *streamEngine) deflateFetched(pending, oldCount int) {
	n := int(min(s.rows.std.Rows, 1<<40))
	size := math.Sqrt(s.unchosenTrace())
	kernel.Each(s.rows.workers, len(s.slotFeature)-oldCount, func(i int) {
		delta, q := s.candidateDelta(oldCount+i), s.slotFeature[oldCount+i]
		for _, w := range s.omegas {
			kernel.Axpy(-w[q], w, delta)
		}
		for j, ok := range s.chosen {
			if ok {
				delta[j] = 0
			}
		}
	})
	if s.target != nil {
		return
	}
	kernel.Each(s.rows.workers, oldCount-pending, func(i int) {
		k := pending + i
		delta, product := s.candidateDelta(k), s.candidateProduct(k)
		for _, w := range s.omegas {
			kernel.Axpy(-kernel.Dot(w, delta), w, product)
		}
		s.hasProduct[k] = true
		s.productError[k] = (roundingBound(n) + roundingBound(s.featureCount) + roundingBound(s.turn)) *
			(size + math.Sqrt(s.upsilonSquares)) * floats.Norm(delta, 2)
	})
}

// placeCandidates gives each wanted feature one of the last slots. It uses free slots first, and then the slots of the
// candidates with the lowest upper bounds that are not in keep. If the features in keep fill all slots, the last
// features of want get no slot. It returns the number of features placed.
func (s *streamEngine) placeCandidates(want []int, keep map[int]bool) int {
	var slots []int
	for k, q := range s.slotFeature {
		if q < 0 || !keep[q] {
			slots = append(slots, k)
		}
	}
	worth := make([]float64, len(s.slotFeature))
	for k, q := range s.slotFeature {
		switch {
		case q < 0:
			worth[k] = -2
		case !s.alive[q]:
			worth[k] = -1
		default:
			worth[k] = s.scoreUpperBound(q)
		}
	}
	sort.SliceStable(slots, func(a, b int) bool { return worth[slots[a]] < worth[slots[b]] })
	want = want[:min(len(want), len(slots))]
	slots = slots[:len(want)]
	for _, k := range slots {
		if s.slotFeature[k] >= 0 {
			s.freeSlot(k)
		}
	}
	// Freed slots are moved to the end, the last of them first.
	sort.Ints(slots)
	for n := len(slots) - 1; n >= 0; n-- {
		s.swapSlots(slots[n], len(s.slotFeature)-len(slots)+n)
	}
	for n, i := range want {
		k := len(s.slotFeature) - len(want) + n
		s.slotFeature[k], s.slotOf[i] = i, k
	}
	return len(want)
}

// groupPending finds the live candidates that have no product and for which isDue is true. It moves them to the end of
// the slots below oldCount, because products over the rows are fastest for neighbouring slots. It returns the first of
// these slots.
func (s *streamEngine) groupPending(oldCount int, isDue func(q int) bool) (pending int) {
	pending = oldCount
	if s.target != nil {
		return pending
	}
	for k := oldCount - 1; k >= 0; k-- {
		if q := s.slotFeature[k]; q >= 0 && !s.hasProduct[k] && s.alive[q] && isDue(q) {
			pending--
			s.swapSlots(k, pending)
		}
	}
	return pending
}

func (s *streamEngine) swapSlots(a, b int) {
	if a == b {
		return
	}
	s.slotFeature[a], s.slotFeature[b] = s.slotFeature[b], s.slotFeature[a]
	s.hasProduct[a], s.hasProduct[b] = s.hasProduct[b], s.hasProduct[a]
	s.productError[a], s.productError[b] = s.productError[b], s.productError[a]
	for _, k := range []int{a, b} {
		if q := s.slotFeature[k]; q >= 0 {
			s.slotOf[q] = k
		}
	}
	swapValues(s.candidateDelta(a), s.candidateDelta(b))
	if s.target == nil {
		swapValues(s.candidateProduct(a), s.candidateProduct(b))
	}
}

func swapValues(x, y []float64) {
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}

func (s *streamEngine) freeSlot(slot int) {
	s.slotOf[s.slotFeature[slot]] = -1
	s.slotFeature[slot], s.hasProduct[slot] = -1, false
}
