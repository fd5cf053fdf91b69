// Package forged makes hostile statistics files for tests. It changes the contents of a valid file and then corrects
// all checksums, as a forger would do.
package forged

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// File is a statistics file, taken apart.
type File struct {
	Header   []byte // JSON
	Sections []Section
}

// Section is a part of the file, uncompressed.
type Section struct {
	Name string
	Body []byte
}

// Parts of the format of statistics files, which chunkio.WriteStats defines. This package has a reader and a writer
// of its own, because chunkio accepts and writes only valid files.
const (
	magic   = "ufsstats\x01\x00\x00\x00"
	section = 1       // byte before each section
	end     = 0       // byte after the last section
	block   = 1 << 20 // largest number of bytes in a block of a section
)

// Open reads the valid file at path.
func Open(path string) (*File, error) {
	whole, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	unpack, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer unpack.Close()
	r := &byteReader{left: whole}
	if string(r.takeBytes(len(magic))) != magic {
		return nil, fmt.Errorf("%s is no statistics file of this version", path)
	}
	f := &File{Header: r.takeBytes(r.takeLength())}
	r.takeBytes(8)
	for r.takeByte() == section {
		s := Section{Name: string(r.takeBytes(int(r.takeByte())))}
		for n := r.takeLength(); n > 0; n = r.takeLength() {
			if s.Body, err = unpack.DecodeAll(r.takeBytes(n), s.Body); err != nil {
				return nil, err
			}
		}
		r.takeBytes(16)
		f.Sections = append(f.Sections, s)
	}
	return f, r.err
}

// Bytes returns the whole file, with correct checksums.
func (f *File) Bytes() []byte {
	b := append([]byte(magic), encodeLength(f.Header)...)
	b = append(b, f.Header...)
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(f.Header))
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are valid
	}
	defer pack.Close()
	for _, s := range f.Sections {
		b = append(b, section, byte(len(s.Name)))
		b = append(b, s.Name...)
		for rest := s.Body; len(rest) > 0; {
			n := min(block, len(rest))
			packed := pack.EncodeAll(rest[:n], nil)
			b, rest = append(append(b, encodeLength(packed)...), packed...), rest[n:]
		}
		b = append(b, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s.Body)))
		b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(s.Body))
	}
	b = append(b, end)
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

func encodeLength(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(len(b))) }

// byteReader reads a file: it removes bytes from the beginning of left, the bytes not yet read, and returns them. After
// an error it returns no more bytes.
type byteReader struct {
	left []byte
	err  error
}

func (t *byteReader) takeBytes(n int) []byte {
	if n > len(t.left) {
		t.err, t.left = io.ErrUnexpectedEOF, nil
		return nil
	}
	b := t.left[:n]
	t.left = t.left[n:]
	return bytes.Clone(b)
}

func (t *byteReader) takeByte() byte {
	if b := t.takeBytes(1); b != nil {
		return b[0]
	}
	return end
}

func (t *byteReader) takeLength() int {
	if b := t.takeBytes(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}
