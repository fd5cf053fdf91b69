package eufs

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// elementType is the stored type of the values of X. The constants begin with the narrowest type.
type elementType int

const (
	asUint8 elementType = iota
	asInt16
	asFloat32
	asFloat64
)

// elements has the conversions between records and float64 for each element type.
var elements = [...]struct {
	bytes int
	// put writes the rows of a chunk to a record. It fails with errTypeTooNarrow.
	put func(t *table, record []byte, c *stream.Chunk) error
	// rowsTo and columnsTo write h rows of a record, from its row `from` on, scaled: rowsTo row-major, h×d, and
	// columnsTo column-major, with columns ld numbers apart, as in a matrix with more rows.
	rowsTo    func(t *table, dst []float64, record []byte, from, h int)
	columnsTo func(t *table, dst []float64, record []byte, from, h, ld int)
}{
	asUint8:   {1, storeRows[uint8], rowsTo[uint8], columnsTo[uint8]},
	asInt16:   {2, storeRows[int16], rowsTo[int16], columnsTo[int16]},
	asFloat32: {4, storeRows[float32], rowsTo[float32], columnsTo[float32]},
	asFloat64: {8, storeRows[float64], rowsTo[float64], columnsTo[float64]},
}

type storedNumber interface {
	uint8 | int16 | float32 | float64
}

func (e elementType) byteSize() int { return elements[e].bytes }

// table is the data X: n×d raw values, stored row by row, and their scaling. It is read-only.
type table struct {
	layout
	element elementType
	file    stream.ScratchFile // the copy; nil if the source is read again
	source  stream.Source
	std     *gram.Standardizer
	meter   *stream.Meter
	shift   []float64
	factor  []float64
	workers int
	passes  atomic.Int64 // passes over the source so far
}

// errTypeTooNarrow reports a value that the element type cannot represent exactly.
var errTypeTooNarrow = errors.New("eufs: a value is not exact in this type")

func newTable(src stream.Source, std *gram.Standardizer, s Setup) *table {
	t := &table{
		layout: newLayout(std.Rows, len(std.Columns), s.Clusters, s.blockRows),
		source: src, std: std, meter: s.Meter, shift: std.Shift, factor: std.Factor, workers: s.Threads,
	}
	if s.Reread {
		t.element = asFloat64
	}
	return t
}

// loadCopy copies the source to scratch, in the narrowest type that represents all values exactly.
func (t *table) loadCopy(ctx context.Context, scratch stream.Scratch) error {
	for t.element = asUint8; ; t.element++ {
		err := t.copySource(ctx, scratch)
		if err == nil {
			return nil
		}
		if t.file != nil {
			err = errors.Join(err, t.file.Close())
			t.file = nil
		}
		if !errors.Is(err, errTypeTooNarrow) {
			return err
		}
	}
}

func (t *table) makeFile(scratch stream.Scratch) (err error) {
	bytes := t.d * t.element.byteSize()
	t.file, err = scratch.Make("the copy of the rows", t.n*int64(bytes), t.block*bytes)
	return err
}

func (t *table) copySource(ctx context.Context, scratch stream.Scratch) error {
	var to stream.ScratchPass
	err := t.eachSourceBlock(ctx, func(_ int, records [][]byte) error {
		if to == nil { // this is after the first block, which usually reveals a type that is too narrow
			if err := t.makeFile(scratch); err != nil {
				return err
			}
			to = t.file.Pass(stream.ScratchWrite)
		}
		own, err := to.Next()
		copy(own, records[0])
		return err
	})
	if to != nil {
		err = errors.Join(err, to.Close())
	}
	return err
}

func (t *table) rowsTo(dst []float64, record []byte, from, h int) {
	elements[t.element].rowsTo(t, dst, record, from, h)
}

// rowsTo writes h rows of a record to dst, scaled and row-major, with the same bits as gram.Standardizer.To.
func rowsTo[T storedNumber](t *table, dst []float64, record []byte, from, h int) {
	d, src := t.d, rows.ViewNumbers[T](record)[from*t.d:]
	shift, factor := t.shift[:d], t.factor[:d]
	for i := range h {
		to, from := dst[i*d:][:d], src[i*d:][:d]
		for j, s := range shift {
			to[j] = (float64(from[j]) - s) * factor[j]
		}
	}
}

func columnsTo[T storedNumber](t *table, dst []float64, record []byte, from, h, ld int) {
	src := rows.ViewNumbers[T](record)[from*t.d:]
	for j, s := range t.shift {
		to, factor := dst[j*ld:][:h], t.factor[j]
		for i := range to {
			to[i] = (float64(src[i*t.d+j]) - s) * factor
		}
	}
}

// eachBlock calls visit with every block of X, scaled and column-major (which makes distances faster), and with the
// records of the given passes for this block.
func (t *table) eachBlock(ctx context.Context, visit func(b int, x kernel.Matrix[float64], records [][]byte) error, passes ...stream.ScratchPass) error {
	x := rows.ViewNumbers[float64](t.newRecord(nil, wordBytes))
	return t.eachRecord(ctx, func(b int, records [][]byte) error {
		h := t.rowsOfBlock(b)
		kernel.Each(t.workers, (h+t.stripRows-1)/t.stripRows, func(i int) {
			from := i * t.stripRows
			elements[t.element].columnsTo(t, x[from:], records[0], from, min(t.stripRows, h-from), h)
		})
		return visit(b, kernel.ColMajor(x, h, t.d, h), records[1:])
	}, passes...)
}

func (t *table) eachRecord(ctx context.Context, visit func(b int, records [][]byte) error, passes ...stream.ScratchPass) error {
	if t.file == nil {
		return t.eachSourceBlock(ctx, visit, passes...)
	}
	return rows.EachBlock(ctx, t.blocks, visit, append([]stream.ScratchPass{rows.ReadPass(t.file)}, passes...)...)
}
