package eufs

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// element is the type that the values of X are kept in, the narrowest first.
type element int

const (
	asUint8 element = iota
	asInt16
	asFloat32
	asFloat64
)

// elements say what to do with the values of each type.
var elements = [...]struct {
	bytes int
	// put writes rows of a pass's chunk to a record from row at on, and reports whether
	// all fit exactly.
	put func(p *sourcePass, record []byte, at, count int) bool
	// rowsTo and columnsTo write h rows of a record, scaled: h×d row-major, or columns of
	// a matrix with more rows, ld apart.
	rowsTo    func(t *table, dst []float64, record []byte, from, h int)
	columnsTo func(t *table, dst []float64, record []byte, from, h, ld int)
}{
	asUint8:   {1, put[uint8], rowsTo[uint8], columnsTo[uint8]},
	asInt16:   {2, put[int16], rowsTo[int16], columnsTo[int16]},
	asFloat32: {4, put[float32], rowsTo[float32], columnsTo[float32]},
	asFloat64: {8, put[float64], rowsTo[float64], columnsTo[float64]},
}

type number interface {
	uint8 | int16 | float32 | float64
}

func (e element) bytes() int { return elements[e].bytes }

// table is X: n×d raw values, row by row, and how they are scaled.
// It is read-only.
type table struct {
	layout
	element element
	file    stream.ScratchFile // the copy; nil where the source is read again
	source  *reader
	shift   []float64
	factor  []float64
	workers int
	passes  atomic.Int64 // over the source so far
}

// errNarrow says that a value does not fit its element.
var errNarrow = errors.New("eufs: a value is not exact in this type")

func newTable(src stream.Source, std *gram.Standardizer, s Setup) *table {
	t := &table{
		layout: newLayout(std.Rows, len(std.Columns), s.Clusters, s.blockRows),
		shift:  std.Shift, factor: std.Factor, workers: s.Threads,
	}
	if s.Reread {
		t.element = asFloat64
		t.source = &reader{t: t, src: src, std: std, meter: s.Meter}
	}
	return t
}

// load copies the source to scratch, unless it is to be read again.
func (t *table) load(ctx context.Context, src stream.Source, std *gram.Standardizer, s Setup) error {
	if s.Reread {
		return nil
	}
	for t.element = asUint8; ; t.element++ {
		err := t.copy(ctx, src, std, s)
		if err == nil {
			return nil
		}
		if t.file != nil {
			err = errors.Join(err, t.file.Close())
			t.file = nil
		}
		if !errors.Is(err, errNarrow) {
			return err
		}
	}
}

// makeFile makes the file of the copy.
func (t *table) makeFile(scratch stream.Scratch) (err error) {
	bytes := t.d * t.element.bytes()
	t.file, err = scratch.Make("the copy of the rows", t.n*int64(bytes), t.block*bytes)
	return err
}

func (t *table) copy(ctx context.Context, src stream.Source, std *gram.Standardizer, s Setup) (err error) {
	from := (&reader{t: t, src: src, std: std, meter: s.Meter}).pass(ctx)
	defer func() { err = errors.Join(err, from.Close()) }()
	var to stream.ScratchPass
	defer func() {
		if to != nil {
			err = errors.Join(err, to.Close())
		}
	}()
	for range t.blocks {
		rec, err := from.Next()
		if err != nil {
			return err
		}
		if to == nil { // after the first block, which mostly shows that a type is too narrow
			if err := t.makeFile(s.Scratch); err != nil {
				return err
			}
			to = t.file.Pass(stream.ScratchWrite)
		}
		own, err := to.Next()
		if err != nil {
			return err
		}
		copy(own, rec)
	}
	return nil
}

// rowsTo writes rows [from, from+h) of a block, scaled, to dst, h×d row-major.
func (t *table) rowsTo(dst []float64, record []byte, from, h int) {
	elements[t.element].rowsTo(t, dst, record, from, h)
}

// rowsTo has the arithmetic of gram.Standardizer.To, so that X has the same bits.
func rowsTo[T number](t *table, dst []float64, record []byte, from, h int) {
	d, src := t.d, rows.View[T](record)[from*t.d:]
	shift, factor := t.shift[:d], t.factor[:d]
	for i := range h {
		to, from := dst[i*d:][:d], src[i*d:][:d]
		for j, s := range shift {
			to[j] = (float64(from[j]) - s) * factor[j]
		}
	}
}

func columnsTo[T number](t *table, dst []float64, record []byte, from, h, ld int) {
	src := rows.View[T](record)[from*t.d:]
	for j, s := range t.shift {
		to, factor := dst[j*ld:][:h], t.factor[j]
		for i := range to {
			to[i] = (float64(src[i*t.d+j]) - s) * factor
		}
	}
}

// columns calls do with every block of X, scaled and column-major (distances are faster
// so), and the records of the passes.
func (t *table) columns(ctx context.Context, do func(b int, x kernel.Matrix[float64], records [][]byte) error, passes ...stream.ScratchPass) error {
	x := make([]float64, min(int64(t.block), t.n)*int64(t.d))
	return rows.Each(ctx, t.blocks, func(b int, records [][]byte) error {
		h, last := t.rows(b), len(passes)
		kernel.Each(t.workers, (h+t.strip-1)/t.strip, func(i int) {
			from := i * t.strip
			elements[t.element].columnsTo(t, x[from:], records[last], from, min(t.strip, h-from), h)
		})
		return do(b, kernel.ColMajor(x, h, t.d, h), records)
	}, append(passes, t.reading(ctx))...)
}

// reading starts a pass over X.
func (t *table) reading(ctx context.Context) stream.ScratchPass {
	if t.source != nil {
		return t.source.pass(ctx)
	}
	return rows.Read(t.file)
}
