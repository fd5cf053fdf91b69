// Package rows helps methods that iterate over rows. It reads a source repeatedly, stores data for every block of rows,
// and builds the graphs that connect rows.
//
//  1. A [Source] is read in passes, which deliver the same blocks every time. The function Place of a [Pass] decides
//     whether rows are copied to a matrix or to the record of a scratch file, or added to sums. A [SavedPass] is
//     resumed by a later run.
//  2. Scratch files have one record for each block of rows. [EachBlock] reads or writes several files together, block
//     by block. A Pass does so together with the rows of the source.
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

// Source is a stream.Source whose rows are read several times. Each reading is called a pass.
type Source struct {
	stream.Source
	Meter  *stream.Meter               // counts the work of all passes, unless it is nil
	OnPass func(pass int, what string) // called before each pass with its number and purpose, unless it is nil
	Passes int                         // number of passes begun

	// The blocks that have rows are known after the first pass:
	First       []int // for each block, the number of rows before it
	Height      []int // number of rows of each block
	N           int   // number of all rows
	blocksKnown bool
}

type adderFunc func(*stream.Chunk) error

func (f adderFunc) Add(c *stream.Chunk) error { return f(c) }

// Pass describes a pass over the rows of a [Source]. It reads them block by block.
type Pass struct {
	Purpose string // of the pass, for progress messages
	Rows    int64  // number of rows that the source must have; 0 if any number will do
	Height  int    // number of rows of every block but the last; 0 for the source's own blocks
	// Place copies the rows of the chunk c to memory of the method. They follow the b.Rows rows of block b that are
	// already there.
	Place func(b Block, c *stream.Chunk) error
	// Visit is called after all rows of a block are placed, with the block's records in the Files. It may be nil.
	Visit    func(b Block, records [][]byte) error
	Files    []stream.ScratchPass // passes over scratch files, which ReadRows ends; a nil pass yields nil records
	Weighted bool                 // the method supports row weights; Height must then be 0

	Next  int64                  // position of the row to begin at, see [stream.FoldOptions]
	After func(next int64) error // called after every chunk, see [stream.FoldOptions]; may be nil
}

// Block is a block of consecutive rows of a pass.
type Block struct {
	Number int // number of earlier blocks
	First  int // number of rows in earlier blocks
	Rows   int // number of its rows that are already placed
}

// ReadRows makes a pass. It fails if the number of rows is not p.Rows, or if the source's blocks differ from the first
// pass. A first pass that does not begin at row 0 does not set First, Height and N.
func (s *Source) ReadRows(ctx context.Context, p Pass) (err error) {
	defer func() { err = closePasses(p.Files, err) }()
	records := make([][]byte, len(p.Files))
	s.Passes++
	if s.OnPass != nil {
		s.OnPass(s.Passes, p.Purpose)
	}
	learns := !s.blocksKnown && p.Next == 0
	if learns { // also after an earlier pass that was interrupted
		s.First, s.Height, s.N = nil, nil, 0
	}
	var b Block
	number := 0 // of the source's block
	err = stream.Fold(ctx, s.Source, stream.FoldOptions{Meter: s.Meter, Next: p.Next, After: p.After}, adderFunc(func(c *stream.Chunk) error {
		switch {
		case c.Rows == 0:
			return nil
		case c.Weight != nil && !p.Weighted:
			return stream.Usagef("{weight}: this method has no row weights; leave it out, or choose {method greedy}")
		case learns:
			s.First, s.Height = append(s.First, s.N), append(s.Height, c.Rows)
			s.N += c.Rows
		case s.blocksKnown && (number >= len(s.Height) || s.Height[number] != c.Rows):
			return errRowsChanged()
		}
		if p.Rows > 0 && int64(b.First+b.Rows+c.Rows) > p.Rows {
			return errRowsChanged()
		}
		number++
		return p.placeChunk(&b, c, records)
	}))
	switch {
	case err != nil:
		return err
	case s.blocksKnown && number != len(s.Height), p.Rows > 0 && int64(b.First+b.Rows) != p.Rows:
		return errRowsChanged()
	}
	s.blocksKnown = s.blocksKnown || learns
	if b.Rows > 0 {
		return p.endBlock(&b, records)
	}
	return nil
}

func (p *Pass) placeChunk(block *Block, c *stream.Chunk, records [][]byte) error {
	for from := 0; from < c.Rows; {
		part := c
		if end := from + p.Height - block.Rows; p.Height > 0 && (from > 0 || end < c.Rows) {
			part = sliceChunk(c, from, min(end, c.Rows))
		}
		if err := p.Place(*block, part); err != nil {
			return err
		}
		from += part.Rows
		block.Rows += part.Rows
		if p.Height == 0 || block.Rows == p.Height {
			if err := p.endBlock(block, records); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Pass) endBlock(block *Block, records [][]byte) (err error) {
	if p.Visit != nil {
		if err = readRecords(p.Files, records); err == nil {
			err = p.Visit(*block, records)
		}
	}
	*block = Block{Number: block.Number + 1, First: block.First + block.Rows}
	return err
}

func sliceChunk(c *stream.Chunk, from, to int) *stream.Chunk {
	part := &stream.Chunk{Start: c.Start + int64(from), Block: to - from, Rows: to - from, Cols: c.Cols, Stride: c.Stride}
	if c.Positions != nil {
		part.Positions = c.Positions[from:to]
	}
	if c.Sparse != nil {
		part.Sparse = &stream.CSR{RowPtr: c.Sparse.RowPtr[from : to+1], Index: c.Sparse.Index, Value: c.Sparse.Value}
	} else {
		part.Data = c.Data[from:]
	}
	return part
}

// ScatterEntries writes the present entries of the sparse chunk c to dst. Entry j of row i goes to dst[ld·place[j]+i],
// or to dst[ld·j+i] if place is nil.
func ScatterEntries(dst []float64, ld int, place []int, c *stream.Chunk) {
	for i := range c.Rows {
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			j := int(c.Sparse.Index[e])
			if place != nil {
				j = place[j]
			}
			dst[ld*j+i] = c.Sparse.Value[e]
		}
	}
}

func errRowsChanged() error {
	return stream.Dataf("", "the rows differ from an earlier pass: the input must not change during a run")
}

// RunRows is the number of consecutive rows, called a run, that a worker processes at a time. The sums of runs are
// added in the order of the runs, so that rounding does not depend on the number of workers.
const RunRows = 128

// EachRun divides n rows into runs of RunRows consecutive rows and calls visit, on several workers, for each run.
func EachRun(workers, n int, visit func(run, from, to int)) {
	kernel.Each(workers, (n+RunRows-1)/RunRows, func(t int) { visit(t, t*RunRows, min(n, (t+1)*RunRows)) })
}

// ResizeSlice returns a slice of n values, which the caller must set. If the capacity of s suffices, the memory of s is
// used.
func ResizeSlice[T any](s []T, n int) []T {
	if cap(s) < n {
		return room.MakeSlice[T](n)
	}
	return s[:n]
}
