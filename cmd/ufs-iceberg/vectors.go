package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/puffin"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/memory/jsonsize"
)

// Deletion vectors are read here and not by iceberg-go, which takes memory for as many blobs and bitmaps as a damaged
// file claims to have. https://iceberg.apache.org/puffin-spec/

const (
	puffinMagic = "PFA1" // at the beginning of a file, and at both ends of its footer
	trailerSize = 12     // size of the footer's text, flags and puffinMagic, at the end of a file
	vectorMagic = "\xd1\xd3\x39\x64"

	// A Puffin file of at most wholePuffin bytes is read with one request. The end of a larger one is read first.
	wholePuffin = 4 << 20
	puffinEnd   = 8 << 10

	decodedVector = 16 // bytes of memory for a byte of a vector, while it is decoded
)

func (d *deletions) readVectors(ctx context.Context, vectors []iceberg.DataFile) error {
	path := vectors[0].FilePath()
	in, err := d.lake.Open(path)
	if err == nil {
		defer in.Close()
		err = recoverParquetPanics(func() error { return d.applyVectors(ctx, in, vectors) })
	}
	return asDeleteError(path, deletionVectors, err)
}

func (d *deletions) applyVectors(ctx context.Context, in icebergio.File, vectors []iceberg.DataFile) error {
	p, err := d.openPuffin(ctx, in)
	if p != nil {
		defer func() { d.memory.returnBytes(p.counted) }()
	}
	if err != nil {
		return err
	}
	for _, v := range vectors {
		if err := ctx.Err(); err != nil {
			return err
		}
		target := d.byPath[*v.ReferencedDataFile()]
		blob, err := p.findVector(v)
		if err != nil {
			return err
		}
		if err := d.memory.takeBytes(decodedVector * blob.Length); err != nil {
			return err
		}
		b := make([]byte, blob.Length)
		if err := p.readBytes(b, blob.Offset); err != nil {
			return err
		}
		rows, err := parseVector(b)
		switch {
		case err != nil:
			return fmt.Errorf("its vector of %s is damaged: %w", place.DisplayName(target.FilePath()), err)
		case int64(rows.GetCardinality()) != v.Count():
			return fmt.Errorf("its vector of %s deletes %d rows, and the manifest says %d", place.DisplayName(target.FilePath()), rows.GetCardinality(), v.Count())
		case !rows.IsEmpty() && rows.Maximum() >= uint64(target.rows):
			return errBeyond(target, rows.Maximum())
		}
		target.deleted.rows = rows
		if err := target.deleted.measureRows(d.memory); err != nil {
			return err
		}
		d.memory.returnBytes(decodedVector * blob.Length)
	}
	return nil
}

// puffinFile is an open Puffin file.
type puffinFile struct {
	in      io.ReaderAt
	size    int64
	end     []byte // its last bytes, perhaps all of them
	blobs   []puffin.BlobMetadata
	counted int64 // bytes of memory
}

