package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// This file parses Arrow IPC metadata directly from its flatbuffers: format/Message.fbs and format/File.fbs of Arrow
// define the tables and the numbers of their fields. The library's own reader is not used: it loads and copies every
// column of a batch, its dictionaries are not safe to use from several goroutines, and it panics on damaged files.

const continuation = 0xFFFFFFFF // first word of a message since Arrow 0.15

// Kinds of message.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// Metadata versions that can be read: V4 (Arrow 0.8) and V5 (1.0).
const metadataV4, metadataV5 = 3, 4

// Body compression.
const (
	plainCodec = -1
	lz4Codec   = 0
	zstdCodec  = 1
)

// maxLength bounds the length of an array, so that sizes in bits do not overflow.
const maxLength = 1 << 48

// alignment is the number of bytes to a multiple of which every buffer of a body is padded.
const alignment = 8

// flat is a flatbuffers table whose fields are numbered from 0. Reading a damaged table panics with a runtime error, so
// it must be done within parseFlat.
type flat struct{ flatbuffers.Table }

func parseFlat(parse func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(runtime.Error)
			if !ok {
				panic(r)
			}
			err = &format.Fault{Text: "damaged metadata", Cause: e}
		}
	}()
	return parse()
}

func flatRoot(b []byte) flat {
	return flat{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

func fieldSlot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

func (t *flat) int64Field(field int) int64          { return t.GetInt64Slot(fieldSlot(field), 0) }
func (t *flat) int32Field(field int, d int32) int32 { return t.GetInt32Slot(fieldSlot(field), d) }
func (t *flat) int16Field(field int) int16          { return t.GetInt16Slot(fieldSlot(field), 0) }
func (t *flat) byteField(field int) byte            { return t.GetByteSlot(fieldSlot(field), 0) }
func (t *flat) boolField(field int) bool            { return t.GetBoolSlot(fieldSlot(field), false) }

func (t *flat) fieldPosition(field int) (pos flatbuffers.UOffsetT, ok bool) {
	o := t.Offset(fieldSlot(field))
	return t.Pos + flatbuffers.UOffsetT(o), o != 0
}

// stringLength returns the length of the string that stringField returns, without allocating the string.
func (t *flat) stringLength(field int) int {
	if pos, ok := t.fieldPosition(field); ok {
		return len(t.ByteVector(pos))
	}
	return 0
}

func (t *flat) stringField(field int) string {
	if pos, ok := t.fieldPosition(field); ok {
		return string(t.ByteVector(pos))
	}
	return ""
}

func (t *flat) tableField(field int) (sub flat, ok bool) {
	pos, ok := t.fieldPosition(field)
	if !ok {
		return flat{}, false
	}
	return flat{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(pos)}}, true
}

func (t *flat) vectorBytes(field, size int) (elements []byte, n int) {
	o := flatbuffers.UOffsetT(t.Offset(fieldSlot(field)))
	if o == 0 {
		return nil, 0
	}
	n = t.VectorLen(o)
	return t.Bytes[t.Vector(o):][: n*size : n*size], n
}

// eachTable iterates over the tables of a field's vector. A slice of the tables would take 32 bytes for each.
func (t *flat) eachTable(field int) iter.Seq[flat] {
	return func(yield func(flat) bool) {
		b, n := t.vectorBytes(field, 4)
		if n == 0 {
			return
		}
		start := t.Vector(flatbuffers.UOffsetT(t.Offset(fieldSlot(field))))
		for i := range n {
			pos := start + flatbuffers.UOffsetT(4*i)
			if !yield(flat{flatbuffers.Table{Bytes: t.Bytes, Pos: pos + flatbuffers.GetUOffsetT(b[4*i:])}}) {
				return
			}
		}
	}
}

// message is the envelope of a message: its kind and the length of its body.
type message struct {
	version int16
	kind    byte
	header  flat
	body    int64 // length of the body in bytes
}

func parseMessage(meta []byte) (m message, err error) {
	err = parseFlat(func() error {
		t := flatRoot(meta)
		m.version, m.kind, m.body = t.int16Field(0), t.byteField(1), t.int64Field(3)
		var ok bool
		m.header, ok = t.tableField(2)
		switch {
		case !ok:
			return errors.New("damaged metadata (a message without a header)")
		case m.body < 0:
			return fmt.Errorf("damaged metadata (a body of %d bytes)", m.body)
		}
		return checkVersion(m.version)
	})
	return m, err
}

func checkVersion(v int16) error {
	switch {
	case v < metadataV4:
		return errRefused("metadata version V%d cannot be read, only V4 and V5; write it again with Arrow 1.0 or later", v+1)
	case v > metadataV5:
		return errRefused("metadata version V%d is newer than this program, which reads V4 and V5; write it again in one of these", v+1)
	}
	return nil
}

// unknownNulls is the null count of arrays whose nulls have not been counted, as Arrow JS writes it for slices.
const unknownNulls = -1

// node contains the length and the null count (or unknownNulls) of one array of a batch.
type node struct{ length, nulls int64 }

// buffer is a range of a batch's body.
type buffer struct{ offset, length int64 }

// batch describes a record batch, or the one array of a dictionary batch.
type batch struct {
	version  int16
	rows     int64
	body     int64 // length of the body in bytes
	codec    int   // plainCodec, lz4Codec or zstdCodec
	nodes    []node
	buffers  []buffer
	viewEnds []int64 // by view array: total number of data buffers of this view array and the view arrays before it
}

func parseBatch(m message) (b batch, err error) {
	if m.kind != batchMessage {
		return b, fmt.Errorf("message of kind %d where a record batch was expected", m.kind)
	}
	err = parseFlat(func() error {
		b, err = parseRecordBatch(m, m.header)
		return err
	})
	return b, err
}

// dictionaryBatch is a message that defines or extends a dictionary.
type dictionaryBatch struct {
	id    int64
	delta bool
	batch
}

func parseDictionary(m message) (d dictionaryBatch, err error) {
	if m.kind != dictionaryMessage {
		return d, fmt.Errorf("message of kind %d where a dictionary was expected", m.kind)
	}
	err = parseFlat(func() error {
		data, ok := m.header.tableField(1)
		if !ok {
			return errors.New("damaged metadata (a dictionary without data)")
		}
		d.id, d.delta = m.header.int64Field(0), m.header.boolField(2)
		d.batch, err = parseRecordBatch(m, data)
		return err
	})
	return d, err
}

// parseRecordBatch reads a RecordBatch table and checks it against the body's length.
func parseRecordBatch(m message, t flat) (batch, error) {
	b := batch{version: m.version, rows: t.int64Field(0), body: m.body, codec: plainCodec}
	if c, ok := t.tableField(3); ok {
		b.codec = int(c.byteField(0))
		if b.codec > zstdCodec || c.byteField(1) != 0 {
			return b, errRefused("unknown body compression %d; write it again with zstd or lz4", b.codec)
		}
	}
	if b.rows < 0 || b.rows > maxLength {
		return b, fmt.Errorf("damaged metadata (%d rows)", b.rows)
	}
	// Null arrays and run-end encoded arrays may take no bytes per row, so a small batch could claim so high a number
	// of rows that reading them would take days. If a batch has more rows than every implementation can read, its body
	// must contain more words.
	if b.rows/math.MaxInt32 > 1+m.body/alignment {
		return b, fmt.Errorf("damaged metadata (%d rows in a body of %d bytes)", b.rows, m.body)
	}
	raw, n := t.vectorBytes(1, 16)
	b.nodes = make([]node, n)
	for i := range b.nodes {
		b.nodes[i] = node{littleInt64(raw[16*i:]), littleInt64(raw[16*i+8:])}
		if x := b.nodes[i]; x.length < 0 || x.nulls < unknownNulls || x.nulls > x.length || x.length > maxLength {
			return b, fmt.Errorf("damaged metadata (%d nulls among %d values)", x.nulls, x.length)
		}
	}
	raw, n = t.vectorBytes(2, 16)
	b.buffers = make([]buffer, n)
	end := int64(0)
	for i := range b.buffers {
		b.buffers[i] = buffer{littleInt64(raw[16*i:]), littleInt64(raw[16*i+8:])}
		if x := b.buffers[i]; x.offset < 0 || x.length < 0 || x.offset > m.body || x.length > m.body-x.offset {
			return b, fmt.Errorf("damaged metadata (bytes %d+%d of a body of %d)", x.offset, x.length, m.body)
		}
		end = max(end, b.buffers[i].offset+b.buffers[i].length)
	}
	const padding = 4096 // writers pad to at most 64 bytes
	if m.body-end > padding {
		return b, fmt.Errorf("damaged metadata (a body of %d bytes whose buffers end at %d)", m.body, end)
	}
	raw, n = t.vectorBytes(4, 8)
	b.viewEnds = make([]int64, n)
	views := int64(0)
	for i := range b.viewEnds {
		buffers := littleInt64(raw[8*i:])
		if buffers < 0 || buffers > int64(len(b.buffers)) {
			return b, fmt.Errorf("damaged metadata (%d buffers of a view)", buffers)
		}
		views += buffers
		b.viewEnds[i] = views
	}
	return b, nil
}

func littleInt64(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }
