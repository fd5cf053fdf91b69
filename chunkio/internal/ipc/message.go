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

// This file parses Arrow IPC metadata directly from flatbuffers. The files format/Message.fbs and format/File.fbs of
// Arrow define the tables and the numbers of their fields. We do not use the Arrow library's reader: it loads and
// copies every column of a batch, its dictionaries must not be used from several goroutines, and it panics on damaged
// files.

const continuation = 0xFFFFFFFF // first word of a message since Arrow 0.15

// Kinds of messages, as members of the flatbuffers union MessageHeader.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// Metadata versions V4 (since Arrow 0.8) and V5 (since 1.0), which can be read.
const metadataV4, metadataV5 = 3, 4

// Codecs with which the buffers of a body may be compressed.
const (
	plainCodec = -1
	lz4Codec   = 0
	zstdCodec  = 1
)

// maxLength is the largest length of an array that is accepted. Sizes in bits cannot overflow for such lengths.
const maxLength = 1 << 48

// alignment: every buffer of a body is padded to a multiple of this number of bytes.
const alignment = 8

// flatTable is a flatbuffers table whose fields are numbered from 0. Reading a damaged table panics with a runtime
// error, so tables must be read inside parseFlatbuffer.
type flatTable struct{ flatbuffers.Table }

func parseFlatbuffer(parse func() error) (err error) {
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

func rootFlatTable(b []byte) flatTable {
	return flatTable{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

func vtableSlot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

func (t *flatTable) int64Field(field int) int64 { return t.GetInt64Slot(vtableSlot(field), 0) }
func (t *flatTable) int32Field(field int, defaultValue int32) int32 {
	return t.GetInt32Slot(vtableSlot(field), defaultValue)
}
func (t *flatTable) int16Field(field int) int16 { return t.GetInt16Slot(vtableSlot(field), 0) }
func (t *flatTable) byteField(field int) byte   { return t.GetByteSlot(vtableSlot(field), 0) }
func (t *flatTable) boolField(field int) bool   { return t.GetBoolSlot(vtableSlot(field), false) }

func (t *flatTable) fieldPosition(field int) (pos flatbuffers.UOffsetT, ok bool) {
	o := t.Offset(vtableSlot(field))
	return t.Pos + flatbuffers.UOffsetT(o), o != 0
}

// stringLength returns the length of the string in a field, without allocating the string.
func (t *flatTable) stringLength(field int) int {
	if pos, ok := t.fieldPosition(field); ok {
		return len(t.ByteVector(pos))
	}
	return 0
}

func (t *flatTable) stringField(field int) string {
	if pos, ok := t.fieldPosition(field); ok {
		return string(t.ByteVector(pos))
	}
	return ""
}

func (t *flatTable) tableField(field int) (sub flatTable, ok bool) {
	pos, ok := t.fieldPosition(field)
	if !ok {
		return flatTable{}, false
	}
	return flatTable{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(pos)}}, true
}

func (t *flatTable) vectorBytes(field, elementSize int) (elements []byte, n int) {
	o := flatbuffers.UOffsetT(t.Offset(vtableSlot(field)))
	if o == 0 {
		return nil, 0
	}
	n = t.VectorLen(o)
	return t.Bytes[t.Vector(o):][: n*elementSize : n*elementSize], n
}

// eachTable iterates over the tables in the vector of a field. A slice of these tables would need 32 bytes for each.
func (t *flatTable) eachTable(field int) iter.Seq[flatTable] {
	return func(yield func(flatTable) bool) {
		b, n := t.vectorBytes(field, 4)
		if n == 0 {
			return
		}
		start := t.Vector(flatbuffers.UOffsetT(t.Offset(vtableSlot(field))))
		for i := range n {
			pos := start + flatbuffers.UOffsetT(4*i)
			if !yield(flatTable{flatbuffers.Table{Bytes: t.Bytes, Pos: pos + flatbuffers.GetUOffsetT(b[4*i:])}}) {
				return
			}
		}
	}
}

// message is the metadata of a message: its kind, its header table, and the length of its body.
type message struct {
	version int16
	kind    byte
	header  flatTable
	body    int64 // length of the body in bytes
}

func parseMessage(meta []byte) (m message, err error) {
	err = parseFlatbuffer(func() error {
		t := rootFlatTable(meta)
		m.version, m.kind, m.body = t.int16Field(0), t.byteField(1), t.int64Field(3)
		var ok bool
		m.header, ok = t.tableField(2)
		switch {
		case !ok:
			return errors.New("damaged metadata (a message without a header)")
		case m.body < 0:
			return fmt.Errorf("damaged metadata (a body of %d bytes)", m.body)
		}
		return checkMetadataVersion(m.version)
	})
	return m, err
}

func checkMetadataVersion(v int16) error {
	switch {
	case v < metadataV4:
		return newRefusalError("metadata version V%d cannot be read, only V4 and V5; write it again with Arrow 1.0 or later", v+1)
	case v > metadataV5:
		return newRefusalError("metadata version V%d is newer than this program, which reads V4 and V5; write it again in one of these", v+1)
	}
	return nil
}

// unknownNulls is the null count of an array whose nulls have not been counted. Arrow JS writes it for slices.
const unknownNulls = -1

// arrayNode contains the length and the null count (or unknownNulls) of one array of a batch.
type arrayNode struct{ length, nulls int64 }

// bufferRange is a range of a batch's body.
type bufferRange struct{ offset, length int64 }

// batch describes a record batch. It also describes a dictionary batch, which has a single array.
type batch struct {
	version  int16
	rows     int64
	body     int64 // length of the body in bytes
	codec    int   // plainCodec, lz4Codec or zstdCodec
	nodes    []arrayNode
	buffers  []bufferRange
	viewEnds []int64 // for each view array: total number of data buffers of all view arrays up to and including this one
}

func parseBatch(m message) (b batch, err error) {
	if m.kind != batchMessage {
		return b, fmt.Errorf("message of kind %d where a record batch was expected", m.kind)
	}
	err = parseFlatbuffer(func() error {
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
	err = parseFlatbuffer(func() error {
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

// parseRecordBatch parses a RecordBatch table, and checks its buffers against the length of the body.
func parseRecordBatch(m message, t flatTable) (batch, error) {
	b := batch{version: m.version, rows: t.int64Field(0), body: m.body, codec: plainCodec}
	if c, ok := t.tableField(3); ok {
		b.codec = int(c.byteField(0))
		if b.codec > zstdCodec || c.byteField(1) != 0 {
			return b, newRefusalError("unknown body compression %d; write it again with zstd or lz4", b.codec)
		}
	}
	if b.rows < 0 || b.rows > maxLength {
		return b, fmt.Errorf("damaged metadata (%d rows)", b.rows)
	}
	// Null arrays and run-end encoded arrays need not have any bytes per row. So a small damaged batch could claim such
	// a number of rows that reading them would take days. If a batch has more rows than some implementations can read,
	// its body must have a word of 8 bytes for each further 2³¹ rows.
	if b.rows/math.MaxInt32 > 1+m.body/alignment {
		return b, fmt.Errorf("damaged metadata (%d rows in a body of %d bytes)", b.rows, m.body)
	}
	raw, n := t.vectorBytes(1, 16)
	b.nodes = make([]arrayNode, n)
	for i := range b.nodes {
		b.nodes[i] = arrayNode{littleEndianInt64(raw[16*i:]), littleEndianInt64(raw[16*i+8:])}
		if x := b.nodes[i]; x.length < 0 || x.nulls < unknownNulls || x.nulls > x.length || x.length > maxLength {
			return b, fmt.Errorf("damaged metadata (%d nulls among %d values)", x.nulls, x.length)
		}
	}
	raw, n = t.vectorBytes(2, 16)
	b.buffers = make([]bufferRange, n)
	end := int64(0)
	for i := range b.buffers {
		b.buffers[i] = bufferRange{littleEndianInt64(raw[16*i:]), littleEndianInt64(raw[16*i+8:])}
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
		buffers := littleEndianInt64(raw[8*i:])
		if buffers < 0 || buffers > int64(len(b.buffers)) {
			return b, fmt.Errorf("damaged metadata (%d buffers of a view)", buffers)
		}
		views += buffers
		b.viewEnds[i] = views
	}
	return b, nil
}

func littleEndianInt64(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }
