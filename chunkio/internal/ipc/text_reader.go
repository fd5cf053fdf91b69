package ipc

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// textReader reads consecutive values of one array as text.
type textReader struct {
	field        *field
	valid        *bitReader    // validity of the values; nil if there are no nulls
	bits         *bitReader    // values of a bool array
	fixed        *bufferReader // values of fixed size
	offsets      *bufferReader // offsets of texts or bytes of variable length
	data         *bufferReader // bytes of the texts
	offsetsAhead *bufio.Reader // buffers offsets
	dataAhead    *bufio.Reader // buffers data
	lastOffset   int64         // the last offset that was read
	raw          []byte
}

// textTile limits the total bytes of the texts that are decoded at a time, not counting the last text.
const textTile = 1 << 20

func openTexts(g *group, textField *field, from, to int64) (r *textReader, err error) {
	buffers := 2
	size := int64(textField.fixedSize())
	if size == 0 && textField.kind != arrowBool {
		buffers = 3
	}
	if !g.hasBuffersOfField(textField, buffers) || from < 0 || to > g.batch.nodes[textField.node].length {
		return nil, errShortBuffer
	}
	r = &textReader{field: textField}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if nulls := g.batch.nodes[textField.node].nulls; nulls > 0 || nulls == unknownNulls && g.bufferRangeOf(textField, 0).length > 0 {
		if r.valid, err = g.body.openBits(g.bufferRangeOf(textField, 0), from, to); err != nil {
			return r, err // r is not nil, so that the caller can close it
		}
	}
	switch {
	case textField.kind == arrowBool:
		r.bits, err = g.body.openBits(g.bufferRangeOf(textField, 1), from, to)
	case size > 0 && to > 1<<62/size:
		err = errShortBuffer
	case size > 0:
		r.fixed, err = g.body.openBuffer(g.bufferRangeOf(textField, 1), from*size, to*size)
	default:
		err = openOffsetsAndBytes(g, r, from, to)
	}
	return r, err
}

// openOffsetsAndBytes opens the offsets of values [from, to) of variable length, and the bytes to which the offsets
// refer.
func openOffsetsAndBytes(g *group, r *textReader, from, to int64) error {
	width := r.field.bytesPerOffset()
	offsets := g.bufferRangeOf(r.field, 1)
	end := func(at int64) (int64, error) {
		b, err := g.body.openBuffer(offsets, at*width, (at+1)*width)
		if err != nil {
			return 0, err
		}
		defer b.close()
		raw := make([]byte, width)
		err = b.readFull(raw)
		return decodeOffset(raw), err
	}
	first, err := end(from)
	if err != nil {
		return err
	}
	last, err := end(to)
	if err != nil {
		return err
	}
	if first < 0 || last < first {
		return fmt.Errorf("offsets from %d to %d", first, last)
	}
	r.lastOffset = first
	if r.offsets, err = g.body.openBuffer(offsets, (from+1)*width, (to+1)*width); err != nil {
		return err
	}
	if r.data, err = g.body.openBuffer(g.bufferRangeOf(r.field, 2), first, last); err != nil {
		return err
	}
	r.offsetsAhead, r.dataAhead = bufio.NewReaderSize(r.offsets, codecInput), bufio.NewReaderSize(r.data, codecInput)
	return nil
}

func decodeOffset(bytes []byte) int64 {
	if len(bytes) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(bytes)))
	}
	return littleEndianInt64(bytes)
}

// readTexts appends values to t, and writes the index of each value in t to ids. It reads at most len(ids) values, and
// fewer if they are long.
func (r *textReader) readTexts(t *text.List, ids []int32) (n int, err error) {
	switch {
	case r.bits != nil:
		n = len(ids)
		set := make([]bool, n)
		if err := r.bits.visitBitsEqualTo(n, 1, func(i int) { set[i] = true }); err != nil {
			return 0, err
		}
		for i, x := range set {
			t.Text = fmt.Append(t.Text, x)
			ids[i] = int32(t.EndValue())
		}
	case r.fixed != nil:
		size := r.field.fixedSize()
		n = min(len(ids), textTile/size)
		r.raw = format.Resize(r.raw, n*size)
		if err := r.fixed.readFull(r.raw); err != nil {
			return 0, err
		}
		for i := range n {
			t.Text = r.field.appendValueText(t.Text, r.raw[i*size:(i+1)*size])
			ids[i] = int32(t.EndValue())
		}
	default:
		if n, err = r.readByteTexts(t, ids); err != nil {
			return 0, err
		}
	}
	if r.valid == nil {
		return n, nil
	}
	return n, r.valid.visitBitsEqualTo(n, 0, func(i int) { ids[i] = -1 })
}

// readByteTexts implements readTexts for values of variable length. It truncates values that are too long to be a
// class, but keeps enough of their bytes for this to be recognized.
func (r *textReader) readByteTexts(t *text.List, ids []int32) (int, error) {
	r.raw = format.Resize(r.raw, int(r.field.bytesPerOffset()))
	for i := range ids {
		if _, err := io.ReadFull(r.offsetsAhead, r.raw); err != nil {
			return 0, errArrayShort(err)
		}
		next := decodeOffset(r.raw)
		n := next - r.lastOffset
		if n < 0 {
			return 0, fmt.Errorf("offset %d after %d", next, r.lastOffset)
		}
		r.lastOffset = next
		keep := int(min(n, format.MaxClassText+1))
		start := len(t.Text)
		t.Text = append(t.Text, make([]byte, keep)...)
		if _, err := io.ReadFull(r.dataAhead, t.Text[start:]); err != nil {
			return 0, errArrayShort(err)
		}
		if _, err := io.CopyN(io.Discard, onlyReader{r.dataAhead}, n-int64(keep)); err != nil {
			return 0, errArrayShort(err)
		}
		ids[i] = int32(t.EndValue())
		if len(t.Text) >= textTile {
			return i + 1, nil
		}
	}
	return len(ids), nil
}

func (r *textReader) close() {
	r.valid.close()
	r.bits.close()
	r.fixed.close()
	r.offsets.close()
	r.data.close()
}
