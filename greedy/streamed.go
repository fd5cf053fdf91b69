package greedy

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// streamed is the engine over rows that are read again and again. It
// holds a few hundred candidates, features that are likely to be chosen soon. For each
// it knows two columns of length d, brought up to date every turn:
//
//	δ = R₍:,p₎ and Rδ, where R = G − Σ ω_r ω_rᵀ
//
// Choosing a candidate then costs no pass: ω = δ/√δ_p and h = Rω = Rδ/√δ_p. A pass
// fetches G₍:,p₎ of new candidates, and G·δ of those fetched by the pass before.
// Algorithm 2 needs only δ, because H fits in memory.
type streamed struct {
	*criterion
	rows    *reader
	entries int64   // of sparse rows, at most; 0 where the rows are dense or nobody knows
	sketch  *sketch // nil where all rows are in memory
	target  *memory // nil: Algorithm 1; else it has H = BᵀA and γ, and needs only δ
	groups  []int   // of Algorithm 2
	aim     *target // a target that is there; nil for others
	omegas  [][]float64

	slot    []int     // candidate in each slot; -1 free
	at      []int     // slot of each feature; -1 not held
	delta   []float64 // slots×d
	product []float64 // slots×d
	ready   []bool    // product is there
	off     []float64 // rounding of product i is within off·√g⁰ᵢ
	batch   int       // candidates fetched by a pass
	scratch []float64
	run     int64 // float64s for a run of rows of G in a refresh
	step    step
}

func (s *streamed) scoreUnit() float64 {
	switch {
	case s.aim != nil: // H is in the data's units
		return s.target.scoreUnit() * s.rows.unit
	case s.target != nil:
		return s.target.scoreUnit() / s.rows.unit
	}
	return 1 / s.rows.unit
}

// take chooses p, in no pass if its columns are held and in two if it was not foreseen.
func (s *streamed) take(ctx context.Context, p int) (*step, error) {
	for s.at[p] < 0 || s.target == nil && !s.ready[s.at[p]] {
		if err := s.fetch(ctx, []int{p}); err != nil {
			return nil, err
		}
	}
	slot, root := s.at[p], math.Sqrt(s.g[p])
	// G₍:,p₎ again, for the cosines.
	column := append([]float64(nil), s.deltaOf(slot)...)
	for _, w := range s.omegas {
		kernel.Axpy(w[p], w, column)
	}
	delta := append([]float64(nil), s.deltaOf(slot)...)
	var st *step
	if s.target != nil {
		st = s.target.stepFrom(p, column, delta, nil, nil)
	} else {
		st = s.stepFrom(slot, root, column, delta)
	}
	s.omegas = append(s.omegas, st.omega)
	s.free(slot)
	s.update(p, st)
	s.sketch.project(s.rows.workers, p, st.omega, root)
	return st, nil
}

// stepFrom is the step of the candidate in slot, whose δ becomes ω.
func (s *streamed) stepFrom(slot int, root float64, column, delta []float64) *step {
	st := &s.step
	floats.Scale(1/root, delta)
	floats.ScaleTo(st.h, 1/root, s.productOf(slot))
	st.omega, st.column = delta, column
	st.score = kernel.Dot(delta, delta)
	st.hErr.norm = s.off[slot] / root
	return st
}

// update brings the candidates and ω_r from R to R′ = R − ωωᵀ:
//
//	δ′ = δ − ω ω[q],  R′δ′ = Rδ − h ω[q] − ω (ωᵀδ′)
func (s *streamed) update(p int, st *step) {
	size := math.Sqrt(s.unchosenTrace())
	kernel.Each(s.rows.workers, len(s.slot), func(k int) {
		q := s.slot[k]
		if q < 0 {
			return
		}
		delta, w := s.deltaOf(k), st.omega[q]
		kernel.Axpy(-w, st.omega, delta)
		delta[p] = 0
		if !s.ready[k] {
			return
		}
		product := s.productOf(k)
		kernel.Axpy(-w, st.h, product)
		kernel.Axpy(-kernel.Dot(st.omega, delta), st.omega, product)
		s.off[k] += math.Abs(w)*st.hErr.norm + rounding(s.d)*size*floats.Norm(delta, 2)
	})
}

// unchosenTrace is Σ gᵢ⁰ over the features not chosen: δ is zero at the others.
func (s *streamed) unchosenTrace() float64 {
	sum := 0.0
	for i, g := range s.g0 {
		if !s.chosen[i] {
			sum += g
		}
	}
	return sum
}

// settle puts the exact f = ‖δ‖² of the listed features, and of all candidates, into
// the criterion. Features that are not held are fetched; if that took more passes
// than computing all of R again, R is.
func (s *streamed) settle(ctx context.Context, features []int) error {
	if s.target != nil {
		return s.target.settle(ctx, features)
	}
	for k, q := range s.slot {
		if q >= 0 {
			s.settleHeld(k, q)
		}
	}
	var missing []int
	for _, i := range features {
		if s.at[i] < 0 {
			missing = append(missing, i)
		}
	}
	if tasks(len(missing), s.batch) > len(spans(s.d, s.run)) {
		return s.refresh(ctx)
	}
	for len(missing) > 0 {
		some := missing[:min(len(missing), s.batch)]
		if err := s.fetch(ctx, some); err != nil {
			return err
		}
		for _, i := range some {
			s.settleHeld(s.at[i], i)
		}
		missing = missing[len(some):]
	}
	return nil
}

func (s *streamed) settleHeld(slot, q int) {
	if s.alive[q] {
		delta := s.deltaOf(slot)
		s.criterion.settle(q, kernel.Dot(delta, delta), s.reach[q])
	}
}

// refresh computes all f afresh.
func (s *streamed) refresh(ctx context.Context) error {
	f, reach, _, err := s.residuals(ctx, "renewing the criterion", s.run, false)
	if err != nil {
		return err
	}
	s.spent = 0
	for _, w := range s.omegas {
		for i, ok := range s.chosen {
			if !ok {
				s.spent += w[i] * w[i]
			}
		}
	}
	for i, ok := range s.alive {
		if ok {
			s.criterion.settle(i, f[i], math.Sqrt(reach[i]))
		}
	}
	return nil
}
