package chunkio

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// span is the rows [from, from+rows) of one row group, decoded into one buffer:
// column-major, with the span's rows as the stride, so that its blocks are views.
// from is a multiple of the block height. The scheduler resets it, workers fill
// it, the consumer delivers it; then its buffers are used again.
type span struct {
	*pass
	at      rowGroup
	from    int64 // within the row group
	start   int64 // global position
	rows    int
	height  int // of a block
	group   format.Group
	groupUp *shared    // keeps group open; nil if nothing is read
	held    *keptGroup // in place of group; nil where it is read
	adding  *keptPiece // takes what is decoded; nil where it is not kept

	data      []float64   // features × rows; nothing for sparse rows
	weight    []float64   // by row; empty without weights
	target    []float64   // by row; empty where no targets are asked for
	class     []int32     // by row; empty without classes. Until code: the value's number in names
	names     []string    // of the label's values, a view of the scheduler's
	skip      []uint64    // bit set: the row takes no part (sample, weight 0) and is not counted
	drop      []uint64    // bit set: the row is removed for a missing value; set atomically
	positions []int64     // by row, filled for blocks that lose rows
	kept      []int       // by block: rows that stay
	sparse    sparseBlock // for sparse rows

	pending atomic.Int32  // tasks not done yet
	done    chan struct{} // closed when pending is 0 and the span is finished

	mutex   sync.Mutex
	missing [][]stream.MissingCount // by block; nil where nothing is missing
	failure failure                 // the first in the order of rows, then columns
	block   stream.Chunk            // the block on loan
}

// failure is an error with its place in the order of the data.
type failure struct {
	row    int64 // global position
	column int   // feature; -1 where the error is about none
	err    error
}

// reset makes s the rows [from, to) of a row group.
func (s *span) reset(at rowGroup, from, to int64) {
	s.at, s.from, s.start, s.rows = at, from, at.start+from, int(to-from)
	s.height = s.d.blockRows()
	s.group, s.groupUp, s.held, s.adding = nil, nil, nil, nil
	s.done = make(chan struct{})
	s.failure = failure{}
	s.weight, s.target, s.class, s.names = s.weight[:0], s.target[:0], s.class[:0], nil
	words := (s.rows + 63) / 64
	s.skip, s.drop = zeroed(s.skip, words), zeroed(s.drop, words)
	s.missing = zeroed(s.missing, s.blocks())
	s.kept = zeroed(s.kept, s.blocks())
}

// zeroed returns n zero elements, in the memory of old if it is large enough.
func zeroed[T any](old []T, n int) []T {
	old = format.Sized(old, n)
	clear(old)
	return old
}

func (s *span) blocks() int { return (s.rows + s.height - 1) / s.height }

// bounds returns the rows of block b within the span.
func (s *span) bounds(b int) (lo, hi int) { return b * s.height, min((b+1)*s.height, s.rows) }

// release lets go of the row group. On nil it does nothing.
func (s *span) release() {
	if s != nil {
		s.groupUp.release()
		s.group, s.groupUp, s.held, s.adding = nil, nil, nil, nil
	}
}

// reads is the number of reads that the span needs, and how many of them make a task.
func (s *span) reads() (n, each int) {
	switch {
	case s.group == nil && s.held == nil || s.failure.err != nil || allSet(s.skip, s.rows):
		return 0, 1
	case s.d.sparse == nil:
		s.growData()
	}
	n = len(s.d.features.reads)
	return n, max(1, min(taskReads, taskValues/s.rows, n/(8*s.plan.workers)))
}

// growData makes room for the span's values. Where row groups are known beforehand
// it is made once for the tallest span: a buffer outgrown is garbage as large again.
func (s *span) growData() {
	n := len(s.d.features.columns) * s.rows
	if cap(s.data) < n {
		s.data = nil // to be collected before the next one is filled
		room := n
		if s.d.pipe == nil {
			room = len(s.d.features.columns) * int(s.plan.rows)
		}
		s.data = make([]float64, n, room)
	}
	s.data = s.data[:n]
}

// views is a worker's memory for the destinations of a task.
type views struct {
	dst    [][]float64 // by element, of all reads
	leaves []format.Decoding
}

// decode does one task: it decodes the values of its reads and settles what is missing.
func (s *span) decode(ctx context.Context, t task, v *views) {
	reads := s.d.features.reads[t.from:t.to]
	if s.d.sparse != nil {
		s.decodeSparse(ctx, &reads[0])
		return
	}
	v.dst, v.leaves = v.dst[:0], v.leaves[:0]
	for i := range reads {
		for e := range reads[i].cols {
			var dst []float64
			if col := reads[i].hostFeature(e); col >= 0 {
				dst = s.column(col)
			}
			v.dst = append(v.dst, dst)
		}
	}
	rest := v.dst // grown: views of it are cut now
	for i := range reads {
		n := len(reads[i].cols)
		leaf := s.leafOf(&reads[i])
		if reads[i].derivation != nil {
			leaf = -1 // by decodeMade
		}
		v.leaves = append(v.leaves, format.Decoding{Leaf: leaf, Dst: rest[:n:n]})
		rest = rest[n:]
	}
	s.decodeLeaves(ctx, v.leaves)
	s.decodeMade(ctx, reads, v.leaves)
	settling := time.Now()
	for i := range reads {
		r, d := &reads[i], &v.leaves[i]
		if d.Err != nil {
			first := r.firstFeature()
			s.failAt(first, d.Err, s.d.features.columns[first].Name)
			continue
		}
		s.take(r, s.places.read(t.from+i), d.Dst)
		if r.derivation == nil && r.leaf >= 0 {
			s.d.clearNulls(d.Dst)
		}
		s.indicate(r, d.Dst)
		for _, col := range r.cols {
			if col >= 0 {
				s.settle(col)
			}
		}
	}
	s.d.opt.Meter.Busy.Add(stream.PartConvert, time.Since(settling))
}

