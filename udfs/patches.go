package udfs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// patches are the neighbourhoods of n rows, and the part of L that each adds. With P_i the
// selection of patch i's rows, L = Σ P_i·H(HX_iᵀX_iH + λI)⁻¹H·P_iᵀ, so that M = XᵀLX.
type patches struct {
	size   int       // k+1: a row and its neighbours
	member []int32   // n×size: the rows of each patch, its own first
	local  []float64 // n×size×size: what it adds to L, symmetric
	// The patches that a row is in: place p of patch i is the entry i·size + p of member, and
	// in[start[r]:start[r+1]] are the entries of row r, ascending.
	start []int
	in    []int32
}

// newPatches makes the patches of the rows of x, n×d row-major, from the k nearest of each.
// Costs (k+1)²/2 products of two rows a patch; patches are independent.
func newPatches(ctx context.Context, workers int, x kernel.Matrix[float64], near []rows.Neighbour, k int, lambda float64) (*patches, error) {
	n, size := x.Rows, k+1
	p := &patches{size: size, member: make([]int32, n*size), local: make([]float64, n*size*size),
		start: make([]int, n+1), in: make([]int32, n*size)}
	for i := range n {
		p.member[i*size] = int32(i)
		for e := range k {
			p.member[i*size+1+e] = near[i*k+e].Index
		}
	}
	for _, r := range p.member {
		p.start[r+1]++
	}
	for r := range n {
		p.start[r+1] += p.start[r]
	}
	next := append([]int(nil), p.start...)
	for e, r := range p.member {
		p.in[next[r]] = int32(e)
		next[r]++
	}
	errs := make([]error, (n+rows.RunRows-1)/rows.RunRows)
	rows.EachRun(workers, n, func(run, from, to int) {
		b := newBall(size, x.Cols)
		for i := from; i < to && errs[run] == nil; i++ {
			if errs[run] = ctx.Err(); errs[run] == nil {
				errs[run] = b.add(p.local[i*size*size:][:size*size], x, p.member[i*size:][:size], lambda)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// ball is the scratch of one worker for a patch.
type ball struct {
	size  int
	team  *kernel.Team
	diff  []float64 // the patch's rows less its first, size×d
	a     []float64 // size×size
	solve []float64
	chol  linalg.Cholesky
}

func newBall(size, d int) *ball {
	return &ball{size: size, team: kernel.NewTeam(1), diff: make([]float64, size*d), a: make([]float64, size*size), solve: make([]float64, size*size)}
}

// add writes H(HX_iᵀX_iH + λI)⁻¹H to dst.
func (b *ball) add(dst []float64, x kernel.Matrix[float64], members []int32, lambda float64) error {
	s, d := b.size, x.Cols
	// Products of differences from the patch's own row: products of the rows would lose the
	// digits in which close rows differ. H takes out any shift.
	own := x.Data[int(members[0])*d:][:d]
	for p, r := range members {
		row := x.Data[int(r)*d:][:d]
		to := b.diff[p*d:][:d]
		for j, v := range row {
			to[j] = v - own[j]
		}
	}
	for p := range s {
		for q := p; q < s; q++ {
			v := kernel.Dot(b.diff[p*d:][:d], b.diff[q*d:][:d])
			b.a[p*s+q], b.a[q*s+p] = v, v
		}
	}
	centre(b.a, s)
	for p := range s {
		b.a[p*s+p] += lambda
	}
	m := kernel.RowMajor(b.a, s, s, s)
	if err := b.chol.Factor(b.team, m); err != nil {
		return fmt.Errorf("udfs: the scatter of the patch of row %d: %w", members[0]+1, err)
	}
	clear(b.solve)
	for p := range s {
		b.solve[p*s+p] = 1
	}
	b.chol.SolveTo(b.team, kernel.RowMajor(b.solve, s, s, s), kernel.RowMajor(b.solve, s, s, s))
	centre(b.solve, s)
	for p := range s {
		for q := range s {
			dst[p*s+q] = (b.solve[p*s+q] + b.solve[q*s+p]) / 2
		}
	}
	return nil
}

// centre makes HAH of the symmetric s×s matrix A.
func centre(a []float64, s int) {
	for range 2 { // the columns, and transposed again
		for p := range s {
			var sum float64
			for q := range s {
				sum += a[p*s+q]
			}
			for q := range s {
				a[p*s+q] -= sum / float64(s)
			}
		}
		for p := range s {
			for q := range p {
				a[p*s+q], a[q*s+p] = a[q*s+p], a[p*s+q]
			}
		}
	}
}

// panel is how many rows of LX stand in memory at a time: a chain of the products' sums.
const panel = 256

// scatter returns M = XᵀLX, d×d, symmetric in full. A row of LX is a sum over the patches that
// the row is in, in order, so that bits do not depend on the workers. Costs (k+1)²·d flops a
// row for LX and 2·d² for the product.
func (p *patches) scatter(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64]) ([]float64, error) {
	n, d, s := x.Rows, x.Cols, p.size
	m, lx := make([]float64, d*d), make([]float64, min(panel, n)*d)
	for first := 0; first < n; first += panel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := min(panel, n-first)
		kernel.Each(team.Threads(), h, func(i int) {
			row := lx[i*d:][:d]
			clear(row)
			for _, e := range p.in[p.start[first+i]:p.start[first+i+1]] {
				patch, place := int(e)/s, int(e)%s
				weights := p.local[(patch*s+place)*s:][:s]
				for q, r := range p.member[patch*s:][:s] {
					kernel.Axpy(weights[q], x.Data[int(r)*d:][:d], row)
				}
			}
		})
		kernel.Gemm(team, 1, x.Sub(first, 0, h, d).Trans(), kernel.RowMajor(lx, h, d, d), kernel.RowMajor(m, d, d, d))
	}
	symmetrize(m, d)
	for _, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("udfs: the scatter of the patches: %w", linalg.ErrNotFinite)
		}
	}
	return m, nil
}

// laplacian is L, n×n: for few rows.
func (p *patches) laplacian(n int) kernel.Matrix[float64] {
	l, s := kernel.RowMajor(make([]float64, n*n), n, n, n), p.size
	for e, r := range p.member {
		patch, place := e/s, e%s
		for q, c := range p.member[patch*s:][:s] {
			l.Data[int(r)*n+int(c)] += p.local[(patch*s+place)*s+q]
		}
	}
	return l
}

// symmetrize takes the mean of the two triangles of A, n×n, which rounding has set apart.
func symmetrize(a []float64, n int) {
	for i := range n {
		for j := range i {
			v := (a[i*n+j] + a[j*n+i]) / 2
			a[i*n+j], a[j*n+i] = v, v
		}
	}
}
