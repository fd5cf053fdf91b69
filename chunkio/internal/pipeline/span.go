package pipeline

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/cache"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// span contains the rows [from, from+rows) of one row group, decoded into one column-major buffer. The stride of this
// buffer is rows, so that blocks are views of it. The field from is a multiple of the block height. The scheduler
// resets a span, workers fill it, and the consumer delivers its blocks. Then its buffers are reused.
type span struct {
	*pass
	rowGroup  rowGroup
	from      int64 // within the row group
	start     int64 // global position
	rows      int
	blockRows int // rows of a block; the last may have fewer
	group     format.Group
	groupRef  *refCount    // keeps group open; nil if nothing is read
	heldGroup *cache.Group // the kept row group, used in place of group; nil if the rows are decoded
	newPiece  *cache.Piece // collects decoded columns; nil if they are not kept

	data      []float64   // features × rows; nothing for sparse rows
	weight    []float64   // by row; empty without weights
	target    []float64   // by row; empty if no targets are requested
	class     []int32     // by row; empty without classes. Until numberClasses has run: the value's index in names
	names     []string    // distinct label values, a view of the scheduler's list
	skip      []uint64    // bit set: the row takes no part (sample, weight 0) and is not counted
	drop      []uint64    // bit set: the row is removed for a missing value; set atomically
	positions []int64     // of the remaining rows; set only in blocks that lose rows
	remaining []int       // by block: number of remaining rows
	norms     []float64   // by row of a block: the norm by which the row is divided
	sparse    sparseBlock // for sparse rows

	pending atomic.Int32  // tasks not done yet
	done    chan struct{} // closed when pending is 0 and the span is finished

	mutex   sync.Mutex
	missing [][]stream.MissingCount // by block; nil if nothing is missing
	failure failure                 // the first in the order of rows, then columns
	block   stream.Chunk            // the block that the consumer is using
}

// failure is an error with its place in the order of the data.
type failure struct {
	row    int64 // global position
	column int   // index of the feature; -1 if the error does not concern a feature
	err    error
}

func (s *span) resetToRows(group rowGroup, from, to int64) {
	s.rowGroup, s.from, s.start, s.rows = group, from, group.start+from, int(to-from)
	s.blockRows = rowsPerBlock(s.table)
	s.group, s.groupRef, s.heldGroup, s.newPiece = nil, nil, nil, nil
	s.done = make(chan struct{})
	s.failure = failure{}
	s.weight, s.target, s.class, s.names = s.weight[:0], s.target[:0], s.class[:0], nil
	words := (s.rows + 63) / 64
	s.skip, s.drop = zeroSlice(s.skip, words), zeroSlice(s.drop, words)
	s.missing = zeroSlice(s.missing, s.blockCount())
	s.remaining = zeroSlice(s.remaining, s.blockCount())
}

// zeroSlice returns n zero elements, in the memory of old if it is large enough.
func zeroSlice[T any](old []T, n int) []T {
	old = format.Resize(old, n)
	clear(old)
	return old
}

func fillSlice[T any](x []T, value T) {
	for i := range x {
		x[i] = value
	}
}

func (s *span) blockCount() int { return (s.rows + s.blockRows - 1) / s.blockRows }

func (s *span) blockBounds(blockIndex int) (firstRow, endRow int) {
	return blockIndex * s.blockRows, min((blockIndex+1)*s.blockRows, s.rows)
}

func (s *span) releaseGroupOfSpan() {
	if s != nil {
		s.groupRef.dropReference()
		s.group, s.groupRef, s.heldGroup, s.newPiece = nil, nil, nil, nil
	}
}

// countReads returns the number of reads (columns to decode) that the span needs, and the number of reads in each task.
func (s *span) countReads() (n, each int) {
	switch {
	case s.group == nil && s.heldGroup == nil || s.failure.err != nil || areFirstBitsSet(s.skip, s.rows):
		return 0, 1
	case s.table.Sparse == nil:
		s.growData()
	}
	n = len(s.table.Features.Reads)
	each = max(1, min(taskReads, taskValues/s.rows, n/(8*s.plan.workers)))
	if g, ok := s.group.(format.RowMajor); ok {
		each = max(each, g.LeavesAtOnce())
	}
	return n, each
}

