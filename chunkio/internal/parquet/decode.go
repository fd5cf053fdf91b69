package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

type rowGroup struct {
	file   *File
	number int

	mu    sync.Mutex
	marks map[markKey][]pageMark // for leaves of which only some rows were decoded: the starts of their pages
}

func (g *rowGroup) Close() {}

func (g *rowGroup) Extents(leaves []int) []format.Extent {
	extents := make([]format.Extent, 0, len(leaves))
	for _, l := range leaves {
		columns := g.file.columns[l : l+1]
		if at, ok := g.file.keyLeaves[l]; ok {
			columns = g.file.columns[at : at+2]
		}
		for _, c := range columns {
			extents = append(extents, g.file.Extent(g.number, c.index))
		}
	}
	return extents
}

// Decode implements format.Group. A row range that does not begin with the group requires one pass over the page
// headers of its column chunk; pages outside the range are not decompressed.
func (g *rowGroup) Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error {
	buf := g.file.pool.Get().(*scratch)
	defer g.file.pool.Put(buf)
	return g.decodeColumn(ctx, &format.Decoding{Leaf: l, Dst: dst}, from, to, buf)
}

// DecodeAll implements format.Batched. Small column chunks that are adjacent in the file are read together.
func (g *rowGroup) DecodeAll(ctx context.Context, leaves []format.Decoding, from, to int64) {
	buf := g.file.pool.Get().(*scratch)
	defer g.file.pool.Put(buf)
	defer func() { buf.stretch = stretch{} }()
	for i := range leaves {
		d := &leaves[i]
		if buf.stretch.chunkBytes(g.file.Chunk(g.number, g.file.columns[d.Leaf].index)) == nil {
			g.readStretch(leaves[i:], buf)
		}
		d.Err = g.decodeColumn(ctx, d, from, to, buf)
	}
}

func (g *rowGroup) decodeColumn(ctx context.Context, d *format.Decoding, from, to int64, buf *scratch) error {
	lf, col := &g.file.leaves[d.Leaf], &g.file.columns[d.Leaf]
	return g.guardDecoding(lf, from, to, buf, func() error {
		if lf.Why != "" || len(d.Dst) != lf.Width {
			return fmt.Errorf("%d values a row asked of a column of %d: %s", len(d.Dst), lf.Width, lf.Why)
		}
		width := int64(lf.Width)
		e := g.startEntryReader(col, buf)
		if lf.List && e.pages.info.Values != width*g.file.rows[g.number] {
			return d.DecodePieces(from, to, func(from, to int64) error {
				return decodeGaps(ctx, g, g.startEntryReader(col, buf), d.Leaf, from, to, d.Dst)
			})
		}
		if err := g.seekEntryReader(e, d.Leaf, from*width, to*width); err != nil {
			return err
		}
		if !lf.List && d.Dst[0] == nil {
			return nil
		}
		return d.DecodePieces(from, to, func(from, to int64) error {
			if lf.List {
				return g.decodeFixedLists(ctx, e, lf, from, to, d.Dst)
			}
			return e.readEntries(ctx, d.Dst[0][:to-from])
		})
	})
}

func (g *rowGroup) decodeFixedLists(ctx context.Context, e *entryReader, lf *format.Leaf, from, to int64, dst [][]float64) error {
	width := lf.Width
	e.width = width
	perBatch := max(1, batchValues/width)
	table := resizeBuffer(&e.buf.table, perBatch*width)
	for row := from; row < to; {
		n := int(min(int64(perBatch), to-row))
		if err := e.readEntries(ctx, table[:n*width]); err != nil {
			if uneven, ok := errors.AsType[*unevenError](err); ok {
				return &stream.DataError{
					RowGroup: g.number, Row: format.GroupStart(g.file, g.number) + uneven.entry/int64(width),
					Err: format.ErrUnevenList(e.describeLengthOfList(ctx, uneven, from), width), Remedy: format.RemedyLeaveOut(lf.Name),
				}
			}
			return err
		}
		for j, out := range dst {
			if out == nil {
				continue
			}
			out = out[row-from:][:n]
			for i := range out {
				out[i] = table[i*width+j]
			}
		}
		row += int64(n)
	}
	return nil
}

// DecodeLists implements format.Group. A row range that does not begin with the group requires that the rows of all
// pages of the column chunk are counted once.
func (g *rowGroup) DecodeLists(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	if at, ok := g.file.keyLeaves[l]; ok {
		l = at + 1
	}
	return g.decodeLists(ctx, l, from, to, dst)
}

func (g *rowGroup) DecodeKeys(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	if at, ok := g.file.keyLeaves[l]; ok {
		l = at
	}
	return g.decodeLists(ctx, l, from, to, dst)
}

