package outofcore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

func (s *streamEngine) allocateCandidates(slotCount, batchSize int) {
	d := s.rows.D
	s.batch = batchSize
	s.slotFeature, s.hasProduct, s.productError = slices.Repeat([]int{-1}, slotCount), make([]bool, slotCount), make([]float64, slotCount)
	s.delta = room.MakeSlice[float64](slotCount * d)
	if s.target == nil {
		s.product = room.MakeSlice[float64](slotCount * d)
	}
	s.slotOf = slices.Repeat([]int{-1}, d)
	s.step.H = make([]float64, d)
}

func (s *streamEngine) candidateDelta(slot int) []float64 {
	return s.delta[slot*s.rows.D : (slot+1)*s.rows.D]
}

func (s *streamEngine) candidateProduct(slot int) []float64 {
	return s.product[slot*s.rows.D : (slot+1)*s.rows.D]
}

// fetchCandidates makes one pass over the rows. It computes columns of G for the required features that are not
// candidates yet, and for features that are likely to be chosen soon, until a batch is full. It also computes the
// products Rδ of older candidates that have none yet (see streamEngine).
func (s *streamEngine) fetchCandidates(ctx context.Context, required []int) error {
	d := s.rows.D
	keep := make(map[int]bool, len(required))
	var wanted []int
	for _, i := range required {
		keep[i] = true
		if s.slotOf[i] < 0 {
			wanted = append(wanted, i)
		}
	}
	if s.sketch != nil {
		wanted = s.addLikelyFeatures(wanted)
	}
	oldCount := len(s.slotFeature) - s.placeCandidates(wanted, keep)
	// With rows in memory, a product costs as much as a pass, so it is computed only for required features.
	pending := s.groupPendingProducts(oldCount, func(q int) bool { return s.sketch != nil || keep[q] })
	fresh := s.slotFeature[oldCount:]
	delta, product := s.delta[oldCount*d:], s.product
	if s.target == nil {
		product = s.product[pending*d : oldCount*d]
	}
	clear(delta)
	clear(product)
	sums := make([]float64, oldCount-pending)
	purpose := fmt.Sprintf("columns of %d candidates, products of %d", len(fresh), len(sums))
	err := s.rows.RunPass(ctx, scan.Pass{Purpose: purpose, Sums: [][]float64{delta, product, sums}, AddBlock: func(b *scan.Block) {
		if b.Sparse == nil {
			s.scratch = rows.ResizeSlice(s.scratch, max(len(fresh), len(sums))*b.Rows)
		}
		s.rows.AddColumns(b, delta, fresh, s.scratch)
		s.rows.AddProducts(b, product, s.delta[pending*d:oldCount*d], len(sums), s.scratch, sums)
	}, Finish: func() {
		s.rows.UnshiftColumns(delta, fresh)
		s.rows.UnshiftProducts(product, sums)
	}, Outputs: [][]float64{delta, product}})
	if err != nil {
		return err
	}
	s.deflateFetched(pending, oldCount)
	return nil
}

// addLikelyFeatures appends features to wanted until a batch is full. First come the features that the sketch predicts
// to be chosen soon, and then the features with the highest upper bounds of the score. The latter may be the best only
// because the error bound of the recursion is large, so their exact f will be needed.
func (s *streamEngine) addLikelyFeatures(wanted []int) []int {
	taken := make(map[int]bool, len(wanted))
	for _, i := range wanted {
		taken[i] = true
	}
	isCandidate := func(i int) bool { return s.slotOf[i] >= 0 || taken[i] }
	if room := s.batch - len(wanted); room > 0 {
		for _, i := range newPredictor(s).likelyFeatures(room, isCandidate) {
			wanted, taken[i] = append(wanted, i), true
		}
	}
	room := s.batch - len(wanted)
	if room <= 0 || s.target != nil {
		return wanted
	}
	var others []int
	for i, ok := range s.Alive {
		if ok && !isCandidate(i) {
			others = append(others, i)
		}
	}
	sort.SliceStable(others, func(a, b int) bool { return s.scoreUpperBound(others[a]) > s.scoreUpperBound(others[b]) })
	return append(wanted, others[:min(room, len(others))]...)
}

// scoreUpperBound returns an upper bound of the score of feature i. Candidates are ranked by this bound and not by the
// score. A feature near exhaustion may have a low score but a high upper bound, and without its column it would be
// fetched again and again, only to show that it is not the best.
func (s *streamEngine) scoreUpperBound(i int) float64 {
	_, high := s.ScoreBounds(i)
	return high
}

// deflateFetched turns the columns that a pass has computed into residuals, in place. In the slots from oldCount on,
// columns of G become δ. In the slots [pending, oldCount), Gδ becomes Rδ.
func (s *streamEngine) deflateFetched(pending, oldCount int) {
	n := int(min(s.rows.Std.Rows, 1<<40))
	size := math.Sqrt(s.unchosenTrace())
	kernel.Each(s.rows.Workers, len(s.slotFeature)-oldCount, func(i int) {
		delta, q := s.candidateDelta(oldCount+i), s.slotFeature[oldCount+i]
		for _, w := range s.omegas {
			kernel.Axpy(-w[q], w, delta)
		}
		for j, ok := range s.Chosen {
			if ok {
				delta[j] = 0
			}
		}
	})
	if s.target != nil {
		return
	}
	kernel.Each(s.rows.Workers, oldCount-pending, func(i int) {
		k := pending + i
		delta, product := s.candidateDelta(k), s.candidateProduct(k)
		for _, w := range s.omegas {
			kernel.Axpy(-kernel.Dot(w, delta), w, product)
		}
		s.hasProduct[k] = true
		s.productError[k] = (engine.RoundingBound(n) + engine.RoundingBound(s.FeatureCount) + engine.RoundingBound(s.Turn)) *
			(size + math.Sqrt(s.UpsilonSquares)) * floats.Norm(delta, 2)
	})
}

// placeCandidates gives each wanted feature one of the last slots. It uses free slots first, and then the slots of
// candidates that are not in the map keep, beginning with the lowest upper bound of the score. If the features in keep
// fill all slots, the last features of wanted get no slot. It returns the number of features placed.
func (s *streamEngine) placeCandidates(wanted []int, keep map[int]bool) int {
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
		case !s.Alive[q]:
			worth[k] = -1
		default:
			worth[k] = s.scoreUpperBound(q)
		}
	}
	sort.SliceStable(slots, func(a, b int) bool { return worth[slots[a]] < worth[slots[b]] })
	wanted = wanted[:min(len(wanted), len(slots))]
	slots = slots[:len(wanted)]
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
	for n, i := range wanted {
		k := len(s.slotFeature) - len(wanted) + n
		s.slotFeature[k], s.slotOf[i] = i, k
	}
	return len(wanted)
}

// groupPendingProducts finds the live candidates that have no product and for which isDue is true. It moves them to the
// end of the slots below oldCount, because one matrix product computes them fastest in consecutive slots. It returns
// the first of these slots.
func (s *streamEngine) groupPendingProducts(oldCount int, isDue func(q int) bool) (pending int) {
	pending = oldCount
	if s.target != nil {
		return pending
	}
	for k := oldCount - 1; k >= 0; k-- {
		if q := s.slotFeature[k]; q >= 0 && !s.hasProduct[k] && s.Alive[q] && isDue(q) {
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
