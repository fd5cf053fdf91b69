package fsfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

const (
	// blockSide is the number of features on each side of a block of covariances, which needs 2 MiB.
	blockSide = 512
	// stripRows is the number of consecutive rows of a block that one task processes.
	stripRows = 16
	// rowsTogether is the number of whole rows of λ₂ that are in memory at a time.
	rowsTogether = 32
)

// block holds the covariances of the features listed in rows with the features listed in cols.
type block struct {
	rows, cols []int32
	isDiagonal bool // rows and cols are the same features
	stride     int
	cov        []float64
}

func (b *block) covarianceRow(rowIndex int) []float64 { return b.cov[rowIndex*b.stride:][:len(b.cols)] }

// visitProducts computes the covariances of the features listed in `rows` with the features listed in `cols`, and calls
// visit for each block of covariances. If cols is nil, it uses rows in its place, and computes only one block of each
// symmetric pair of blocks. An entry costs 2r flops for a factor of r rows. An entry has the same bits in any block and
// for either order of the two features, as [kernel.Gemm] guarantees.
func (s *similarity) visitProducts(ctx context.Context, rows, cols []int32, visit func(*block)) error {
	square := cols == nil
	if square {
		cols = rows
	}
	for from := 0; from < len(rows); from += blockSide {
		if err := ctx.Err(); err != nil {
			return err
		}
		blockRows := rows[from:min(from+blockSide, len(rows))]
		left := s.factorRows(s.left, blockRows)
		start := 0
		if square {
			start = from
		}
		for at := start; at < len(cols); at += blockSide {
			blockCols := cols[at:min(at+blockSide, len(cols))]
			out := &block{rows: blockRows, cols: blockCols, isDiagonal: square && at == from, stride: len(blockCols)}
			out.cov = s.cov[:len(blockRows)*len(blockCols)]
			if s.m.IsFactor() {
				right := left
				if !out.isDiagonal {
					right = s.factorRows(s.right, blockCols)
				}
				clear(out.cov)
				kernel.Gemm(s.team, 1, left, right.Trans(), kernel.RowMajor(out.cov, len(blockRows), len(blockCols), len(blockCols)))
			} else {
				s.copyCovariancesFromGram(out)
			}
			visit(out)
		}
	}
	return nil
}

// factorRows returns a matrix with a row for each listed feature of the factor. The rows are copied to the memory
// `room`, or are rows of the factor itself. If there is no factor the result is empty.
func (s *similarity) factorRows(room []float64, list []int32) kernel.Matrix[float64] {
	if !s.m.IsFactor() {
		return kernel.Matrix[float64]{}
	}
	r := s.m.Rank
	if s.m.R != nil && isConsecutive(list) {
		return kernel.RowMajor(s.m.R[int(list[0])*r:], len(list), r, r)
	}
	kernel.Each(s.team.Threads(), (len(list)+stripRows-1)/stripRows, func(task int) {
		for x := task * stripRows; x < min((task+1)*stripRows, len(list)); x++ {
			to := room[x*r:][:r]
			copy(to, s.m.Feature(to, int(list[x])))
		}
	})
	return kernel.RowMajor(room, len(list), r, r)
}

func (s *similarity) copyCovariancesFromGram(b *block) {
	run := isConsecutive(b.cols)
	s.eachBlockRow(b, func(x int) {
		row, to := s.m.Sym[int(b.rows[x])*s.d:][:s.d], b.covarianceRow(x)
		if run {
			copy(to, row[b.cols[0]:])
			return
		}
		for y, j := range b.cols {
			to[y] = row[j]
		}
	})
}

func isConsecutive(list []int32) bool {
	for x, i := range list {
		if i != list[0]+int32(x) {
			return false
		}
	}
	return true
}

func (s *similarity) eachBlockRow(b *block, f func(x int)) {
	kernel.Each(s.team.Threads(), (len(b.rows)+stripRows-1)/stripRows, func(task int) {
		for x := task * stripRows; x < min((task+1)*stripRows, len(b.rows)); x++ {
			f(x)
		}
	})
}

// computeVariances computes the variances with the same bits as the covariances, so that λ₂ of equal columns is 0.
func (s *similarity) computeVariances() {
	if !s.m.IsFactor() {
		for i := range s.variance {
			s.variance[i] = s.m.Sym[i*s.d+i]
		}
		return
	}
	for from := 0; from < s.d; from += rowsTogether {
		list := s.all[from:min(from+rowsTogether, s.d)]
		n := len(list)
		a, cov := s.factorRows(s.left, list), s.cov[:n*n]
		clear(cov)
		kernel.Gemm(s.team, 1, a, a.Trans(), kernel.RowMajor(cov, n, n, n))
		for x, i := range list {
			s.variance[i] = cov[x*n+x]
		}
	}
}

func (s *similarity) pairCompressionIndex(feature, other int32) float64 {
	if !s.m.IsFactor() {
		return compressionIndex(s.variance[feature], s.variance[other], s.m.Sym[int(feature)*s.d+int(other)])
	}
	var cov [1]float64
	r := s.m.Rank
	a, b := s.m.Feature(s.left, int(feature)), s.m.Feature(s.right, int(other))
	kernel.Gemm(s.team, 1, kernel.RowMajor(a, 1, r, r), kernel.ColMajor(b, r, 1, r), kernel.RowMajor(cov[:], 1, 1, 1))
	return compressionIndex(s.variance[feature], s.variance[other], cov[0])
}

// visitRows calls visit for each listed feature, in several threads. x is the feature's index in the list, and row has
// its λ₂ to all features, which is 0 for itself. The function visit may change the row but must not keep it.
func (s *similarity) visitRows(ctx context.Context, list []int32, visit func(x int, row []float64)) error {
	for from := 0; from < len(list); from += rowsTogether {
		some := list[from:min(from+rowsTogether, len(list))]
		err := s.visitProducts(ctx, some, s.all, func(b *block) {
			s.eachBlockRow(b, func(x int) {
				i := b.rows[x]
				to := s.distances[x*s.d:][:s.d]
				for y, cov := range b.covarianceRow(x) {
					j := b.cols[y]
					to[j] = compressionIndex(s.variance[i], s.variance[j], cov)
				}
			})
		})
		if err != nil {
			return err
		}
		kernel.Each(s.team.Threads(), len(some), func(x int) {
			row := s.distances[x*s.d:][:s.d]
			row[some[x]] = 0
			visit(from+x, row)
		})
	}
	return nil
}
