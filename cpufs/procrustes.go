package cpufs

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// procrustes computes C = Q(QᵀQ)^(−1/2), which is the C with CᵀC = I that maximizes Tr(CᵀQ), from a Q that is added
// block by block.
type procrustes struct {
	s     *solver
	polar *linalg.Polar
	first []int // number of each block's first piece
	piece int
}

func (s *solver) newProcrustes() *procrustes {
	return &procrustes{s: s, polar: linalg.NewPolar(s.c)}
}

// pieces is the number of parts of a block that are factored separately, to keep the same number of workers busy.
const pieces = 4

// pieceRows returns the height of the pieces of a block; the last piece may be lower.
func pieceRows(h, c int) int { return max((h+pieces-1)/pieces, 4*c) }

func (p *procrustes) addBlock(q []float64) error {
	c := p.s.c
	h := len(q) / c
	p.first = append(p.first, p.piece)
	for from, rows := 0, pieceRows(h, c); from < h; from += rows {
		n := min(rows, h-from)
		if err := p.polar.Add(kernel.RowMajor(q[from*c:], n, c, c)); err != nil {
			return fmt.Errorf("cpufs: Q: %w", err)
		}
		p.piece++
	}
	return nil
}

func (p *procrustes) factorQ() error {
	if err := p.polar.Factor(); err != nil {
		return fmt.Errorf("cpufs: Q: %w", err)
	}
	if p.polar.Rank() < p.s.c {
		p.s.looseIterations++
	}
	values := p.polar.SingularValues()
	p.s.kappa = values[0] / values[p.s.c-1] // +Inf if the last value is 0
	return nil
}

// rowsTo writes the rows of C of a block to dst, given the same rows of Q again. It adds the block's share of QᵀC =
// (QᵀQ)^(1/2) to root, c×c.
func (p *procrustes) rowsTo(number int, dst, q, root []float64) {
	c := p.s.c
	h := len(q) / c
	rows := pieceRows(h, c)
	kernel.Each(p.s.opt.Threads, (h+rows-1)/rows, func(i int) {
		n := min(rows, h-i*rows)
		p.polar.RowsTo(p.first[number]+i, kernel.RowMajor(dst[i*rows*c:], n, c, c), kernel.RowMajor(q[i*rows*c:], n, c, c))
	})
	kernel.Gemm(p.s.team, 1, kernel.RowMajor(q, h, c, c).Trans(), kernel.RowMajor(dst, h, c, c), kernel.RowMajor(root, c, c, c))
}

// mostKappa is the largest condition number of Q at which XᵀC is computed as XᵀQ·(QᵀQ)^(−1/2). The error of this
// product is kappa·2⁻⁵³. For a larger condition number, the sum over the rows of C itself is worth its pass. With η =
// 10⁵ the condition number is about the root of the quotient of the clusters' sizes.
const mostKappa = 1e3

func (s *solver) solveRoot(dst, m, root []float64) error {
	c := s.c
	for i := range c { // symmetric up to rounding
		for j := range i {
			root[j*c+i] = (root[j*c+i] + root[i*c+j]) / 2
		}
	}
	var f linalg.Cholesky
	if err := f.Factor(s.team, kernel.RowMajor(root, c, c, c)); err != nil {
		return fmt.Errorf("cpufs: root of QᵀQ: %w", err)
	}
	f.SolveTo(s.team, kernel.RowMajor(dst, s.d, c, c).Trans(), kernel.RowMajor(m, s.d, c, c).Trans())
	return nil
}
