package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// IsNullRow reports whether the list of row r is null.
func IsNullRow(l *format.Lists, r int) bool { return r < len(l.Null) && l.Null[r] }

// sparseBlock is the memory of a span of sparse rows: the decoded lists, and the rows in CSR form one after the
// other, block after block.
type sparseBlock struct {
	indices, values format.Lists
	row             []sparseEntry // entries of the current row
	rowPtr          []int         // by kept row of all blocks: start of its entries in index and value
	index           []int32
	value           []float64
	firstRows       []int // by block: the index of its first row in rowPtr
	blockPtr        []int // rowPtr of the lent block, relative to its first entry
	lent            stream.CSR
}

// sparseEntry is an entry of a row: the index as in the file, and its value.
type sparseEntry struct {
	index int
	value float64
}

// decodeSparse decodes the span's rows and writes the remaining rows in CSR form, sorted by column. r maps indices to
// features.
func (s *span) decodeSparse(ctx context.Context, r *schema.ColumnRead) {
	b, spec := &s.sparse, s.table.Sparse
	to := s.from + int64(s.rows)
	if err := spec.DecodeIndices(ctx, s.group, s.leafInFile(spec.Indices), s.from, to, &b.indices); err != nil {
		s.failColumn(-1, err, s.table.Catalog.Leaves[spec.Indices].Name)
		return
	}
	if err := s.group.DecodeLists(ctx, s.leafInFile(spec.Values), s.from, to, &b.values); err != nil {
		s.failColumn(-1, err, s.table.Catalog.Leaves[spec.Values].Name)
		return
	}
	settling := time.Now()
	defer func() { s.table.Options.Meter.Busy.Add(stream.PartConvert, time.Since(settling)) }()
	b.rowPtr, b.index, b.value = append(b.rowPtr[:0], 0), b.index[:0], b.value[:0]
	b.firstRows = append(b.firstRows[:0], 0)
	for i := range s.rows {
		if i > 0 && i%s.blockRows == 0 {
			b.firstRows = append(b.firstRows, len(b.rowPtr)-1)
		}
		if isBitSet(s.skip, i) {
			continue
		}
		if err := s.readRow(i); err != nil {
			s.setFailure(failure{row: s.start + int64(i), column: -1, err: err})
			return
		}
		if !s.settleRow(i, r) {
			return
		}
	}
	if err := s.adaptHeight(); err != nil {
		s.setFailure(failure{row: s.start, column: -1, err: err})
	}
}

// readRow checks row i and sorts its entries by index into b.row.
func (s *span) readRow(i int) error {
	b := &s.sparse
	names := [2]string{s.table.Catalog.Leaves[s.table.Sparse.Indices].Name, s.table.Catalog.Leaves[s.table.Sparse.Values].Name}
	kind := "list"
	if s.table.Sparse.IsMap() {
		kind = "map"
	}
	for side, l := range []*format.Lists{&b.indices, &b.values} {
		if IsNullRow(l, i) {
			return s.errAtRow(i, names[side], fmt.Sprintf("write an empty %s for a row without entries", kind), fmt.Errorf("null %s in sparse rows", kind))
		}
	}
	indices := b.indices.Values[b.indices.Ptr[i]:b.indices.Ptr[i+1]]
	values := b.values.Values[b.values.Ptr[i]:b.values.Ptr[i+1]]
	if len(indices) != len(values) {
		return s.errAtRow(i, names[0], "", fmt.Errorf("%d indices but %d values", len(indices), len(values)))
	}
	b.row = b.row[:0]
	sorted := true
	for k, x := range indices {
		if !(x >= 0 && x < float64(s.table.Sparse.Features)) || x != math.Trunc(x) {
			text := strconv.FormatFloat(x, 'g', -1, 64)
			if format.IsNull(x) {
				text = "null"
			}
			return s.errAtRow(i, names[0], "", fmt.Errorf("index %s is not one of 0..%d", text, s.table.Sparse.Features-1))
		}
		b.row = append(b.row, sparseEntry{int(x), values[k]})
		sorted = sorted && (k == 0 || b.row[k-1].index < b.row[k].index)
	}
	if sorted {
		return nil
	}
	slices.SortFunc(b.row, func(x, y sparseEntry) int { return x.index - y.index })
	for k := 1; k < len(b.row); k++ {
		if b.row[k-1].index == b.row[k].index {
			entry := fmt.Sprintf("index %d", b.row[k].index)
			if keys := s.table.Sparse.MapKeys; keys != nil {
				entry = fmt.Sprintf("key %q", keys.Names[b.row[k].index])
			}
			return s.errAtRow(i, names[0], "", fmt.Errorf("%s occurs twice in the row", entry))
		}
	}
	return nil
}

