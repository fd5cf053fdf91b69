package greedy

import (
	"context"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// hold makes room for the given number of candidates.
func (s *streamed) hold(slots, batch int) {
	d := s.rows.d
	s.batch = batch
	s.slot, s.ready, s.off = make([]int, slots), make([]bool, slots), make([]float64, slots)
	s.delta = make([]float64, slots*d)
	if s.target == nil {
		s.product = make([]float64, slots*d)
	}
	s.at = make([]int, d)
	for i := range s.at {
		s.at[i] = -1
	}
	for k := range s.slot {
		s.slot[k] = -1
	}
	s.step.h = make([]float64, d)
}

func (s *streamed) deltaOf(slot int) []float64 {
	return s.delta[slot*s.rows.d : (slot+1)*s.rows.d]
}

func (s *streamed) productOf(slot int) []float64 {
	return s.product[slot*s.rows.d : (slot+1)*s.rows.d]
}

// fetch reads the rows once: for the columns of G of the features in must that are
// not held and of as many predicted ones as a batch has room for, and for the
// products of candidates that have none yet.
func (s *streamed) fetch(ctx context.Context, must []int) error {
	d := s.rows.d
	keep := make(map[int]bool, len(must))
	for _, i := range must {
		keep[i] = true
	}
	var want []int
	for _, i := range must {
		if s.at[i] < 0 {
			want = append(want, i)
		}
	}
	held := func(i int) bool { return s.at[i] >= 0 || keep[i] }
	if room := s.batch - len(want); room > 0 {
		want = append(want, newPredictor(s).next(room, held)...)
	}
	var pending []int // slots whose product this pass computes
	fresh := s.place(want, keep)
	isFresh := make(map[int]bool, len(fresh))
	for _, k := range fresh {
		isFresh[k] = true
	}
	for k, q := range s.slot {
		if q >= 0 && !s.ready[k] && !isFresh[k] && s.target == nil {
			pending = append(pending, k)
			clear(s.productOf(k))
		}
	}
	features := make([]int, len(fresh))
	for i, k := range fresh {
		features[i] = s.slot[k]
		clear(s.deltaOf(k))
	}
	sums := make([]float64, len(s.slot))
	what := fmt.Sprintf("columns of %d candidates, products of %d", len(fresh), len(pending))
	err := s.rows.pass(ctx, what, func(b *block) {
		if need := len(s.slot) * b.rows; len(s.scratch) < need {
			s.scratch = make([]float64, need)
		}
		for _, r := range consecutive(fresh) {
			s.rows.addColumns(b, s.delta[r[0]*d:r[1]*d], s.slot[r[0]:r[1]], s.scratch)
		}
		for _, r := range consecutive(pending) {
			s.rows.addProducts(b, s.product[r[0]*d:r[1]*d], s.delta[r[0]*d:r[1]*d], r[1]-r[0], s.scratch, sums[r[0]:r[1]])
		}
	})
	if err != nil {
		return err
	}
	for _, r := range consecutive(fresh) {
		s.rows.finishColumns(s.delta[r[0]*d:r[1]*d], s.slot[r[0]:r[1]])
	}
	for _, r := range consecutive(pending) {
		s.rows.finishProducts(s.product[r[0]*d:r[1]*d], sums[r[0]:r[1]])
	}
	s.deflate(fresh, pending)
	return nil
}

// deflate turns G₍:,p₎ of fresh candidates into δ, and Gδ of pending ones into Rδ.
func (s *streamed) deflate(fresh, pending []int) {
	n := int(min(s.rows.std.Rows, 1<<40))
	size := math.Sqrt(s.unchosenTrace())
	kernel.Each(s.rows.workers, len(fresh), func(i int) {
		delta, q := s.deltaOf(fresh[i]), s.slot[fresh[i]]
		for _, w := range s.omegas {
			kernel.Axpy(-w[q], w, delta)
		}
		for j, ok := range s.chosen {
			if ok {
				delta[j] = 0
			}
		}
	})
	kernel.Each(s.rows.workers, len(pending), func(i int) {
		k := pending[i]
		delta, product := s.deltaOf(k), s.productOf(k)
		for _, w := range s.omegas {
			kernel.Axpy(-kernel.Dot(w, delta), w, product)
		}
		s.ready[k] = true
		s.off[k] = (rounding(n) + rounding(s.d) + rounding(s.turn)) *
			(size + math.Sqrt(s.spent)) * floats.Norm(delta, 2)
	})
}

// place gives each wanted feature a slot: a free one, else that of the candidate
// with the lowest score among those not in keep. Later features of want go without
// a slot when all are taken by better ones. The slots used are ascending.
func (s *streamed) place(want []int, keep map[int]bool) (fresh []int) {
	var slots []int
	for k, q := range s.slot {
		if q < 0 || !keep[q] {
			slots = append(slots, k)
		}
	}
	worth := func(k int) float64 {
		q := s.slot[k]
		if q < 0 {
			return -2 // free
		}
		if !s.alive[q] {
			return -1
		}
		return s.f[q] / s.g[q]
	}
	sort.SliceStable(slots, func(a, b int) bool { return worth(slots[a]) < worth(slots[b]) })
	for n, i := range want {
		if n == len(slots) {
			break
		}
		k := slots[n]
		if s.slot[k] >= 0 {
			s.free(k)
		}
		s.slot[k], s.at[i] = i, k
		fresh = append(fresh, k)
	}
	sort.Ints(fresh)
	return fresh
}

func (s *streamed) free(slot int) {
	s.at[s.slot[slot]] = -1
	s.slot[slot], s.ready[slot] = -1, false
}

// consecutive cuts ascending numbers into runs [first, last+1).
func consecutive(x []int) (runs [][2]int) {
	for _, k := range x {
		if n := len(runs); n > 0 && runs[n-1][1] == k {
			runs[n-1][1]++
		} else {
			runs = append(runs, [2]int{k, k + 1})
		}
	}
	return runs
}
