package eufs

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Step is the record of an iteration: figures of the variables at its end. The package comment defines the variables.
type Step struct {
	Iteration int     // counted from 1
	Mu        float64 // μ of the iteration
	// Objective is the value of the minimized function: eq. (13) of EUFS, or (3.4) of HUFS. It may rise.
	Objective float64
	// Split is the objective with E in place of X − UVᵀ, Z in place of one U, and P in place of MV: eq. (14) of EUFS,
	// or (4.6) of HUFS. Its relative change decides convergence.
	Split     float64
	ResidualZ float64 // ‖Z − U‖
	ResidualE float64 // ‖X − UVᵀ − E‖
	ResidualP float64 // ‖P − MV‖, only in HUFS
	Rank      int     // rank of N, whose polar factor U is
}

// Result is the outcome of Solve. Its slices belong to the caller.
type Result struct {
	Order       []int     // features, best first; equal scores in column order
	Scores      []float64 // d: ‖v_j‖
	V           []float64 // d×k row-major
	Trace       []Step
	Converged   bool          // the iteration ended before MaxIter
	Alpha, Beta float64       // weights as numbers
	Warnings    []stream.Text // warnings; a failure to converge is not among them
}

func (s *solver) resultWarnings(r *Result) []stream.Text {
	var out []stream.Text
	warn := func(format string, args ...any) { out = append(out, stream.Textf(format, args...)) }
	sparsity, name := s.alpha, "alpha"
	if s.opt.Method == HUFS {
		sparsity, name = s.beta, "beta"
	}
	switch most := s.p.AlphaMax; {
	case slices.Max(r.Scores) == 0 && sparsity >= most:
		warn("%s = %.4g: from %.4g on all weights become 0, and features rank by column order; choose less, as 0.1x", name, sparsity, most)
	case slices.Max(r.Scores) == 0:
		warn("all weights are 0, and features rank by column order; choose smaller penalties")
	case sparsity >= most: // μ rose too fast for V to vanish
		warn("%s = %.4g: from %.4g on weights that become 0 stay 0, and the remaining ones depend on mu alone; choose less, as 0.1x", name, sparsity, most)
	}
	if s.opt.Mu < 10*sparsity {
		warn("mu = %.4g is below 10·%s = %.4g: the first step wipes out the start; choose a larger {mu}", s.opt.Mu, name, 10*sparsity)
	}
	if s.opt.Method == EUFS && s.multiplier != nil && s.opt.Mu < s.beta {
		warn("mu = %.4g is below beta = %.4g: the iterates are ill-conditioned, and rounding alone may change the ranking; choose a larger {mu}", s.opt.Mu, s.beta)
	}
	if s.opt.Method == EUFS && s.p.graph == nil && s.beta > 0 {
		warn("beta = %.4g has no effect: there is no graph", s.beta)
	}
	for _, step := range r.Trace {
		if step.Rank < s.t.k {
			warn("iteration %d: only %d of the %d clusters are told apart; choose fewer {clusters} or other penalties", step.Iteration, step.Rank, s.t.k)
			break
		}
	}
	return out
}

func rowNormsOf(a []float64, k int) []float64 {
	out := make([]float64, len(a)/k)
	for i := range out {
		row := a[i*k:][:k]
		out[i] = math.Sqrt(kernel.Dot(row, row))
	}
	return out
}
