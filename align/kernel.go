package align

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// An eigenvector on fewer than leastRows rows, or leastShare of them, is left out. Without
	// this guard one draw of anchors on mnist10k took nothing but border pixels, from a part of 20
	// rows that hardly touched the others.
	leastRows  = 3
	leastShare = 0.004
)

// Kernel is the diffusion kernel of an anchor graph as features see it: K = Σ w_c·u_c·u_cᵀ with
// the weights w_c = (λ_c/λ_1)^(2t), n×n, which is never built. To divide by λ_1 changes no
// choice, and keeps a long diffusion from underflow.
type Kernel struct {
	A    []float64 // d: aᵢ = xᵢᵀKxᵢ
	Norm float64   // ‖K‖, Frobenius' norm: √Σw_c²

	Eigenvalues []float64 // λ_c, descending
	Components  int       // connected components of the graph
	Narrow      int       // eigenvectors left out, as they live on too few rows
	Warnings    []stream.Text
}

// NewKernel diffuses t > 0 steps on the graph. With S = BᵀB = VΛVᵀ, u_c = Bv_c/√λ_c and
// Bᵀx̃ᵢ = Cᵢ
//
//	aᵢ = Σ_c w_c·(u_cᵀx̃ᵢ)² = Σ_c w_c/λ_c·(v_cᵀCᵢ)².
//
// Costs the 50 leading eigenpairs of an m×m matrix and 100·m·d flops, and holds [KernelBytes].
func NewKernel(team *kernel.Team, g *anchor.Graph, t float64) (*Kernel, error) {
	e, err := spectral.EmbedWide(team, g, pairs, max(leastRows, leastShare*float64(g.Rows)))
	if err != nil {
		return nil, err
	}
	k := &Kernel{A: make([]float64, g.D), Eigenvalues: e.Values, Components: e.Components, Narrow: e.Narrow}
	if e.Components > pairs+1 {
		k.warn("the anchor graph falls into %d unconnected parts, of which only the %d largest are told apart; raise {neighbors}", e.Components, pairs+1)
	}
	if e.AllNarrow {
		k.warn("every leading eigenvector of the anchor graph lives on a handful of rows: the rows have hardly any neighbours, and the features may be no better than random ones")
	}
	c := len(e.Values)
	if c == 0 {
		k.warn("the anchor graph has no eigenvector but the constant one, so that it tells nothing of the features: column order decides; lower {neighbors}, or take {method} greedy")
		return k, nil
	}
	y := kernel.RowMajor(make([]float64, c*g.D), c, g.D, g.D)
	kernel.Gemm(team, 1, e.Vectors, kernel.RowMajor(g.C, g.M, g.D, g.D), y)
	for i, lambda := range e.Values {
		w := math.Pow(lambda/e.Values[0], 2*t)
		k.Norm = math.Hypot(k.Norm, w)
		root := math.Sqrt(w / lambda)
		for j, v := range y.Data[i*g.D:][:g.D] {
			k.A[j] += (root * v) * (root * v)
		}
	}
	return k, nil
}

func (k *Kernel) warn(format string, args ...any) {
	k.Warnings = append(k.Warnings, stream.Textf(format, args...))
}

// Problem is the alignment of this kernel with columns of the graph's G.
func (k *Kernel) Problem(g *anchor.Graph) (Problem, error) {
	if len(k.A) != g.D {
		return Problem{}, fmt.Errorf("align: a kernel of %d features for %d", len(k.A), g.D)
	}
	p := Problem{A: k.A, Norm: k.Norm, Squares: make([]float64, g.D), Column: func(j int) []float64 { return g.G[j*g.D:][:g.D] }}
	for j := range p.Squares {
		p.Squares[j] = g.G[j*g.D+j]
	}
	return p, nil
}

// KernelBytes is what NewKernel holds at most beside the graph of m anchors and d features.
func KernelBytes(m, d int) int64 {
	c := min(pairs, m)
	return spectral.Bytes(m, pairs) + kernel.TeamBytes(m, max(m, d)) + 8*int64(c+1)*int64(d)
}