// DecodeTextKeys implements format.TextKeyed. It calls the function number once for each key of a dictionary.
func (g *rowGroup) DecodeTextKeys(ctx context.Context, l int, from, to int64, number func(key []byte) float64, dst *format.Lists) error {
	at, ok := g.file.keyLeaves[l]
	if !ok || !g.file.leaves[l].TextKeys {
		return g.file.placeErrorInColumn(errors.New("no map of texts"), g.number, g.file.leaves[l].Name)
	}
	lf, col := &g.file.leaves[at], g.file.columns[at]
	if why := g.file.whyUndecodable(g.number, &col); why != "" {
		return g.file.placeErrorInColumn(errors.New(why), g.number, lf.Name)
	}
	dst.Ptr, dst.Values, dst.Null = append(dst.Ptr[:0], 0), dst.Values[:0], dst.Null[:0]
	return g.withDecodeBuffers(lf, from, to, func(buf *scratch) error {
		t := new(text.List)
		encodings := g.file.footer.Groups[g.number].Chunks[col.index].Encodings
		col.texts, col.independentPages = t, encodings != 0 && !encodings.Has(parquet.Encodings.DeltaByteArray)
		e := g.startEntryReader(&col, buf)
		row, err := seekRow(g, e, at, from)
		if err != nil {
			return err
		}
		var known []float64 // number of each key of the dictionary; NaN: number was not called for it yet
		e.replaceTexts = func(found []float64) {
			for len(known) < t.Fixed {
				known = append(known, math.NaN())
			}
			for i, x := range found {
				id := int(x)
				switch {
				case id >= len(known):
					found[i] = number(t.Value(id))
				default:
					if math.IsNaN(known[id]) {
						known[id] = number(t.Value(id))
					}
					found[i] = known[id]
				}
			}
			t.Truncate(t.Fixed)
		}
		return e.readLists(ctx, row, from, to, dst)
	})
}

func (g *rowGroup) decodeLists(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	lf, col := &g.file.leaves[l], &g.file.columns[l]
	dst.Ptr, dst.Values, dst.Null = append(dst.Ptr[:0], 0), dst.Values[:0], dst.Null[:0]
	return g.withDecodeBuffers(lf, from, to, func(buf *scratch) error {
		if !lf.List || lf.Refused || col.kind == notNumber {
			return fmt.Errorf("not a list of numbers: %s", lf.Why)
		}
		e := g.startEntryReader(col, buf)
		row, err := seekRow(g, e, l, from)
		if err != nil {
			return err
		}
		return e.readLists(ctx, row, from, to, dst)
	})
}

func (g *rowGroup) withDecodeBuffers(lf *format.Leaf, from, to int64, f func(*scratch) error) error {
	buf := g.file.pool.Get().(*scratch)
	defer g.file.pool.Put(buf)
	return g.guardDecoding(lf, from, to, buf, func() error { return f(buf) })
}

// guardDecoding calls f, which uses buf, and adds the position to its error or to a panic of the library. It measures
// the time of reading; the remaining time counts as decoding.
func (g *rowGroup) guardDecoding(lf *format.Leaf, from, to int64, buf *scratch, f func() error) error {
	err := format.Guard(func() error {
		if from < 0 || from > to || to > g.file.rows[g.number] {
			return fmt.Errorf("rows %d to %d of a row group of %d", from, to, g.file.rows[g.number])
		}
		if from == to {
			return nil
		}
		defer func() { buf.joined = nil }() // do not keep this memory, because few columns need it
		start, busy := time.Now(), format.BusyOf(g.file.in)
		buf.reading = 0
		defer func() {
			busy.Add(stream.PartRead, buf.reading)
			busy.Add(stream.PartDecode, time.Since(start)-buf.reading)
		}()
		return f()
	})
	return footer.AddRemedy(g.file.placeErrorInColumn(err, g.number, lf.Name), footer.RemedyLeaveOut)
}

func (g *rowGroup) startEntryReader(col *column, buffers *scratch) *entryReader {
	buffers.pages = newChunkWalker(g.file, g.number, col, buffers)
	buffers.entries = entryReader{pages: &buffers.pages, col: col, buf: buffers}
	return &buffers.entries
}

func (g *rowGroup) seekEntryReader(e *entryReader, l int, from, to int64) error {
	e.pos, e.end = from, to
	whole := from == 0 && to == e.pages.info.Values
	if whole || e.col.hasChainedPages() || e.pages.info.Size <= readAhead { // one read covers the whole chunk, so skipping pages saves no read
		return nil
	}
	marks, err := loadPageMarks(g, markKey{l, false}, e.col, e.buf)
	if err != nil {
		return err
	}
	first, last := 0, len(marks)
	for i, m := range marks {
		if m.entriesBefore <= from {
			first = i
		}
		if m.entriesBefore >= to {
			last = min(last, i)
		}
	}
	return e.pages.restrictTo(marks, first, last)
}
