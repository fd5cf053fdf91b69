package eufs

import "github.com/ufs-stream/ufs-stream/stream"

// Step is the record of an iteration: figures of the variables at its end. The package comment defines the variables.
type Step struct {
	Iteration int     // counted from 1
	Mu        float64 // μ of the iteration
	// Objective is the value of the minimized function: eq. (13) of EUFS, or (3.4) of HUFS. It may rise.
	Objective float64
	// Split is the objective with E in place of X − UVᵀ, Z in place of one U, and P in place of MV: eq. (14) of EUFS,
	// or (4.6) of HUFS. Its relative change decides convergence.
	Split     float64
	Graph     float64 // the graph's part of Split, β Tr(ZᵀLU)
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
