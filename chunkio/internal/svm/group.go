package svm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pieceBytes is the number of bytes that are read from the spool at a time.
const pieceBytes = 256 << 10

type group struct {
	file   *File
	number int
}

func (g *group) Close() {}

// withExtent calls f with the extent of the group, adds the position to its error and measures its time.
func (g *group) withExtent(column string, from, to int64, f func(e extent, rows int64) error) error {
	start := time.Now()
	defer func() { format.BusyOf(g.file.in).Add(stream.PartDecode, time.Since(start)) }()
	rows := g.file.rows[g.number]
	err := fmt.Errorf("rows %d to %d of a row group of %d", from, to, rows)
	if 0 <= from && from <= to && to <= rows {
		err = f(g.file.groups[g.number], rows)
	}
	return format.PlaceError(g.file.in.Name(), g.number, column, err)
}

func (g *group) readInPieces(ctx context.Context, offset, count int64, valueBytes int, f func(raw []byte)) error {
	buf := make([]byte, min(count*int64(valueBytes), pieceBytes))
	for left := count * int64(valueBytes); left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = buf[:min(left, int64(len(buf)))]
		if err := format.ReadAt(g.file.spool, buf, offset); err != nil {
			return fmt.Errorf("the scratch file of its rows: %w", err)
		}
		f(buf)
		offset, left = offset+int64(len(buf)), left-int64(len(buf))
	}
	return nil
}

func (g *group) Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error {
	return g.withExtent(Label, from, to, func(e extent, _ int64) error {
		if l != labelLeaf || g.file.name != "" || len(dst) != 1 {
			return errors.New("the entries of rows are no column of numbers")
		}
		if dst[0] == nil {
			return nil
		}
		labels := dst[0][:0]
		return g.readInPieces(ctx, e.at+8*from, to-from, 8, func(raw []byte) { labels = appendDecodedFloats(labels, raw) })
	})
}

func (g *group) DecodeTexts(ctx context.Context, l int, from, to int64, emit func(ids []int32, values *text.List) error) error {
	labels := [][]float64{make([]float64, max(to-from, 0))}
	if err := g.Decode(ctx, l, from, to, labels); err != nil {
		return err
	}
	ids, values, known := []int32{}, &text.List{}, map[float64]int32{}
	for _, x := range labels[0] {
		id, ok := known[x]
		if !ok {
			values.Text = text.AppendFloat(values.Text, x, 64)
			id = int32(values.EndValue())
			known[x] = id
		}
		ids = append(ids, id)
	}
	return emit(ids, values)
}

func (g *group) DecodeKeys(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeEntries(ctx, l, from, to, dst, func(e extent, rows, first int64) (int64, int) { return e.at + 12*rows + 4*first, 4 })
}

func (g *group) DecodeLists(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	return g.decodeEntries(ctx, l, from, to, dst, func(e extent, rows, first int64) (int64, int) {
		return e.at + 12*rows + 4*e.entries + 8*first, 8
	})
}

// decodeEntries reads the indices or the values of the entries. The function place returns the offset in the spool of
// the index or value with number first, and the number of its bytes.
func (g *group) decodeEntries(ctx context.Context, l int, from, to int64, dst *format.Lists, place func(e extent, rows, first int64) (at int64, size int)) error {
	dst.Ptr, dst.Values, dst.Null = append(dst.Ptr[:0], 0), dst.Values[:0], dst.Null[:0]
	name := Entries
	if g.file.name != "" {
		name = g.file.name
	}
	return g.withExtent(name, from, to, func(e extent, rows int64) error {
		if l != g.file.indexOfEntriesLeaf() {
			return errors.New("the label is no list")
		}
		first, last := int64(0), int64(0)
		begin := max(from-1, 0) // the end of the previous row is the beginning of the first row
		row := begin
		err := g.readInPieces(ctx, e.at+8*rows+4*begin, to-begin, 4, func(raw []byte) {
			for ; len(raw) > 0; raw, row = raw[4:], row+1 {
				if last = int64(binary.LittleEndian.Uint32(raw)); row < from {
					first = last
				} else {
					dst.Ptr = append(dst.Ptr, int(last-first))
				}
			}
		})
		if err != nil {
			return err
		}
		at, size := place(e, rows, first)
		return g.readInPieces(ctx, at, last-first, size, func(raw []byte) {
			if size == 8 {
				dst.Values = appendDecodedFloats(dst.Values, raw)
				return
			}
			for ; len(raw) > 0; raw = raw[4:] {
				dst.Values = append(dst.Values, float64(binary.LittleEndian.Uint32(raw)))
			}
		})
	})
}

func appendDecodedFloats(dst []float64, raw []byte) []float64 {
	for ; len(raw) > 0; raw = raw[8:] {
		dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	}
	return dst
}