// settleRow writes b.row as the next CSR row, without zeros, entries that do not belong to a feature, and missing
// values that are not kept. It writes nothing if the policy drops the row, and returns false if a missing value is an
// error.
func (s *span) settleRow(i int, r *schema.ColumnRead) bool {
	b := &s.sparse
	begin := len(b.index)
	dropped := false
	for _, e := range b.row {
		col := r.Cols[e.index]
		if len(s.table.nulls) > 0 && slices.Contains(s.table.nulls, e.value) {
			e.value = math.Float64frombits(stream.NullBits)
		}
		switch {
		case col < 0 || e.value == 0 || col >= len(s.table.Features.Columns) && e.value-e.value != 0:
		case e.value-e.value == 0:
			b.index = append(b.index, int32(col))
			b.value = append(b.value, e.value)
		case s.table.Options.Missing == stream.MissingError:
			s.setMissingFailure(i, col, e.value)
			return false
		default:
			var count stream.MissingCount
			countMissingValue(&count, e.value)
			s.addMissing(i/s.blockRows, col, count)
			if s.table.Options.Missing == stream.MissingKeep {
				b.index = append(b.index, int32(col))
				b.value = append(b.value, stream.MissingValue(e.value))
			}
			dropped = dropped || s.table.Options.Missing == stream.MissingDropRow
		}
	}
	if dropped {
		setBit(s.drop, i)
		b.index, b.value = b.index[:begin], b.value[:begin]
		return true
	}
	if s.table.Options.RowScale.IsSet() {
		if !scaleSparseRow(s, i, begin) {
			return false
		}
	}
	b.rowPtr = append(b.rowPtr, len(b.index))
	return true
}

// adaptHeight sets the number of rows of the next spans so that each fills its share of the memory. It plans twice as
// many bytes for a row as s needed, and the number of rows grows slowly, because the density of the data may change. If
// a single block of rows does not fit into this share, the result is an error.
func (s *span) adaptHeight() error {
	b := &s.sparse
	entries := int64(max(len(b.indices.Values), len(b.values.Values), 1))
	used := entries * schema.SparseEntryBytes
	buffers := int64(s.plan.buffers)
	share := (s.table.Options.Memory-s.plan.bytes)/buffers + s.plan.rows*schema.SparseEntryBytes*s.table.RowEntries()
	if s.blockCount() == 1 && used > share {
		n := MemoryNeeds(s.table, s.table.Options.Memory)
		return &stream.MemoryError{
			What: "a block of sparse rows",
			Need: n.bytesOfPass(memoryPlan{rows: n.height, buffers: 2, workers: s.table.Options.Threads, pieceBytes: storage.SpoolRequestBytes}) + 2*used, Limit: s.table.Options.Memory,
		}
	}
	perRow := 2*used/int64(s.rows) + 1
	blocks := min(min(share, spanGoal)/(perRow*int64(s.blockRows)), 4*int64(s.blockCount()))
	s.height.Store(max(blocks, 1) * int64(s.blockRows))
	return nil
}

// lendBlock returns the CSR form of the kept rows of block i, which is valid until the next call.
func (b *sparseBlock) lendBlock(i, kept int) *stream.CSR {
	if kept == 0 {
		b.lent = stream.CSR{RowPtr: []int{0}}
		return &b.lent
	}
	ptr := b.rowPtr[b.firstRows[i] : b.firstRows[i]+kept+1]
	begin, end := ptr[0], ptr[kept]
	b.blockPtr = b.blockPtr[:0]
	for _, p := range ptr {
		b.blockPtr = append(b.blockPtr, p-begin)
	}
	b.lent = stream.CSR{RowPtr: b.blockPtr, Index: b.index[begin:end:end], Value: b.value[begin:end:end]}
	return &b.lent
}