// column is feature col of the span.
func (s *span) column(col int) []float64 {
	return s.data[col*s.rows : (col+1)*s.rows : (col+1)*s.rows]
}

// decodeLeaves decodes what is read of the row group: not what is kept, nor partition columns.
func (s *span) decodeLeaves(ctx context.Context, leaves []format.Decoding) {
	if s.held != nil {
		return
	}
	for i := 0; i < len(leaves); i++ {
		from := i
		for i < len(leaves) && leaves[i].Leaf >= 0 {
			i++
		}
		format.DecodeAll(ctx, s.group, leaves[from:i], s.from, s.from+int64(s.rows))
	}
}

// take fills the elements of one read that are wanted from what is kept, where it is, and with nulls
// where the file lacks the column; else what was decoded is kept as far as there is room. places are the elements' places there.
func (s *span) take(r *columnRead, places []int, dst [][]float64) {
	switch {
	case r.leaf < 0:
		value := s.d.catalog.parts[r.part].values[s.at.fileIndex]
		for i := range dst[0] {
			dst[0][i] = value
		}
	case s.held != nil || s.adding != nil || s.leafAt(r.leaf) < 0:
		for e, x := range dst {
			switch {
			case x == nil:
			case s.held != nil:
				s.held.to(places[e], s.from, x)
			default:
				if s.leafAt(r.leaf) < 0 { // the file lacks it
					null := format.Null
					if r.derivation != nil && r.derivation.categories != nil {
						null = 0 // of no category
					}
					for i := range x {
						x[i] = null
					}
				}
				if s.adding != nil {
					s.adding.add(places[e], x)
				}
			}
		}
	}
}

// leafOf returns where a read's leaf stands in the span's file; -1 for a partition column, and where
// the file lacks it.
func (s *span) leafOf(r *columnRead) int {
	if r.leaf < 0 {
		return -1
	}
	return s.leafAt(r.leaf)
}

// leafAt returns where a dataset leaf stands in the span's file.
func (s *span) leafAt(leaf int) int {
	if s.at.file == nil {
		return leaf
	}
	return s.at.file.leafIndex(leaf)
}

// fail keeps the failure that comes first in the data.
func (s *span) fail(f failure) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old := s.failure
	if old.err == nil || f.row < old.row || f.row == old.row && f.column < old.column {
		s.failure = f
	}
}

// failAt is fail for an error of decoding, which counts at the span's first row where it
// does not tell its own.
func (s *span) failAt(column int, err error, name string) {
	row := s.start
	if place, ok := errors.AsType[*stream.DataError](err); ok && place.Row >= 0 {
		row = max(row, place.Row-s.at.fileRow+s.at.start)
	}
	s.fail(failure{row: row, column: column, err: s.place(err, name)})
}

// place completes an error with what the span knows of where it happened.
func (s *span) place(err error, column string) error {
	group := s.at.index
	if _, ok := errors.AsType[*stream.DataError](err); ok && column == "" {
		group = -1 // the error is about the file as a whole
	}
	return format.Place(s.at.path, group, column, err)
}

// faultAt is an error about one value: row counts within the span.
func (s *span) faultAt(row int, column, remedy string, err error) error {
	return &stream.DataError{
		Path: s.at.path, RowGroup: s.at.index, Column: column,
		Row: s.at.fileRow + s.from + int64(row), Err: err, Remedy: stream.Textf(remedy),
	}
}

// failed returns the span's failure. Call it when the span is done.
func (s *span) failed() error { return s.failure.err }

// taskDone counts a task; the last one finishes the span.
func (s *span) taskDone() {
	if s.pending.Add(-1) == 0 {
		s.finish()
	}
}

// finish removes the rows that do not stay and hands the span to the consumer.
func (s *span) finish() {
	if s.failure.err == nil {
		for b := range s.blocks() {
			s.compact(b)
		}
	}
	s.adding.done(s.failure.err == nil)
	close(s.done)
}

// chunk lends block b.
func (s *span) chunk(b int) *stream.Chunk {
	lo, hi := s.bounds(b)
	kept := s.kept[b]
	c := stream.Chunk{
		Start:   s.start + int64(lo),
		Block:   hi - lo,
		Rows:    kept,
		Cols:    len(s.d.features.columns),
		Stride:  s.rows,
		Missing: s.missing[b],
	}
	if kept < hi-lo {
		c.Positions = s.positions[lo : lo+kept : lo+kept]
	}
	if len(s.weight) > 0 {
		c.Weight = s.weight[lo : lo+kept : lo+kept]
	}
	if len(s.target) > 0 {
		c.Target, c.TargetCodes = s.target[lo:lo+kept:lo+kept], s.d.features.usesCodes
	}
	if s.d.features.label != nil {
		c.Class = []int32{}
		if kept > 0 {
			c.Class = s.class[lo : lo+kept : lo+kept]
		}
	}
	switch {
	case s.d.sparse != nil:
		c.Sparse = s.sparse.block(b, kept)
	case kept > 0 && c.Cols > 0:
		end := (c.Cols-1)*s.rows + lo + kept
		c.Data = s.data[lo:end:end]
	default:
		c.Data, c.Stride = []float64{}, 0 // so that every column is empty, not out of range
	}
	s.block = c
	return &s.block
}
