package udfs

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// patches holds the neighbourhoods (patches) of n rows, and the part of L that each patch contributes. If the 0/1
// matrix P_i selects the rows of patch i, then L = Σ P_i·H(HX_iᵀX_iH + λI)⁻¹H·P_iᵀ with the X_i, H and λ of the package
// comment, so that M = XᵀLX.
type patches struct {
	size           int       // k+1: a row and its neighbours
	member         []int32   // n×size: the rows of each patch; the patch's own row is first
	laplacianParts []float64 // n×size×size: each patch's part of L, symmetric
	// List of the patches that contain each row. Row p of patch i has the index i·size + p in member.
	// memberships[firstMembership[r]:firstMembership[r+1]] has the indices of row r, ascending.
	firstMembership []int
	memberships     []int32
}

// newPatches makes a patch of each row of x, n×d row-major, and its k nearest rows, which are listed in the parameter
// `near`. A patch costs (k+1)²/2 products of two rows. The bits of a patch do not depend on other patches.
func newPatches(ctx context.Context, workers int, x kernel.Matrix[float64], near []rows.Neighbour, k int, lambda float64) (*patches, error) {
	n, size := x.Rows, k+1
	p := layOutPatches(nil, n, size)
	for i := range n {
		p.member[i*size] = int32(i)
		for e := range k {
			p.member[i*size+1+e] = near[i*k+e].Index
		}
	}
	for _, r := range p.member {
		p.firstMembership[r+1]++
	}
	for r := range n {
		p.firstMembership[r+1] += p.firstMembership[r]
	}
	next := append([]int(nil), p.firstMembership...)
	for e, r := range p.member {
		p.memberships[next[r]] = int32(e)
		next[r]++
	}
	errs := make([]error, (n+rows.RunRows-1)/rows.RunRows)
	rows.EachRun(workers, n, func(run, from, to int) {
		b := layOutPatchScratch(nil, size, x.Cols)
		for i := from; i < to && errs[run] == nil; i++ {
			if errs[run] = ctx.Err(); errs[run] == nil {
				errs[run] = b.writePatchMatrix(p.laplacianParts[i*size*size:][:size*size], x, p.member[i*size:][:size], lambda)
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

func layOutPatches(l *room.Layout, n, size int) *patches {
	return &patches{size: size, member: room.Slice[int32](l, n*size), laplacianParts: room.Slice[float64](l, n*size*size),
		firstMembership: room.Slice[int](l, n+1), memberships: room.Slice[int32](l, n*size)}
}

type patchScratch struct {
	size  int
	team  *kernel.Team
	diff  []float64 // differences of the patch's rows from its first, size×d
	a     []float64 // size×size
	solve []float64
	chol  linalg.Cholesky
}

func layOutPatchScratch(l *room.Layout, size, d int) *patchScratch {
	b := &patchScratch{size: size, team: kernel.NewTeam(1), diff: room.Slice[float64](l, size*d), a: room.Slice[float64](l, size*size), solve: room.Slice[float64](l, size*size)}
	b.chol.LayOut(l, size)
	return b
}

// writePatchMatrix writes H(HX_iᵀX_iH + λI)⁻¹H to dst, for the patch of the rows `members` of x (see the package
// comment).
func (b *patchScratch) writePatchMatrix(dst []float64, x kernel.Matrix[float64], members []int32, lambda float64) error {
	s, d := b.size, x.Cols
	// Use products of differences from the patch's own row. Products of the rows themselves would lose the digits in
	// which near rows differ. H removes any shift, so M is the same.
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
	centreSymmetricMatrix(b.a, s)
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
	centreSymmetricMatrix(b.solve, s)
	for p := range s {
		for q := range s {
			dst[p*s+q] = (b.solve[p*s+q] + b.solve[q*s+p]) / 2
		}
	}
	return nil
}

func centreSymmetricMatrix(a []float64, order int) {
	for range 2 { // centre columns and transpose, twice
		for p := range order {
			var sum float64
			for q := range order {
				sum += a[p*order+q]
			}
			for q := range order {
				a[p*order+q] -= sum / float64(order)
			}
		}
		for p := range order {
			for q := range p {
				a[p*order+q], a[q*order+p] = a[q*order+p], a[p*order+q]
			}
		}
	}
}

// scatterMatrix returns M = XᵀLX, d×d, with both triangles. A row of LX is a sum over the patches that contain the row,
// in their order, so that the bits do not depend on the number of workers. For each row, LX costs (k+1)²·d flops.
func (p *patches) scatterMatrix(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64]) ([]float64, error) {
	d, s := x.Cols, p.size
	m := make([]float64, d*d)
	err := rowsparse.WriteScatter(ctx, team, m, rowsparse.LayOutPanel(nil, x.Rows, d), x, func(dst []float64, first, h int) {
		kernel.Each(team.Threads(), h, func(i int) {
			row := dst[i*d:][:d]
			clear(row)
			for _, e := range p.memberships[p.firstMembership[first+i]:p.firstMembership[first+i+1]] {
				patch, place := int(e)/s, int(e)%s
				weights := p.laplacianParts[(patch*s+place)*s:][:s]
				for q, r := range p.member[patch*s:][:s] {
					kernel.Axpy(weights[q], x.Data[int(r)*d:][:d], row)
				}
			}
		})
	})
	return m, err
}

func (p *patches) laplacianMatrix(n int) kernel.Matrix[float64] {
	l, s := kernel.RowMajor(make([]float64, n*n), n, n, n), p.size
	for e, r := range p.member {
		patch, place := e/s, e%s
		for q, c := range p.member[patch*s:][:s] {
			l.Data[int(r)*n+int(c)] += p.laplacianParts[(patch*s+place)*s+q]
		}
	}
	return l
}
