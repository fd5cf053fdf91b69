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

// hold makes room for the given number of candidates.
func (s *streamed) hold(slots, batch int) {
	d := s.rows.d
	s.batch = batch
	s.slot, s.ready, s.off = slices.Repeat([]int{-1}, slots), make([]bool, slots), make([]float64, slots)
	s.delta = room.Make[float64](slots * d)
	if s.target == nil {
		s.product = room.Make[float64](slots * d)
	}
	s.at = slices.Repeat([]int{-1}, d)
	s.step.h = make([]float64, d)
}

func (s *streamed) deltaOf(slot int) []float64 {
	return s.delta[slot*s.rows.d : (slot+1)*s.rows.d]
}

func (s *streamed) productOf(slot int) []float64 {
	return s.product[slot*s.rows.d : (slot+1)*s.rows.d]
}

// fetch reads the rows once: for the columns of G of the features in must that are
// no candidates yet and of as many likely ones as a batch has room for, and for the products
// of candidates that have none yet.
func (s *streamed) fetch(ctx context.Context, must []int) error {
	d := s.rows.d
	keep := make(map[int]bool, len(must))
	var want []int
	for _, i := range must {
		keep[i] = true
		if s.at[i] < 0 {
			want = append(want, i)
		}
	}
	if s.sketch != nil {
		want = s.fill(want)
	}
	oldCount := len(s.slot) - s.place(want, keep)
	// A product costs as much as a pass over rows in memory, and is made when it is wanted.
	pending := s.arrange(oldCount, func(q int) bool { return s.sketch != nil || keep[q] })
	fresh := s.slot[oldCount:]
	delta, product := s.delta[oldCount*d:], s.product
	if s.target == nil {
		product = s.product[pending*d : oldCount*d]
	}
	clear(delta)
	clear(product)
	sums := make([]float64, oldCount-pending)
	what := fmt.Sprintf("columns of %d candidates, products of %d", len(fresh), len(sums))
	err := s.rows.pass(ctx, reading{what: what, sums: [][]float64{delta, product, sums}, add: func(b *block) {
		if b.sparse == nil {
			s.scratch = rows.Room(s.scratch, max(len(fresh), len(sums))*b.rows)
		}
		s.rows.addColumns(b, delta, fresh, s.scratch)
		s.rows.addProducts(b, product, s.delta[pending*d:oldCount*d], len(sums), s.scratch, sums)
	}, finish: func() {
		s.rows.finishColumns(delta, fresh)
		s.rows.finishProducts(product, sums)
	}, made: [][]float64{delta, product}})
	if err != nil {
		return err
	}
	s.deflate(pending, oldCount)
	return nil
}

// fill adds to want, up to a batch, the features that the sketch expects to be
// chosen soon, and then the features whose score has the highest upper end: the
// recursion's error alone makes these contenders, which have to be settled.
func (s *streamed) fill(want []int) []int {
	taken := make(map[int]bool, len(want))
	for _, i := range want {
		taken[i] = true
	}
	isCandidate := func(i int) bool { return s.at[i] >= 0 || taken[i] }
	if room := s.batch - len(want); room > 0 {
		for _, i := range newPredictor(s).next(room, isCandidate) {
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
	sort.SliceStable(others, func(a, b int) bool { return s.promise(others[a]) > s.promise(others[b]) })
	return append(want, others[:min(room, len(others))]...)
}

// promise is the upper end of the score of feature i. A candidate near exhaustion may
// have a low score and a high end: without it, it would have to be fetched again and
// again to show that it is not the best.
func (s *streamed) promise(i int) float64 {
	_, high := s.bounds(i)
	return high
}

// deflate turns G₍:,p₎ of the candidates in slots from oldCount on into δ, and Gδ of those
// in slots [pending, oldCount) into Rδ.
func (s *streamed) deflate(pending, oldCount int) {
	n := int(min(s.rows.std.Rows, 1<<40))
	size := math.Sqrt(s.unchosenTrace())
	kernel.Each(s.rows.workers, len(s.slot)-oldCount, func(i int) {
		delta, q := s.deltaOf(oldCount+i), s.slot[oldCount+i]
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
		delta, product := s.deltaOf(k), s.productOf(k)
		for _, w := range s.omegas {
			kernel.Axpy(-kernel.Dot(w, delta), w, product)
		}
		s.ready[k] = true
		s.off[k] = (rounding(n) + rounding(s.d) + rounding(s.turn)) *
			(size + math.Sqrt(s.spent)) * floats.Norm(delta, 2)
	})
}

// place gives each wanted feature one of the last slots, moving out of the way what
// is there: into a free slot, else over the candidate of least promise among those
// not in keep. Later features of want go without a slot when keep has all. It
// returns the number placed.
func (s *streamed) place(want []int, keep map[int]bool) int {
	var slots []int
	for k, q := range s.slot {
		if q < 0 || !keep[q] {
			slots = append(slots, k)
		}
	}
	worth := make([]float64, len(s.slot))
	for k, q := range s.slot {
		switch {
		case q < 0:
			worth[k] = -2
		case !s.alive[q]:
			worth[k] = -1
		default:
			worth[k] = s.promise(q)
		}
	}
	sort.SliceStable(slots, func(a, b int) bool { return worth[slots[a]] < worth[slots[b]] })
	want = want[:min(len(want), len(slots))]
	slots = slots[:len(want)]
	for _, k := range slots {
		if s.slot[k] >= 0 {
			s.free(k)
		}
	}
	// The slots given up are moved behind all others, the last of them first.
	sort.Ints(slots)
	for n := len(slots) - 1; n >= 0; n-- {
		s.swap(slots[n], len(s.slot)-len(slots)+n)
	}
	for n, i := range want {
		k := len(s.slot) - len(want) + n
		s.slot[k], s.at[i] = i, k
	}
	return len(want)
}

// arrange moves the live candidates whose product is due and not there to the end of the slots below
// oldCount, and returns the first of theirs: a product over the rows is fastest for
// neighbouring slots.
func (s *streamed) arrange(oldCount int, isDue func(q int) bool) (pending int) {
	pending = oldCount
	if s.target != nil {
		return pending
	}
	for k := oldCount - 1; k >= 0; k-- {
		if q := s.slot[k]; q >= 0 && !s.ready[k] && s.alive[q] && isDue(q) {
			pending--
			s.swap(k, pending)
		}
	}
	return pending
}

// swap exchanges two slots.
func (s *streamed) swap(a, b int) {
	if a == b {
		return
	}
	s.slot[a], s.slot[b] = s.slot[b], s.slot[a]
	s.ready[a], s.ready[b] = s.ready[b], s.ready[a]
	s.off[a], s.off[b] = s.off[b], s.off[a]
	for _, k := range []int{a, b} {
		if q := s.slot[k]; q >= 0 {
			s.at[q] = k
		}
	}
	exchange(s.deltaOf(a), s.deltaOf(b))
	if s.target == nil {
		exchange(s.productOf(a), s.productOf(b))
	}
}

func exchange(x, y []float64) {
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}

func (s *streamed) free(slot int) {
	s.at[s.slot[slot]] = -1
	s.slot[slot], s.ready[slot] = -1, false
}
