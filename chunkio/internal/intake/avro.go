package intake

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// AvroMagic begins every Avro file.
const AvroMagic = "Obj\x01"

// avroReader reads an Avro object container file, block by block. The library hamba/avro is not used, because it
// allocates any size and loops for any count that a damaged block claims.
type avroReader struct {
	from         io.Reader
	name         string
	maxBlock     int // greatest length of a block, compressed or not
	maxNameBytes int // limit on the total length of the columns' names
	schema       *avroSchema
	codec        string
	sync         [16]byte
	row          int64
}

func newAvroReader(c cutter) (*avroReader, error) {
	r := &avroReader{from: c.from, name: c.name, maxBlock: c.maxRow, maxNameBytes: c.maxNames()}
	if err := r.readHeader(); err != nil {
		if _, ok := errors.AsType[*stream.DataError](err); ok {
			return nil, err
		}
		return nil, stream.Dataf(r.name, "the header of the Avro file: %w", explainEarlyEnd(err))
	}
	return r, nil
}

// explainEarlyEnd replaces io.EOF by an error that explains the early end to the user.
func explainEarlyEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the data end early: is the file cut off?")
	}
	return err
}

func (r *avroReader) readHeader() error {
	magic := make([]byte, len(AvroMagic))
	if _, err := io.ReadFull(r.from, magic); err != nil {
		return err
	}
	if string(magic) != AvroMagic {
		return errors.New("does not begin with Obj1")
	}
	meta := map[string][]byte{}
	for {
		n, err := readAvroLong(r.from)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if n < 0 { // the length of the entries in bytes follows
			n = -n
			if _, err := readAvroLong(r.from); err != nil {
				return err
			}
		}
		for ; n != 0; n-- {
			key, err := r.readAvroBytes()
			if err != nil {
				return err
			}
			if meta[string(key)], err = r.readAvroBytes(); err != nil {
				return err
			}
			if len(meta) > 1<<10 {
				return errors.New("more than 1,024 entries of metadata")
			}
		}
	}
	if _, err := io.ReadFull(r.from, r.sync[:]); err != nil {
		return err
	}
	switch r.codec = string(meta["avro.codec"]); r.codec {
	case "", "null", "deflate", "snappy", "zstandard":
	default:
		return fmt.Errorf("codec %q cannot be read: want null, deflate, snappy or zstandard", r.codec)
	}
	var err error
	r.schema, err = parseAvroSchema(meta["avro.schema"], r.maxNameBytes)
	return err
}

func readAvroLong(from io.Reader) (int64, error) {
	var b [1]byte
	var x uint64
	for shift := 0; shift < 64; shift += 7 {
		if _, err := io.ReadFull(from, b[:]); err != nil {
			return 0, err
		}
		if x |= uint64(b[0]&0x7F) << shift; b[0] < 0x80 {
			return decodeZigzag(x), nil
		}
	}
	return 0, errors.New("a number of more than 64 bits")
}

func decodeZigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

func (r *avroReader) readAvroBytes() ([]byte, error) {
	n, err := readAvroLong(r.from)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(r.maxBlock) {
		return nil, fmt.Errorf("an entry of %d bytes", n)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r.from, b)
	return b, err
}

func (r *avroReader) nextPiece(room []byte) (piece, error) {
	for {
		count, err := readAvroLong(r.from)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return piece{}, io.EOF
		}
		size, err2 := readAvroLong(r.from)
		if err = errors.Join(err, err2); err != nil {
			return piece{}, r.errAtRow(r.row, err)
		}
		if count < 0 || size < 0 {
			return piece{}, r.errAtRow(r.row, fmt.Errorf("a block of %d rows in %d bytes", count, size))
		}
		if size > int64(r.maxBlock) {
			return piece{}, r.errBlockTooLarge(r.row, size)
		}
		p := piece{data: format.Resize(room, int(size)), line: r.row, rows: int(count)}
		var sync [16]byte
		if _, err = io.ReadFull(r.from, p.data); err == nil {
			_, err = io.ReadFull(r.from, sync[:])
		}
		if err == nil && sync != r.sync {
			err = errors.New("the block does not end with the file's mark: the file is damaged")
		}
		if err != nil {
			return piece{}, r.errAtRow(r.row, err)
		}
		if r.row += count; count > 0 {
			return p, nil
		}
		room = p.data
	}
}

func (r *avroReader) errAtRow(row int64, cause error) error {
	e := stream.Dataf(r.name, "%w", explainEarlyEnd(cause))
	e.Row = row
	return e
}

func (r *avroReader) errBlockTooLarge(row, size int64) error {
	e := stream.Dataf(r.name, "a block of %d bytes", size)
	e.Row, e.Remedy = row, stream.Textf("write the file with smaller blocks, or raise {memory-limit}")
	return e
}

func (r *avroReader) decompressBlock(p piece) ([]byte, error) {
	var from io.Reader
	switch r.codec {
	case "", "null":
		return p.data, nil
	case "deflate":
		from = flate.NewReader(bytes.NewReader(p.data))
	case "snappy":
		if len(p.data) < 4 {
			return nil, errors.New("a block without its checksum")
		}
		body, sum := p.data[:len(p.data)-4], binary.BigEndian.Uint32(p.data[len(p.data)-4:])
		if n, err := snappy.DecodedLen(body); err != nil || n > r.maxBlock {
			return nil, errors.Join(err, errTooLarge)
		}
		b, err := snappy.Decode(nil, body)
		if err == nil && crc32.ChecksumIEEE(b) != sum {
			err = errors.New("the checksum of the block differs: the file is damaged")
		}
		return b, err
	case "zstandard":
		d, err := zstd.NewReader(bytes.NewReader(p.data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		from = d
	}
	b, err := io.ReadAll(io.LimitReader(from, int64(r.maxBlock)+1))
	if err == nil && len(b) > r.maxBlock {
		err = errTooLarge
	}
	return b, err
}

var errTooLarge = errors.New("a block of too many bytes; write the file with smaller blocks, or raise the memory limit")

func (r *avroReader) observePiece(piece, *columnObserver) error { return nil }

func (r *avroReader) parsePiece(p piece, columns []Column, b *batch) error {
	data, err := r.decompressBlock(p)
	if err != nil {
		return r.errAtRow(p.line, err)
	}
	// A row has at least one byte, unless all its fields are empty records or nulls. A short block could claim very
	// many rows.
	if p.rows > max(len(data), 1) || p.rows*len(columns) > 1<<20 && p.rows*len(columns) > 2*len(data) {
		return r.errAtRow(p.line, fmt.Errorf("a block of %d rows in %d bytes", p.rows, len(data)))
	}
	b.resetToSize(len(columns), p.rows)
	v := avroDecoder{rest: data, batch: b, columns: columns}
	for i := range p.rows {
		v.row = i
		if err := v.decodeValue(r.schema.root); err != nil {
			e := r.errAtRow(p.line+int64(i), err)
			if place, ok := errors.AsType[*stream.DataError](e); ok && v.column >= 0 && v.column < len(columns) {
				place.Column = columns[v.column].Name
			}
			return e
		}
	}
	if len(v.rest) > 0 {
		return r.errAtRow(p.line, fmt.Errorf("%d bytes after the last row of a block", len(v.rest)))
	}
	b.rows = p.rows
	return nil
}

func (r *avroReader) describeTable() Table {
	return Table{Format: "Avro", Columns: r.schema.columns, LeftOut: r.schema.leftOut, Before: r.schema.columnsBefore}
}
