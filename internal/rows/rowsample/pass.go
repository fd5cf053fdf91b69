package rowsample

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Chunks implements stream.Source. It delivers the blocks that the table itself would have under the same options, but
// only their drawn rows. Blocks without drawn rows are left out. The height of a block counts the rows of the table up
// to the next block. If merged tables have overlapping row numbers, a block may have more rows than its height, and is
// divided.
func (s *Source) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		p := &pass{Source: s, counts: make([]stream.MissingCount, len(s.opt.Columns))}
		p.yield = func(c *stream.Chunk) bool { return yield(c, nil) }
		if err := p.readRows(ctx, r); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped ends a pass when its caller needs no further blocks.
var errStopped = errors.New("stopped")

// pass is the state of a pass over the sample, including the current block.
type pass struct {
	*Source
	yield func(*stream.Chunk) bool

	chunk      stream.Chunk
	data       []float64 // dense rows by columns, with space for maxInBlock rows in each column
	csr        stream.CSR
	rows       int // number of rows of the block, including rows dropped by the policy
	counts     []stream.MissingCount
	hasMissing bool // the block has a missing entry
}

func (p *pass) readRows(ctx context.Context, r stream.Range) error {
	if r.All() {
		r.To = p.Rows()
	}
	in, err := p.openSample()
	if err != nil {
		return err
	}
	read := words.NewReader(in)
	readHead(read, func(int, int) error { return nil })
	values, current := make([]float64, p.head.d), int64(0)
	p.chunk.Start = r.From
	for i, position := range p.head.positions {
		if p.head.encodeOrDecodeRow(read, values); read.Err() != nil {
			return p.errDamaged(read.Err())
		}
		if !p.isDrawn[i] || position < r.From || position >= r.To {
			continue
		}
		if at := p.blockStart(i); p.rows == 0 {
			current = at
		} else if at != current || p.rows == p.blockHeight() {
			next := max(at, r.From)
			if at == current {
				next = position
			}
			if err := p.deliverBlock(ctx, next); err != nil {
				return err
			}
			current = at
		}
		if err := p.addRow(values, position); err != nil {
			return err
		}
	}
	// The checksum is verified when the end of the section is read.
	var one [1]byte
	if _, err := io.ReadFull(in, one[:]); !errors.Is(err, io.EOF) {
		return p.errDamaged(errors.Join(err, errors.New("there are data after the last row of the sample")))
	}
	if p.rows == 0 {
		return nil
	}
	return p.deliverBlock(ctx, r.To)
}

func (p *pass) errDamaged(err error) error {
	if errors.As(err, new(*stream.DataError)) {
		return err
	}
	e := stream.Dataf(p.opt.Path, "sample of rows: %w", err)
	e.Remedy = stream.Textf("the file is damaged: remove it, and scan again")
	return e
}

func (p *pass) addRow(values []float64, position int64) error {
	p.rows++
	dropped := false
	for k, j := range p.opt.Index {
		x := values[j]
		if x == x {
			continue
		}
		if p.opt.Missing == stream.MissingError {
			return p.errMissingAt(k, position, x)
		}
		p.counts[k].Add(x)
		p.hasMissing, dropped = true, p.opt.Missing == stream.MissingDropRow
	}
	if dropped {
		return nil
	}
	p.chunk.Positions = append(p.chunk.Positions, position)
	if p.opt.Sparse {
		p.addSparseRow(values)
		return nil
	}
	if p.data == nil {
		p.data = make([]float64, p.maxInBlock*len(p.opt.Index))
	}
	at := len(p.chunk.Positions) - 1
	for k, j := range p.opt.Index {
		p.data[k*p.maxInBlock+at] = values[j]
	}
	return nil
}

func (p *pass) addSparseRow(values []float64) {
	if len(p.csr.RowPtr) == 0 {
		p.csr.RowPtr = append(p.csr.RowPtr, 0)
	}
	for k, j := range p.opt.Index {
		if x := values[j]; x != 0 {
			p.csr.Index, p.csr.Value = append(p.csr.Index, int32(k)), append(p.csr.Value, x)
		}
	}
	p.csr.RowPtr = append(p.csr.RowPtr, len(p.csr.Index))
}

func (p *pass) errMissingAt(column int, position int64, x float64) error {
	var kind stream.MissingCount
	kind.Add(x)
	kindName := "NaN"
	switch {
	case kind.Nulls > 0:
		kindName = "null"
	case kind.Infs > 0:
		kindName = "infinite"
	}
	return &stream.DataError{
		Path: p.opt.Path, RowGroup: -1, Row: position, Column: p.opt.Columns[column].Name,
		Err:    fmt.Errorf("%w: %s", stream.ErrMissing, kindName),
		Remedy: stream.Textf("choose {missing} mean, zero or drop-row, or {exclude} the column"),
	}
}

// deliverBlock yields the current block. next is the position in the table at which the next block starts.
func (p *pass) deliverBlock(ctx context.Context, next int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &p.chunk
	d := len(p.opt.Index)
	c.Block, c.Rows, c.Cols = int(next-c.Start), len(c.Positions), d
	c.Missing = nil
	if p.hasMissing {
		c.Missing = p.counts
	}
	switch {
	case p.opt.Sparse:
		if c.Rows == 0 {
			p.csr.RowPtr = append(p.csr.RowPtr[:0], 0)
		}
		c.Sparse = &p.csr
	case c.Rows == 0:
		c.Data, c.Stride = []float64{}, 0
	default:
		c.Data, c.Stride = p.data[:(d-1)*p.maxInBlock+c.Rows], p.maxInBlock
	}
	if !p.yield(c) {
		return errStopped
	}
	c.Start, c.Positions, p.rows, p.hasMissing = next, c.Positions[:0], 0, false
	p.csr = stream.CSR{RowPtr: p.csr.RowPtr[:0], Index: p.csr.Index[:0], Value: p.csr.Value[:0]}
	clear(p.counts)
	return nil
}

var _ stream.Source = (*Source)(nil)
