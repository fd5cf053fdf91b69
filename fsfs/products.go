package fsfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

const (
	// side is the number of features of a block of covariances, 2 MiB.
	side = 512
	// strip is the number of a block's rows that are a task.
	strip = 16
	// together is the number of whole rows of λ₂ that are held at a time.
	together = 32
)

// block is the covariances of some features, its rows, with others, its columns.
type block struct {
	rows, cols []int32
	same       bool // both are the same features
	stride     int
	cov        []float64
}

func (b *block) row(x int) []float64 { return b.cov[x*b.stride:][:len(b.cols)] }

// products calls visit for the covariances of the rows with the columns, a block at a time; without columns for
// those of the rows with each other, where a block beside the diagonal comes once. Costs 2r flops an entry of a factor
// of r rows. An entry has the same bits in any block, and for the two features in the other order: so [kernel.Gemm]
// promises.
func (s *similar) products(ctx context.Context, rows, cols []int32, visit func(*block)) error {
	square := cols == nil
	if square {
		cols = rows
	}
	var a, b, room []float64
	if s.m.IsFactor() {
		a, b = make([]float64, min(side, len(rows))*s.m.Rank), make([]float64, min(side, len(cols))*s.m.Rank)
	}
	for from := 0; from < len(rows); from += side {
		if err := ctx.Err(); err != nil {
			return err
		}
		of := rows[from:min(from+side, len(rows))]
		left := s.features(a, of)
		start := 0
		if square {
			start = from
		}
		for at := start; at < len(cols); at += side {
			with := cols[at:min(at+side, len(cols))]
			out := &block{rows: of, cols: with, same: square && at == from, stride: len(with)}
			if room == nil {
				room = make([]float64, min(side, len(rows))*min(side, len(cols)))
			}
			out.cov = room[:len(of)*len(with)]
			if s.m.IsFactor() {
				right := left
				if !out.same {
					right = s.features(b, with)
				}
				clear(out.cov)
				kernel.Gemm(s.team, 1, left, right.Trans(), kernel.RowMajor(out.cov, len(of), len(with), len(with)))
			} else {
				s.gather(out)
			}
			visit(out)
		}
	}
	return nil
}

// features are the columns of the factor listed, as rows, in room or where they are.
func (s *similar) features(room []float64, list []int32) kernel.Matrix[float64] {
	if !s.m.IsFactor() {
		return kernel.Matrix[float64]{}
	}
	r := s.m.Rank
	if s.m.R != nil && isRun(list) {
		return kernel.RowMajor(s.m.R[int(list[0])*r:], len(list), r, r)
	}
	kernel.Each(s.team.Threads(), (len(list)+strip-1)/strip, func(task int) {
		for x := task * strip; x < min((task+1)*strip, len(list)); x++ {
			to := room[x*r:][:r]
			copy(to, s.m.Feature(to, int(list[x])))
		}
	})
	return kernel.RowMajor(room, len(list), r, r)
}

// gather fills a block from the matrix in full.
func (s *similar) gather(b *block) {
	run := isRun(b.cols)
	s.each(b, func(x int) {
		row, to := s.m.Sym[int(b.rows[x])*s.d:][:s.d], b.row(x)
		if run {
			copy(to, row[b.cols[0]:])
			return
		}
		for y, j := range b.cols {
			to[y] = row[j]
		}
	})
}

// isRun says that the features listed are neighbouring columns.
func isRun(list []int32) bool {
	for x, i := range list {
		if i != list[0]+int32(x) {
			return false
		}
	}
	return true
}

// each calls f for the rows of a block, from several threads.
func (s *similar) each(b *block, f func(x int)) {
	kernel.Each(s.team.Threads(), (len(b.rows)+strip-1)/strip, func(task int) {
		for x := task * strip; x < min((task+1)*strip, len(b.rows)); x++ {
			f(x)
		}
	})
}

// diagonal finds the variances, with the bits of other products, so that of equal columns λ₂ is 0.
func (s *similar) diagonal() {
	s.variance = make([]float64, s.d)
	if !s.m.IsFactor() {
		for i := range s.variance {
			s.variance[i] = s.m.Sym[i*s.d+i]
		}
		return
	}
	room, cov := make([]float64, together*s.m.Rank), make([]float64, together*together)
	for from := 0; from < s.d; from += together {
		list := s.all[from:min(from+together, s.d)]
		n := len(list)
		a := s.features(room, list)
		clear(cov)
		kernel.Gemm(s.team, 1, a, a.Trans(), kernel.RowMajor(cov, n, n, n))
		for x, i := range list {
			s.variance[i] = cov[x*n+x]
		}
	}
}

// index is λ₂ of two features.
func (s *similar) index(i, j int32) float64 {
	if !s.m.IsFactor() {
		return index(s.variance[i], s.variance[j], s.m.Sym[int(i)*s.d+int(j)])
	}
	var cov [1]float64
	r := s.m.Rank
	room := make([]float64, 2*r)
	a, b := s.m.Feature(room, int(i)), s.m.Feature(room[r:], int(j))
	kernel.Gemm(s.team, 1, kernel.RowMajor(a, 1, r, r), kernel.ColMajor(b, r, 1, r), kernel.RowMajor(cov[:], 1, 1, 1))
	return index(s.variance[i], s.variance[j], cov[0])
}

// rows calls visit for λ₂ of each feature listed, the one at place x, to all features, from several threads; of
// the feature to itself it is 0. A row is lent, and may be changed.
func (s *similar) rows(ctx context.Context, list []int32, visit func(x int, row []float64)) error {
	room := make([]float64, min(together, len(list))*s.d)
	for from := 0; from < len(list); from += together {
		some := list[from:min(from+together, len(list))]
		err := s.products(ctx, some, s.all, func(b *block) {
			s.each(b, func(x int) {
				i := b.rows[x]
				to := room[x*s.d:][:s.d]
				for y, cov := range b.row(x) {
					j := b.cols[y]
					to[j] = index(s.variance[i], s.variance[j], cov)
				}
			})
		})
		if err != nil {
			return err
		}
		kernel.Each(s.team.Threads(), len(some), func(x int) {
			row := room[x*s.d:][:s.d]
			row[some[x]] = 0
			visit(from+x, row)
		})
	}
	return nil
}
