package sfufs

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Grid has the weights for [Path], which solves every pair of them. Values may be in any order and may repeat.
type Grid struct {
	Alpha []float64 // empty means Options.Alpha; FUFS does not use it
	Gamma []float64 // empty means Options.Gamma; a 0 in the list means no penalty
}

// Setting is one pair of weights of a [Grid], and its result.
type Setting struct {
	Alpha, Gamma float64 // Alpha is 0 for FUFS
	Result       *Result
}

func (g Grid) validateFor(d int, opt Options) error {
	var faults stream.Faults
	if err := opt.Validate(d); err != nil {
		faults.Addf("%v", err)
	}
	if opt.Method == FUFS && len(g.Alpha) > 0 {
		faults.Addf("fufs has no alpha to vary")
	}
	for _, v := range g.Alpha {
		checkWeight(&faults, "{alpha}", v, minAlpha)
	}
	for _, v := range g.Gamma {
		checkWeight(&faults, "{gamma}", v, 0)
	}
	return faults.Err("")
}

// distinctSorted returns the distinct values of x in ascending order. If x is empty, it returns the parameter
// otherwise.
func distinctSorted(x []float64, otherwise float64) []float64 {
	if len(x) == 0 {
		return []float64{otherwise}
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return slices.Compact(x)
}

// Path solves each pair of weights of the grid from one Graph, in the order of rising α, then γ. M is computed once for
// each α, and so is W(1) under WᵀW = I. Nothing else is passed from one setting to the next, so that every Result
// equals the result of [Select], bit for bit. Path needs the memory given by [Bytes] and fails like Select. opt has the
// other options.
func Path(ctx context.Context, g *anchor.Graph, grid Grid, opt Options) ([]Setting, error) {
	if err := grid.validateFor(g.D, opt); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(g.D)
	alphas, gammas := distinctSorted(grid.Alpha, opt.Alpha), distinctSorted(grid.Gamma, opt.Gamma)
	e, err := newSettingSolver(g, opt)
	if err != nil {
		return nil, err
	}
	var all []Setting
	for _, alpha := range alphas {
		if err := e.loadAlpha(ctx, alpha); err != nil {
			return nil, err
		}
		if opt.Method == FUFS {
			alpha = 0
		}
		for _, gamma := range gammas {
			r, err := e.solveGamma(ctx, gamma)
			if err != nil {
				return nil, err
			}
			all = append(all, Setting{Alpha: alpha, Gamma: gamma, Result: r})
		}
	}
	return all, nil
}
