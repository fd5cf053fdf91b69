// Package rows helps methods that iterate over rows. It reads a source repeatedly, stores data for every block of rows,
// and builds the graphs that connect rows.
//
//  1. A [Source] is read in passes, which deliver the same blocks every time.
//  2. Scratch files have one record for each block of rows. [EachBlock] and a [Walk] read or write several files
//     together, block by block.
//  3. [FindNearest] finds the nearest rows of each row, and [JoinNeighbours] makes a [Graph] of these.
//     [AnchoredGraph] is the graph of rows that share anchors, L = I − BBᵀ with B = ZΔ^(−1/2), eq. (2.6) and
//     (2.13) of the paper of SFUFS.
package rows

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Source is a source that is read in several passes.
type Source struct {
	stream.Source
	Meter  *stream.Meter // counts the work of all passes, unless it is nil
	OnPass func(pass int, what string)
	Passes int // number of passes begun

	// The blocks that have rows are known after the first pass:
	First       []int // for each block, the number of rows before it
	Height      []int // number of rows of each block
	N           int   // number of all rows
	blocksKnown bool
}

type adderFunc func(*stream.Chunk) error

func (f adderFunc) Add(c *stream.Chunk) error { return f(c) }

// Mark is a position in a pass: between two blocks, or at the beginning or end.
type Mark struct {
	Next   int64 // position of the next row; 0 at the beginning
	Number int   // number of blocks with rows before it
}

// Pass calls visit for every block that has rows. The parameter number counts these blocks from 0. It fails if the
// blocks differ from the blocks of the first pass.
func (s *Source) Pass(ctx context.Context, what string, visit func(number int, c *stream.Chunk) error) error {
	return s.PassFrom(ctx, what, Mark{}, visit, nil)
}

// PassFrom works as Pass, but begins at a mark of another pass. If after is not nil, PassFrom calls it after every
// block with the mark at this position. A first pass from a later mark does not set First, Height and N.
func (s *Source) PassFrom(ctx context.Context, what string, from Mark, visit func(number int, c *stream.Chunk) error, after func(Mark) error) error {
	s.Passes++
	if s.OnPass != nil {
		s.OnPass(s.Passes, what)
	}
	number, learns := from.Number, !s.blocksKnown && from.Number == 0
	if learns { // also after an earlier pass that was interrupted
		s.First, s.Height, s.N = nil, nil, 0
	}
	opt := stream.FoldOptions{Meter: s.Meter, Next: from.Next}
	if after != nil {
		opt.After = func(next int64) error { return after(Mark{next, number}) }
	}
	err := stream.Fold(ctx, s.Source, opt, adderFunc(func(c *stream.Chunk) error {
		switch {
		case c.Rows == 0:
			return nil
		case learns:
			s.First, s.Height = append(s.First, s.N), append(s.Height, c.Rows)
			s.N += c.Rows
		case s.blocksKnown && (number >= len(s.Height) || s.Height[number] != c.Rows):
			return ErrRowsChanged()
		}
		number++
		return visit(number-1, c)
	}))
	if err == nil && s.blocksKnown && number != len(s.Height) {
		return ErrRowsChanged()
	}
	s.blocksKnown = s.blocksKnown || learns && err == nil
	return err
}

// ErrRowsChanged returns the error for rows that differ from the rows of an earlier pass.
func ErrRowsChanged() error {
	return stream.Dataf("", "the rows differ from an earlier pass: the input must not change during a run")
}

// RefuseWeights returns an error if the chunk has row weights, which only greedy supports.
func RefuseWeights(c *stream.Chunk) error {
	if c.Weight == nil {
		return nil
	}
	return stream.Usagef("{weight}: this method has no row weights; leave it out, or choose {method} greedy")
}

// RunRows is the number of consecutive rows, called a run, that a worker processes at a time. The sums of runs are
// added in the order of the runs, so that rounding does not depend on the number of workers.
const RunRows = 128

// EachRun divides n rows into runs of RunRows consecutive rows and calls visit, on several workers, for each run.
func EachRun(workers, n int, visit func(run, from, to int)) {
	kernel.Each(workers, (n+RunRows-1)/RunRows, func(t int) { visit(t, t*RunRows, min(n, (t+1)*RunRows)) })
}

// Resize returns a slice of n values, which the caller must set. If the capacity of s suffices, the memory of s is
// used.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return room.MakeSlice[T](n)
	}
	return s[:n]
}