// growData makes room for the span's values. If row groups are known beforehand it allocates once for the tallest
// span: an outgrown buffer would be garbage of the same size.
func (s *span) growData() {
	n := s.table.Features.ColumnCount() * s.rows
	if cap(s.data) < n {
		s.data = nil // the old buffer can be freed before the new one is filled
		room := n
		if s.table.Pipe == nil {
			room = s.table.Features.ColumnCount() * int(s.plan.rows)
		}
		s.data = make([]float64, n, room)
	}
	s.data = s.data[:n]
}

// taskBuffers contains the slices for the destinations of a task, which a worker reuses for its next task.
type taskBuffers struct {
	dst    [][]float64 // one for each element of all reads; nil if the element is not decoded
	leaves []format.Decoding
}

// decodeTask decodes the values of a task's reads and applies the missing-value policy.
func (s *span) decodeTask(ctx context.Context, t spanTask, v *taskBuffers) {
	reads := s.table.Features.Reads[t.from:t.to]
	if s.table.Sparse != nil {
		s.decodeSparse(ctx, &reads[0])
		return
	}
	v.dst, v.leaves = v.dst[:0], v.leaves[:0]
	for i := range reads {
		for e := range reads[i].Cols {
			var dst []float64
			if col := reads[i].HostFeature(e); col >= 0 {
				dst = s.valuesOfColumn(col)
			}
			v.dst = append(v.dst, dst)
		}
	}
	rest := v.dst // v.dst has its final length and can be cut into slices
	for i := range reads {
		n := len(reads[i].Cols)
		leaf := s.leafOfRead(&reads[i])
		if reads[i].Derivation != nil {
			leaf = -1 // decodeDerived decodes it
		}
		v.leaves = append(v.leaves, format.Decoding{Leaf: leaf, Dst: rest[:n:n]})
		rest = rest[n:]
	}
	s.decodeLeaves(ctx, v.leaves)
	decodeDerived(ctx, s, reads, v.leaves)
	settling := time.Now()
	for i := range reads {
		r, d := &reads[i], &v.leaves[i]
		if d.Err != nil {
			first := r.FirstHostFeature()
			s.failColumn(first, d.Err, s.table.Features.ColumnName(first))
			continue
		}
		s.completeRead(r, s.places.keptIndicesOfRead(t.from+i), d.Dst)
		if r.Derivation == nil && r.Leaf >= 0 {
			replaceNullNumbers(s.table, d.Dst)
		}
		writeIndicators(s, r, d.Dst)
		for _, col := range r.Cols {
			if col >= 0 && col < len(s.table.Features.Columns) {
				s.settleColumn(col)
			}
		}
	}
	s.table.Options.Meter.Busy.Add(stream.PartConvert, time.Since(settling))
}

func (s *span) valuesOfColumn(feature int) []float64 {
	return s.data[feature*s.rows : (feature+1)*s.rows : (feature+1)*s.rows]
}

