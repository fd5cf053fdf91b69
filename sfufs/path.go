package sfufs

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Grid names the settings of a [Path]. Values may stand in any order and repeat.
type Grid struct {
	Alpha []float64 // empty means Options.Alpha; FUFS has none
	Gamma []float64 // empty means Options.Gamma; here 0 is 0
	K     []int     // sizes at which selections are compared; empty means min(50, d)
}

// Setting is one point of the grid.
type Setting struct {
	Alpha, Gamma float64 // Alpha is 0 for FUFS
	Result       *Result
	// Agreement is, for each K, the mean Jaccard index |A∩B|/|A∪B| between the first K
	// features of this setting and of its neighbours, one step of the grid away in α or in
	// γ. NaN where it has none.
	Agreement []float64
}

// Settings are the settings of a grid, by rising α, then γ.
type Settings struct {
	K           []int // ascending
	All         []Setting
	Recommended int    // index into All; -1 where none can be recommended
	Why         string // the reason, in a sentence
}

const defaultK = 50

func (g Grid) validate(d int, opt Options) error {
	var faults stream.Faults
	if err := opt.Validate(d); err != nil {
		faults.Addf("%v", err)
	}
	if opt.Method == FUFS && len(g.Alpha) > 0 {
		faults.Addf("fufs has no alpha to vary")
	}
	for _, v := range g.Alpha {
		within(&faults, "{alpha}", v, leastAlpha)
	}
	for _, v := range g.Gamma {
		within(&faults, "{gamma}", v, 0)
	}
	for _, k := range g.K {
		if k < 1 || k > d {
			faults.Addf("{k} = %d is not between 1 and the %d features", k, d)
		}
	}
	return faults.Err("")
}

// sorted returns the distinct values of x, ascending, or otherwise where there are none.
func sorted[T float64 | int](x []T, otherwise T) []T {
	if len(x) == 0 {
		return []T{otherwise}
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return slices.Compact(x)
}

// Path solves a grid of settings from one Graph. M is made once for each α, and under
// WᵀW = I so is W(1); nothing else passes from one setting to the next, so that every
// Result equals [Select]'s, bit for bit. It holds as much as Select ([Bytes]). opt has the
// options that the grid does not vary. Errors are as in Select.
func Path(ctx context.Context, g *anchor.Graph, grid Grid, opt Options) (*Settings, error) {
	if err := grid.validate(g.D, opt); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(g.D)
	alphas, gammas := sorted(grid.Alpha, opt.Alpha), sorted(grid.Gamma, opt.Gamma)
	e, err := newEngine(g, opt)
	if err != nil {
		return nil, err
	}
	p := &Settings{K: sorted(grid.K, min(defaultK, g.D))}
	for _, alpha := range alphas {
		if err := e.load(ctx, alpha); err != nil {
			return nil, err
		}
		if opt.Method == FUFS {
			alpha = 0
		}
		for _, gamma := range gammas {
			r, err := e.solve(ctx, gamma)
			if err != nil {
				return nil, err
			}
			p.All = append(p.All, Setting{Alpha: alpha, Gamma: gamma, Result: r})
		}
	}
	p.compare(len(gammas))
	p.recommend(len(gammas))
	return p, nil
}