// openPuffin reads the footer of a Puffin file. The result has the bytes that are counted, even if it fails.
func (d *deletions) openPuffin(ctx context.Context, in icebergio.File) (*puffinFile, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	p := &puffinFile{in: in, size: info.Size()}
	count := func(n int64) error {
		p.counted += n
		return d.memory.takeBytes(n)
	}
	if p.size < int64(2*len(puffinMagic)+trailerSize) {
		return p, fmt.Errorf("it has %d bytes, which are no Puffin file", p.size)
	}
	ahead := p.size
	if p.size > wholePuffin {
		ahead = puffinEnd
	}
	if err := count(ahead); err != nil {
		return p, err
	}
	end := make([]byte, ahead)
	if err := p.readBytes(end, p.size-ahead); err != nil {
		return p, err
	}
	p.end = end
	trailer := end[len(end)-trailerSize:]
	length, flags := int64(int32(binary.LittleEndian.Uint32(trailer))), binary.LittleEndian.Uint32(trailer[4:])
	start := p.size - trailerSize - length // of the footer's text
	switch {
	case string(trailer[8:]) != puffinMagic:
		return p, fmt.Errorf("it does not end with %s, as a Puffin file does", puffinMagic)
	case length < 0 || start < int64(2*len(puffinMagic)):
		return p, fmt.Errorf("its footer has %d bytes, and the file %d", length, p.size)
	case flags != 0:
		return p, fmt.Errorf("its footer is compressed or has unknown flags (%#x)", flags)
	}
	if err := count(length); err != nil {
		return p, err
	}
	footer := make([]byte, length)
	if err := p.readBytes(footer, start); err != nil {
		return p, err
	}
	var list puffin.Footer
	need, err := jsonsize.DecodedBytes(ctx, footer, reflect.TypeOf(list))
	if err == nil {
		err = count(need)
	}
	if err == nil {
		err = json.Unmarshal(footer, &list)
	}
	if err != nil {
		return p, fmt.Errorf("its footer cannot be read: %w", err)
	}
	p.blobs = list.Blobs
	for i, b := range p.blobs {
		if b.Offset < int64(len(puffinMagic)) || b.Length < 0 || b.Offset > start || b.Length > start-b.Offset {
			return p, fmt.Errorf("its footer has %d bytes from byte %d as blob %d, which the file has not", b.Length, b.Offset, i)
		}
	}
	return p, nil
}

func (p *puffinFile) readBytes(b []byte, at int64) error {
	if from := p.size - int64(len(p.end)); at >= from && len(p.end) > 0 {
		copy(b, p.end[at-from:])
		return nil
	}
	n, err := p.in.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return err
}

func (p *puffinFile) findVector(v iceberg.DataFile) (puffin.BlobMetadata, error) {
	var blob puffin.BlobMetadata
	offset, size := v.ContentOffset(), v.ContentSizeInBytes()
	if offset == nil || size == nil {
		return blob, errors.New("the manifest does not say where in the file the vector is (content_offset, content_size_in_bytes)")
	}
	at := slices.IndexFunc(p.blobs, func(b puffin.BlobMetadata) bool { return b.Offset == *offset && b.Length == *size })
	if at < 0 {
		return blob, fmt.Errorf("it has no blob of %d bytes at byte %d, where the manifest has a vector", *size, *offset)
	}
	blob = p.blobs[at]
	of := blob.Properties["referenced-data-file"]
	switch {
	case blob.Type != puffin.BlobTypeDeletionVector || blob.CompressionCodec != nil && *blob.CompressionCodec != "":
		return blob, fmt.Errorf("its blob at byte %d, of type %s, is compressed or no deletion vector", *offset, blob.Type)
	case of != *v.ReferencedDataFile():
		return blob, fmt.Errorf("its vector at byte %d is of %s, and the manifest has it for %s", *offset, place.DisplayName(of), place.DisplayName(*v.ReferencedDataFile()))
	}
	return blob, nil
}

// parseVector parses a blob of type deletion-vector-v1: the length of the next two parts, a magic number, a Roaring bitmap
// in the portable 64-bit format, and a checksum of these two parts.
func parseVector(blob []byte) (*roaring64.Bitmap, error) {
	const frame = 4 + len(vectorMagic) + crc32.Size
	if len(blob) < frame {
		return nil, fmt.Errorf("it has only %d bytes", len(blob))
	}
	data, sum := blob[4:len(blob)-crc32.Size], binary.BigEndian.Uint32(blob[len(blob)-crc32.Size:])
	switch {
	case int64(binary.BigEndian.Uint32(blob)) != int64(len(data)):
		return nil, fmt.Errorf("it claims a length of %d bytes, and has %d", binary.BigEndian.Uint32(blob), len(data))
	case string(data[:len(vectorMagic)]) != vectorMagic:
		return nil, errors.New("it is no vector of the format of the specification (magic number)")
	case crc32.ChecksumIEEE(data) != sum:
		return nil, errors.New("its checksum is wrong")
	}
	rows, r := roaring64.New(), bytes.NewReader(data[len(vectorMagic):])
	if _, err := rows.ReadPortableFrom(r); err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("its bitmap ends %d bytes before its data", r.Len())
	}
	return rows, rows.Validate()
}
