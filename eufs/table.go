package eufs

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
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

func (e element) bytes() int { return [...]int{1, 2, 4, 8}[e] }

// table is X: n×d raw values, row by row, and how they become those of the matrix.
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

// loadTable keeps X in scratch, or the source itself to be read again.
func loadTable(ctx context.Context, src stream.Source, std *gram.Standardizer, s Setup) (*table, error) {
	t := &table{
		layout: newLayout(std.Rows, len(std.Columns), s.Clusters, s.blockRows),
		shift:  std.Shift, factor: std.Factor, workers: s.Threads,
	}
	if s.Reread {
		t.element = asFloat64
		t.source = &reader{t: t, src: src, std: std, meter: s.Meter}
		return t, nil
	}
	for t.element = asUint8; ; t.element++ {
		err := t.copy(ctx, src, std, s)
		if err == nil {
			return t, nil
		}
		if t.file != nil {
			err = errors.Join(err, t.file.Close())
			t.file = nil
		}
		if !errors.Is(err, errNarrow) {
			return nil, err
		}
	}
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
		if to == nil { // after the first block, which most often tells a narrow type off
			if t.file, err = s.Scratch.Make("the copy of the rows", t.n*int64(t.d*t.element.bytes()), t.block*t.d*t.element.bytes()); err != nil {
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

// rowsTo writes rows [from, from+h) of the block in rec, scaled, to dst, h×d row-major.
func (t *table) rowsTo(dst []float64, rec []byte, from, h int) {
	at := from * t.d
	switch t.element {
	case asUint8:
		scale(dst, view[uint8](rec)[at:], t.shift, t.factor, h)
	case asInt16:
		scale(dst, view[int16](rec)[at:], t.shift, t.factor, h)
	case asFloat32:
		scale(dst, view[float32](rec)[at:], t.shift, t.factor, h)
	default:
		scale(dst, view[float64](rec)[at:], t.shift, t.factor, h)
	}
}

// scale is the arithmetic of gram.Standardizer.To, so that X has the same bits.
func scale[T uint8 | int16 | float32 | float64](dst []float64, src []T, shift, factor []float64, h int) {
	d := len(shift)
	factor = factor[:d]
	for i := range h {
		to, from := dst[i*d:][:d], src[i*d:][:d]
		for j, s := range shift {
			to[j] = (float64(from[j]) - s) * factor[j]
		}
	}
}

// columnsTo writes the h rows of a block to dst, column-major: distances are faster so.
func (t *table) columnsTo(dst []float64, rec []byte, h int) {
	kernel.Each(t.workers, (h+t.strip-1)/t.strip, func(i int) {
		from := i * t.strip
		rows := min(t.strip, h-from)
		switch t.element {
		case asUint8:
			scaleColumns(dst[from:], view[uint8](rec)[from*t.d:], t, h, rows)
		case asInt16:
			scaleColumns(dst[from:], view[int16](rec)[from*t.d:], t, h, rows)
		case asFloat32:
			scaleColumns(dst[from:], view[float32](rec)[from*t.d:], t, h, rows)
		default:
			scaleColumns(dst[from:], view[float64](rec)[from*t.d:], t, h, rows)
		}
	})
}

func scaleColumns[T uint8 | int16 | float32 | float64](dst []float64, src []T, t *table, ld, rows int) {
	for j, s := range t.shift {
		to, factor := dst[j*ld:][:rows], t.factor[j]
		for i := range to {
			to[i] = (float64(src[i*t.d+j]) - s) * factor
		}
	}
}

// each calls do with every block of X, scaled, h×d row-major: for the start, which asks
// for whole blocks.
func (t *table) each(ctx context.Context, do func(b int, x kernel.Matrix[float64]) error) error {
	x := make([]float64, t.block*t.d)
	return lockstep(ctx, t.blocks, []use{t.reading()}, func(b int, rec [][]byte) error {
		h := t.rows(b)
		t.whole(x, rec[0], h)
		return do(b, kernel.RowMajor(x, h, t.d, t.d))
	})
}

// whole writes the h rows of a block to dst, h×d row-major.
func (t *table) whole(dst []float64, rec []byte, h int) {
	kernel.Each(t.workers, (h+t.strip-1)/t.strip, func(i int) {
		from := i * t.strip
		t.rowsTo(dst[from*t.d:], rec, from, min(t.strip, h-from))
	})
}

// reading is a reading of X.
func (t *table) reading() use { return use{t.file, stream.ScratchRead, t.source} }

// use is a file, or a source, and what a pass does with it.
type use struct {
	file   stream.ScratchFile
	mode   stream.ScratchMode
	source *reader
}

func reading(f stream.ScratchFile) use   { return use{file: f, mode: stream.ScratchRead} }
func writing(f stream.ScratchFile) use   { return use{file: f, mode: stream.ScratchWrite} }
func modifying(f stream.ScratchFile) use { return use{file: f, mode: stream.ScratchModify} }

// lockstep goes through the blocks of some files at once. A nil file has nil records.
func lockstep(ctx context.Context, blocks int, uses []use, do func(b int, rec [][]byte) error) (err error) {
	passes := make([]stream.ScratchPass, len(uses))
	for i, u := range uses {
		switch {
		case u.source != nil:
			passes[i] = u.source.pass(ctx)
		case u.file != nil:
			passes[i] = u.file.Pass(u.mode)
		default:
			continue
		}
		defer func() { err = errors.Join(err, passes[i].Close()) }()
	}
	rec := make([][]byte, len(uses))
	for b := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, p := range passes {
			if p == nil {
				continue
			}
			if rec[i], err = p.Next(); err != nil {
				return err
			}
		}
		if err := do(b, rec); err != nil {
			return err
		}
	}
	return nil
}
