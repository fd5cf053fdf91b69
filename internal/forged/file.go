// Package forged makes hostile statistics files for tests: what a file says is changed, and all its
// checksums are made right again, as who forges a file would.
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

// Section is a run of bytes of it, as they are before they are compressed.
type Section struct {
	Name string
	Body []byte
}

// The form is that of chunkio.WriteStatsTo, by a reader and a writer of our own: those there make
// and take sound files only.
const (
	magic   = "ufsstats\x01\x00\x00\x00"
	section = 1
	end     = 0
	block   = 1 << 20
)

// Open reads the sound file at path.
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
	r := &taker{left: whole}
	if string(r.take(len(magic))) != magic {
		return nil, fmt.Errorf("%s is no statistics file of this version", path)
	}
	f := &File{Header: r.take(r.length())}
	r.take(8)
	for r.byte() == section {
		s := Section{Name: string(r.take(int(r.byte())))}
		for n := r.length(); n > 0; n = r.length() {
			if s.Body, err = unpack.DecodeAll(r.take(n), s.Body); err != nil {
				return nil, err
			}
		}
		r.take(16)
		f.Sections = append(f.Sections, s)
	}
	return f, r.err
}

// Bytes is the whole file, with checksums that are right.
func (f *File) Bytes() []byte {
	b := append([]byte(magic), length(f.Header)...)
	b = append(b, f.Header...)
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(f.Header))
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are right
	}
	defer pack.Close()
	for _, s := range f.Sections {
		b = append(b, section, byte(len(s.Name)))
		b = append(b, s.Name...)
		for rest := s.Body; len(rest) > 0; {
			n := min(block, len(rest))
			packed := pack.EncodeAll(rest[:n], nil)
			b, rest = append(append(b, length(packed)...), packed...), rest[n:]
		}
		b = append(b, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s.Body)))
		b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(s.Body))
	}
	b = append(b, end)
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

func length(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(len(b))) }

// taker takes bytes off the front; after an error there are none.
type taker struct {
	left []byte
	err  error
}

func (t *taker) take(n int) []byte {
	if n > len(t.left) {
		t.err, t.left = io.ErrUnexpectedEOF, nil
		return nil
	}
	b := t.left[:n]
	t.left = t.left[n:]
	return bytes.Clone(b)
}

func (t *taker) byte() byte {
	if b := t.take(1); b != nil {
		return b[0]
	}
	return end
}

func (t *taker) length() int {
	if b := t.take(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}
