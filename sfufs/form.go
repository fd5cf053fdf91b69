package sfufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// form is the matrix M of a Graph as the iterations use it. Under [Scatter] it is M/u.
type form interface {
	// load makes M(α), or XᵀLX, and says how much there is of it.
	load(ctx context.Context, method Method, alpha float64) (loaded, error)
	// minimize finds the W that minimizes Tr(Wᵀ(M + γ·diag(q))W); a nil q stands for 0.
	minimize(gamma float64, q []float64, warm kernel.Matrix[float64]) (*update, error)
	// cost is Tr(WᵀMW).
	cost(u *update) float64
	// spread is the diagonal of (M + τI)⁻¹ up to a factor, under WᵀW = I.
	spread(tau float64) ([]float64, error)
}

// loaded is what is known of an M.
type loaded struct {
	norm     float64   // the largest norm of a column of M, in the coordinates of the eigenproblem
	noise    float64   // what rounding of M may add to Tr(WᵀMW)
	diagonal []float64 // of M, under WᵀW = I
}

// newForm is that of the Graph's own G, in full or a factor.
func newForm(g *anchor.Graph, team *kernel.Team, opt Options) (form, error) {
	if g.G.IsFactor() {
		return newFactored(g, team, opt)
	}
	return newInFull(g, team, opt)
}

// inFull is M as d×d numbers.
type inFull struct {
	d, l    int
	team    *kernel.Team
	costs   *costs
	m       []float64 // M, d×d, symmetric in full
	a       []float64 // d×d; the solver reads the upper triangle
	eig     *linalg.Smallest
	scatter *scatter // nil under WᵀW = I
}

func newInFull(g *anchor.Graph, team *kernel.Team, opt Options) (*inFull, error) {
	d, l := g.D, opt.Clusters
	s := &inFull{
		d: d, l: l, team: team, costs: newCosts(g, team),
		m: make([]float64, d*d), a: make([]float64, d*d),
		eig: linalg.NewSmallest(team, d, l, linalg.EigenOptions{}),
	}
	if opt.Constraint == Identity {
		return s, nil
	}
	var err error
	s.scatter, err = newScatter(s, g.G.Sym)
	return s, err
}

func (s *inFull) load(ctx context.Context, method Method, alpha float64) (k loaded, err error) {
	if err := s.costs.matrixTo(ctx, s.m, method, alpha); err != nil {
		return k, err
	}
	k.noise = noise(s.l, s.d, columnNorm(s.m, s.d))
	if s.scatter != nil {
		s.scatter.load(s)
		k.norm = columnNorm(s.scatter.reduce, s.d)
		k.noise /= s.scatter.unit * ridge // M/u, and columns of W as long as √(1/ρ)
		return k, nil
	}
	k.norm = columnNorm(s.m, s.d)
	for i := range s.d {
		k.diagonal = append(k.diagonal, s.m[i*s.d+i])
	}
	return k, nil
}

// noise is what rounding of an M of the given norm may add to the cost of l directions.
func noise(l, d int, norm float64) float64 {
	return float64(l) * math.Sqrt(float64(d)) * 0x1p-52 * norm
}
