package cpufs

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// procrustes computes C = Q(QᵀQ)^(−1/2), which is the C with CᵀC = I that maximizes Tr(CᵀQ). It receives Q, n×c, block
// by block.
type procrustes struct {
	s     *solver
	polar *linalg.Polar
	first []int // number of the first piece of each block
	piece int   // number of pieces so far
}

func newProcrustes(s *solver) *procrustes {
	return &procrustes{s: s, polar: linalg.NewPolar(s.c)}
}

// piecesPerBlock is the number of parts of a block that are factored separately, on as many workers.
const piecesPerBlock = 4

// pieceRows returns the number of rows of the pieces of a block of h rows; the last piece may have fewer.
func pieceRows(h, c int) int { return max((h+piecesPerBlock-1)/piecesPerBlock, 4*c) }

func (p *procrustes) addBlock(rowsOfQ []float64) error {
	c := p.s.c
	h := len(rowsOfQ) / c
	p.first = append(p.first, p.piece)
	for from, rows := 0, pieceRows(h, c); from < h; from += rows {
		n := min(rows, h-from)
		if err := p.polar.Add(kernel.RowMajor(rowsOfQ[from*c:], n, c, c)); err != nil {
			return fmt.Errorf("cpufs: Q: %w", err)
		}
		p.piece++
	}
	return nil
}

func (p *procrustes) factorizeQ() error {
	if err := p.polar.Factor(); err != nil {
		return fmt.Errorf("cpufs: Q: %w", err)
	}
	if p.polar.Rank() < p.s.c {
		p.s.looseIterations++
	}
	values := p.polar.SingularValues()
	p.s.conditionOfQ = values[0] / values[p.s.c-1] // +Inf if the last value is 0
	return nil
}

// writeRowsOfC writes the rows of C of a block to dst, from the same rows q of Q. It adds the product of these rows,
// which is a term of QᵀC = (QᵀQ)^(1/2), to root, c×c.
func (p *procrustes) writeRowsOfC(number int, dst, q, root []float64) {
	c := p.s.c
	h := len(q) / c
	rows := pieceRows(h, c)
	kernel.Each(p.s.opt.Threads, (h+rows-1)/rows, func(i int) {
		n := min(rows, h-i*rows)
		p.polar.RowsTo(p.first[number]+i, kernel.RowMajor(dst[i*rows*c:], n, c, c), kernel.RowMajor(q[i*rows*c:], n, c, c))
	})
	kernel.Gemm(p.s.team, 1, kernel.RowMajor(q, h, c, c).Trans(), kernel.RowMajor(dst, h, c, c), kernel.RowMajor(root, c, c, c))
}

// maxCondition is the largest condition number of Q at which XᵀC is computed as XᵀQ·(QᵀQ)^(−1/2). The error of this
// product is 2⁻⁵³ times the condition number. For a larger condition number, a further pass sums XᵀC over the rows of
// C. With η = 10⁵ the condition number is about the root of the quotient of the largest and the smallest cluster size.
const maxCondition = 1e3

func (p *procrustes) divideByRoot(dst, m, root []float64) error {
	c := p.s.c
	square := kernel.RowMajor(root, c, c, c)
	linalg.Symmetrize(square)
	var f linalg.Cholesky
	if err := f.Factor(p.s.team, square); err != nil {
		return fmt.Errorf("cpufs: root of QᵀQ: %w", err)
	}
	f.SolveTo(p.s.team, kernel.RowMajor(dst, p.s.d, c, c).Trans(), kernel.RowMajor(m, p.s.d, c, c).Trans())
	return nil
}