// decodeLeaves decodes leaves from the row group unless their columns are kept. It skips partition columns.
func (s *span) decodeLeaves(ctx context.Context, leaves []format.Decoding) {
	if s.heldGroup != nil {
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

// decodeTexts passes the text of each row to visit: its index in values, which is negative for a null.
func (s *span) decodeTexts(ctx context.Context, leaf int, visit func(row int, id int32, values *text.List) error) error {
	row := 0
	return s.group.DecodeTexts(ctx, s.leafInFile(leaf), s.from, s.from+int64(s.rows), func(ids []int32, values *text.List) error {
		for _, id := range ids {
			if err := visit(row, id, values); err != nil {
				return err
			}
			row++
		}
		return nil
	})
}

// completeRead fills the requested elements of one read that were not decoded. It takes them from the kept group or
// from a partition key, and uses nulls if the file lacks the column. Decoded elements are added to the kept columns if
// there is room. places are the indices of the elements among the kept columns.
func (s *span) completeRead(r *schema.ColumnRead, places []int, dst [][]float64) {
	switch {
	case r.Leaf < 0:
		fillSlice(dst[0], s.table.Catalog.Parts[r.Part].Values[s.rowGroup.fileIndex])
	case s.heldGroup != nil || s.newPiece != nil || s.leafInFile(r.Leaf) < 0:
		for e, x := range dst {
			switch {
			case x == nil:
			case s.heldGroup != nil:
				s.heldGroup.CopyColumn(places[e], s.from, x)
			default:
				if s.leafInFile(r.Leaf) < 0 { // the file lacks it
					null := format.Null
					if r.Derivation != nil && r.Derivation.Categories != nil {
						null = 0 // the row is not in a category
					}
					fillSlice(x, null)
				}
				if s.newPiece != nil {
					s.newPiece.AddColumn(places[e], x)
				}
			}
		}
	}
}

// leafOfRead returns the index of a read's leaf in the span's file; -1 for a partition column, or if the file lacks it.
func (s *span) leafOfRead(r *schema.ColumnRead) int {
	if r.Leaf < 0 {
		return -1
	}
	return s.leafInFile(r.Leaf)
}

func (s *span) leafInFile(leaf int) int {
	if s.rowGroup.file == nil {
		return leaf
	}
	return s.rowGroup.file.LeafIndex(leaf)
}

// setFailure keeps f unless the span already has a failure that comes earlier in the data.
func (s *span) setFailure(f failure) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old := s.failure
	if old.err == nil || f.row < old.row || f.row == old.row && f.column < old.column {
		s.failure = f
	}
}

// failColumn records an error of decoding as a failure of the span. An error without a row counts as one in the span's
// first row.
func (s *span) failColumn(column int, err error, name string) {
	row := s.start
	if place, ok := errors.AsType[*stream.DataError](err); ok && place.Row >= 0 {
		row = max(row, place.Row-s.rowGroup.fileRow+s.rowGroup.start)
	}
	s.setFailure(failure{row: row, column: column, err: s.placeError(err, name)})
}

// placeError adds the file, row group and column to an error.
func (s *span) placeError(err error, column string) error {
	group := s.rowGroup.index
	if _, ok := errors.AsType[*stream.DataError](err); ok && column == "" {
		group = -1 // the error is about the file as a whole
	}
	return format.PlaceError(s.rowGroup.path, group, column, err)
}

// errAtRow returns an error about one value. row is relative to the span.
func (s *span) errAtRow(row int, column, remedy string, err error) error {
	return &stream.DataError{
		Path: s.rowGroup.path, RowGroup: s.rowGroup.index, Column: column,
		Row: s.rowGroup.fileRow + s.from + int64(row), Err: err, Remedy: stream.Textf(remedy),
	}
}

func (s *span) countDoneTask() {
	if s.pending.Add(-1) == 0 {
		s.finishDecodedSpan()
	}
}

func (s *span) finishDecodedSpan() {
	if s.failure.err == nil {
		for b := range s.blockCount() {
			s.compactBlock(b)
			if s.table.Options.RowScale.IsSet() && s.table.Sparse == nil {
				scaleRowsOfBlock(s, b)
			}
		}
	}
	s.newPiece.SpanDone(s.failure.err == nil)
	close(s.done)
}

func (s *span) chunkOfBlock(blockIndex int) *stream.Chunk {
	lo, hi := s.blockBounds(blockIndex)
	kept := s.remaining[blockIndex]
	c := stream.Chunk{
		Start:   s.start + int64(lo),
		Block:   hi - lo,
		Rows:    kept,
		Cols:    len(s.table.Features.Columns),
		Stride:  s.rows,
		Missing: s.missing[blockIndex],
	}
	if kept < hi-lo {
		c.Positions = s.positions[lo : lo+kept : lo+kept]
	}
	if len(s.weight) > 0 {
		c.Weight = s.weight[lo : lo+kept : lo+kept]
	}
	if len(s.target) > 0 {
		c.Target, c.TargetCodes = s.target[lo:lo+kept:lo+kept], s.table.Features.UsesCodes
	}
	if s.table.Features.Label != nil {
		c.Class = []int32{}
		if kept > 0 {
			c.Class = s.class[lo : lo+kept : lo+kept]
		}
	}
	switch {
	case s.table.Sparse != nil:
		c.Sparse = s.sparse.lendBlock(blockIndex, kept)
	case kept > 0 && c.Cols > 0:
		end := (c.Cols-1)*s.rows + lo + kept
		c.Data = s.data[lo:end:end]
	default:
		c.Data, c.Stride = []float64{}, 0 // every column is an empty slice, so that slicing it does not fail
	}
	s.block = c
	return &s.block
}
