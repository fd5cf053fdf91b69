package ipc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (g *group) DecodeTexts(ctx context.Context, l int, from, to int64, emit func([]int32, *text.List) error) error {
	defer g.body.addDecodeTime(time.Now())
	c := &g.schema.columns[l]
	var err error
	switch {
	case c.textField == nil:
		return g.errAtValue(c, -1, errors.New(c.NoClass), stream.Text{})
	case from < 0 || from > to || to > g.batch.rows:
		return g.errAtValue(c, -1, fmt.Errorf("rows %d to %d of %d", from, to, g.batch.rows), stream.Text{})
	case from == to:
		return ctx.Err()
	case c.textField.index != nil:
		err = g.emitDictionaryTexts(ctx, c, from, to, g.markNullStructs(c, from, to, emit))
	default:
		err = g.emitPlainTexts(ctx, c.textField, from, to, g.markNullStructs(c, from, to, emit))
	}
	return g.errAtValue(c, -1, err, remedyDamaged)
}

// markNullStructs returns a function that sets rows within null structs to null and then calls emit.
func (g *group) markNullStructs(c *column, from, to int64, emit func([]int32, *text.List) error) func([]int32, *text.List) error {
	if len(c.outerStructs) == 0 {
		return emit
	}
	at := from
	return func(ids []int32, values *text.List) error {
		n := int64(len(ids))
		if err := g.eachNull(c.outerStructs, at, at+n, func(i int) { ids[i] = -1 }); err != nil {
			return err
		}
		at += n
		return emit(ids, values)
	}
}

// emitDictionaryTexts calls emit with the indices of the rows and the texts of the dictionary.
func (g *group) emitDictionaryTexts(ctx context.Context, c *column, from, to int64, emit func([]int32, *text.List) error) error {
	d := g.texts[c.textField.dict]
	if d == nil {
		return fmt.Errorf("dictionary %d is missing", c.textField.dict)
	}
	values, err := d.loadTexts(ctx, c.textField)
	if err != nil {
		return err
	}
	if !g.hasBuffersOfField(c.textField, 2) {
		return errShortBuffer
	}
	r, err := g.openNumbers(c.textField.index, from, to)
	if err != nil {
		return err
	}
	defer r.close()
	tile := make([]float64, min(to-from, tileValues))
	ids := make([]int32, len(tile))
	for at := from; at < to; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(to-at, tileValues))
		if err := r.readNumbers(tile[:n]); err != nil {
			return err
		}
		for i, x := range tile[:n] {
			switch {
			case format.IsNull(x):
				ids[i] = -1
			case x < 0 || x >= float64(len(values.Ends)):
				return fmt.Errorf("index %.0f into a dictionary of %d", x, len(values.Ends))
			case values.Null != nil && values.Null[int(x)]:
				ids[i] = -1
			default:
				ids[i] = int32(x)
			}
		}
		if err := emit(ids[:n], values); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

func (g *group) hasBuffersOfField(f *field, count int) bool {
	return f.node < len(g.batch.nodes) && g.batch.bufferIndex(f, count-1) < len(g.batch.buffers)
}

func (g *group) emitPlainTexts(ctx context.Context, textField *field, from, to int64, emit func([]int32, *text.List) error) error {
	r, err := openTexts(g, textField, from, to)
	if err != nil {
		return err
	}
	defer r.close()
	var t text.List
	ids := make([]int32, min(to-from, tileValues))
	for at := from; at < to; {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.Truncate(0)
		n, err := r.readTexts(&t, ids[:min(int64(len(ids)), to-at)])
		if err != nil {
			return err
		}
		if err := emit(ids[:n], &t); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// textDecodeScratchBytes bounds the memory of DecodeTexts for a batch without dictionaries, and of reading a
// dictionary.
func (c *column) textDecodeScratchBytes(b *batch) int64 {
	n := b.nodes[c.textField.node].length
	need := 2*textTile + 2*codecInput + min(n, tileValues)*64 + decompressionMemory(b.codec, n/8)
	if size := int64(c.textField.fixedSize()); size > 0 || c.textField.kind == arrowBool {
		return need + decompressionMemory(b.codec, min(n, maxZstdWindow)*max(size, 1))
	}
	bytes := int64(maxZstdWindow)
	if at := b.bufferIndex(c.textField, 2); c.textField.index == nil && at < len(b.buffers) {
		bytes = min(bytes, 256*b.buffers[at].length) // views and compression shrink texts by at most this factor
	}
	return need + decompressionMemory(b.codec, min(n, maxZstdWindow)*8) + decompressionMemory(b.codec, bytes)
}
