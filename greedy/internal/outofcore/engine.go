package outofcore

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/triangle"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// streamEngine is the engine for rows that are read several times. It holds a few hundred candidates, which are
// features that are likely to be chosen soon. For each candidate it has two columns of length d, updated every turn:
//
//	δ = R₍:,p₎ and Rδ, with R = G − Σ ω_r ω_rᵀ
//
// Here ω_r is the vector ω of choice r. So choosing candidate p needs no pass: ω = δ/√δ_p and h = Rω = Rδ/√δ_p. A pass
// fetches G₍:,p₎ of new candidates, and G·δ of the candidates fetched by the previous pass. Algorithm 2 needs only δ of
// each candidate, because h is computed from H, which fits in memory.
type streamEngine struct {
	*engine.Criterion
	rows        *scan.Reader
	entryCount  int64          // upper bound of the entries of sparse rows; 0 for dense rows or an unknown number
	sketch      *scan.Sketch   // nil if all rows are in memory
	target      *engine.Gram   // nil for Algorithm 1; for Algorithm 2 it holds H = BᵀA, so that a candidate needs only its column δ of the residual G
	groups      []int          // of Algorithm 2
	givenTarget *target.Matrix // a target given in advance, from the anchor graph; else nil
	omegas      [][]float64

	slotFeature       []int     // feature in each slot; -1 if the slot is free
	slotOf            []int     // slot of each feature; -1 if it is not a candidate
	delta             []float64 // δ of each slot, slots×d
	product           []float64 // Rδ of each slot, slots×d
	hasProduct        []bool    // by slot: product is computed
	productError      []float64 // by slot: entry i of the product has a rounding error of at most productError·√g⁰ᵢ
	batch             int       // candidates fetched by a pass
	scratch           []float64
	refreshGramFloats int64 // float64s for the rows of G that refreshScores computes at a time
	step              engine.Step
}

func (s *streamEngine) ScoreUnit() float64 {
	switch {
	case s.givenTarget != nil: // H is in the data's units
		return s.target.ScoreUnit() * s.rows.Unit
	case s.target != nil:
		return s.target.ScoreUnit() / s.rows.Unit
	}
	return 1 / s.rows.Unit
}

// TakeFeature chooses p. It needs no pass if p is a candidate whose products are in memory, and else at most two.
func (s *streamEngine) TakeFeature(ctx context.Context, p int) (*engine.Step, error) {
	for s.slotOf[p] < 0 || s.target == nil && !s.hasProduct[s.slotOf[p]] {
		if err := s.fetchCandidates(ctx, []int{p}); err != nil {
			return nil, err
		}
	}
	slot, root := s.slotOf[p], math.Sqrt(s.G[p])
	// Restore G₍:,p₎, from which the cosines of Result.Nearest are computed.
	column := append([]float64(nil), s.candidateDelta(slot)...)
	for _, w := range s.omegas {
		kernel.Axpy(w[p], w, column)
	}
	delta := append([]float64(nil), s.candidateDelta(slot)...)
	var st *engine.Step
	if s.target != nil {
		st = s.target.StepFrom(p, column, delta, nil, nil)
	} else {
		st = s.candidateStep(slot, root, column, delta)
	}
	s.omegas = append(s.omegas, st.Omega)
	s.freeSlot(slot)
	s.updateCandidateVectors(p, st)
	s.sketch.ProjectOut(s.rows.Workers, p, st.Omega, root)
	return st, nil
}

func (s *streamEngine) candidateStep(slot int, rootOfPivot float64, column, delta []float64) *engine.Step {
	st := &s.step
	floats.Scale(1/rootOfPivot, delta)
	floats.ScaleTo(st.H, 1/rootOfPivot, s.candidateProduct(slot))
	st.Omega, st.Column = delta, column
	st.Score = kernel.Dot(delta, delta)
	st.HErr.Norm = s.productError[slot] / rootOfPivot
	return st
}

// updateCandidateVectors updates the vectors of each candidate q from the residual R to R − ωωᵀ = R′, if p is chosen:
//
//	δ′ = δ − ω ω[q],  R′δ′ = Rδ − h ω[q] − ω (ωᵀδ′)
func (s *streamEngine) updateCandidateVectors(p int, st *engine.Step) {
	size := math.Sqrt(s.unchosenTrace())
	kernel.Each(s.rows.Workers, len(s.slotFeature), func(k int) {
		q := s.slotFeature[k]
		if q < 0 {
			return
		}
		delta, w := s.candidateDelta(k), st.Omega[q]
		kernel.Axpy(-w, st.Omega, delta)
		delta[p] = 0
		if !s.hasProduct[k] {
			return
		}
		product := s.candidateProduct(k)
		kernel.Axpy(-w, st.H, product)
		kernel.Axpy(-kernel.Dot(st.Omega, delta), st.Omega, product)
		s.productError[k] += math.Abs(w)*st.HErr.Norm + engine.RoundingBound(s.FeatureCount)*size*floats.Norm(delta, 2)
	})
}

// unchosenTrace returns Σ gᵢ⁰ over the features that are not chosen, the only ones at which δ is not 0.
func (s *streamEngine) unchosenTrace() float64 {
	sum := 0.0
	for i, g := range s.G0 {
		if !s.Chosen[i] {
			sum += g
		}
	}
	return sum
}

// MakeExact stores the exact f = ‖δ‖² of the listed features, and of all candidates. Features that are not candidates
// are fetched. If this would need more passes than computing all of R again, R is computed.
func (s *streamEngine) MakeExact(ctx context.Context, features []int) error {
	if s.target != nil {
		return s.target.MakeExact(ctx, features)
	}
	for k, q := range s.slotFeature {
		if q >= 0 {
			s.setExactFromDelta(k, q)
		}
	}
	var missing []int
	for _, i := range features {
		if s.slotOf[i] < 0 {
			missing = append(missing, i)
		}
	}
	if tasks.TaskCount(len(missing), s.batch) > len(triangle.CutRuns(s.FeatureCount, s.refreshGramFloats)) {
		return s.refreshScores(ctx)
	}
	for len(missing) > 0 {
		some := missing[:min(len(missing), s.batch)]
		if err := s.fetchCandidates(ctx, some); err != nil {
			return err
		}
		for _, i := range some {
			s.setExactFromDelta(s.slotOf[i], i)
		}
		missing = missing[len(some):]
	}
	return nil
}

func (s *streamEngine) setExactFromDelta(slot, feature int) {
	if s.Alive[feature] {
		delta := s.candidateDelta(slot)
		s.SetExact(feature, kernel.Dot(delta, delta), s.TargetNorm[feature])
	}
}

func (s *streamEngine) refreshScores(ctx context.Context) error {
	p := &triangle.Passes{Rows: s.rows, Chosen: s.Chosen, Purpose: "renewing the criterion", MaxNumbers: s.refreshGramFloats}
	f, reach, _, err := p.ResidualNorms(ctx, s.omegas, false)
	if err != nil {
		return err
	}
	s.UpsilonSquares = 0
	for _, w := range s.omegas {
		for i, ok := range s.Chosen {
			if !ok {
				s.UpsilonSquares += w[i] * w[i]
			}
		}
	}
	for i, ok := range s.Alive {
		if ok {
			s.SetExact(i, f[i], math.Sqrt(reach[i]))
		}
	}
	return nil
}
