package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Input reads the bytes of a local file or of an object in a store. ReadAt must be safe for concurrent use.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string // path or URL, for messages
}

// LocalReader is an open local file.
type LocalReader interface {
	io.ReaderAt
	io.Closer
	Name() string
}

type fileInput struct {
	LocalReader
	size int64
}

// NewFileInput returns the Input of an open local file.
func NewFileInput(r LocalReader, size int64) Input { return &fileInput{r, size} }

func (f *fileInput) Size() int64 { return f.size }

// OpenFile opens a local file, which must be regular and not empty.
func OpenFile(ctx context.Context, path string) (Input, error) {
	info, err := os.Stat(path) // before opening it, because opening a pipe waits for its writer
	switch {
	case err != nil:
		return nil, stream.Dataf(path, "cannot be opened: %w", WithoutPath(err))
	case info.IsDir():
		return nil, stream.Dataf(path, "is a directory, not a file")
	case !info.Mode().IsRegular():
		e := stream.Dataf(path, "is not a regular file")
		e.Remedy = stream.Textf("hand it over on standard input instead (-)")
		return nil, e
	}
	f, err := localfile.Open(ctx, path)
	if err != nil {
		return nil, stream.Dataf(path, "cannot be opened: %w", err)
	}
	if info, err = f.Stat(); err == nil && info.Size() == 0 {
		err = errors.New("is empty (0 bytes)")
	}
	if err != nil {
		_ = f.Close() // an error of Close is dropped, because nothing was written
		return nil, stream.Dataf(path, "%w", WithoutPath(err))
	}
	return NewFileInput(f, info.Size()), nil
}

// WithoutPath removes the operation and path that os adds to an error: DataError contains the path.
func WithoutPath(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// footerLengthBytes is the size of the number that contains the length of the footer. In Parquet and Arrow files it
// precedes the magic word at the end.
const footerLengthBytes = 4

// ComputeFingerprint distinguishes a file from others without reading it all: it returns a digest of the size, the
// footer, and the first and last 4 KiB before the footer. For an object in a store, its ETag or generation replaces
// these 8 KiB. For standard input it returns the digest of all bytes.
func ComputeFingerprint(in Input, footer uint64) (uint64, error) {
	const sampled = 4 << 10
	switch in := in.(type) {
	case *Object:
		return in.fingerprintOfVersion(footer), nil
	case *StdinInput:
		return in.Digest, nil
	}
	end, err := ReadFooterStart(in)
	if err != nil {
		return 0, err
	}
	sum := xxhash.New()
	var words [16]byte
	binary.LittleEndian.PutUint64(words[:8], uint64(in.Size()))
	binary.LittleEndian.PutUint64(words[8:], footer)
	sum.Write(words[:])
	part := make([]byte, min(sampled, end))
	for _, at := range []int64{0, end - int64(len(part))} {
		if err := format.ReadAt(in, part, at); err != nil {
			return 0, stream.Dataf(in.Name(), "%w", err)
		}
		sum.Write(part)
	}
	return sum.Sum64(), nil
}

// ReadFooterStart returns the offset of the footer, or the file's size if the offset is unknown.
func ReadFooterStart(in Input) (int64, error) {
	magic, err := ReadMagic(in)
	if err != nil || magic == "" {
		return in.Size(), err
	}
	tail := int64(footerLengthBytes + len(magic))
	if in.Size() < tail {
		return in.Size(), nil
	}
	var length [footerLengthBytes]byte
	if err := format.ReadAt(in, length[:], in.Size()-tail); err != nil {
		return 0, stream.Dataf(in.Name(), "%w", err)
	}
	footer := int64(binary.LittleEndian.Uint32(length[:]))
	return max(in.Size()-tail-footer, 0), nil
}

// FormatFingerprint returns a fingerprint as 16 hexadecimal digits.
func FormatFingerprint(fingerprint uint64) string { return fmt.Sprintf("%016x", fingerprint) }

// CountingInput counts the bytes read through it once it has a meter.
type CountingInput struct {
	Input
	Meter atomic.Pointer[stream.Meter]
}

// ReadAt implements io.ReaderAt.
func (c *CountingInput) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Input.ReadAt(p, off)
	if m := c.Meter.Load(); m != nil {
		m.Bytes.Add(int64(n))
	}
	return n, err
}

// Busy implements format.Measured: it returns the counters of the time of reading and decoding.
func (c *CountingInput) Busy() *stream.Busy {
	if m := c.Meter.Load(); m != nil {
		return &m.Busy
	}
	return nil
}

// Far implements format.Far: it reports whether every read is a request to an object store.
func (c *CountingInput) Far() bool { return format.IsFar(c.Input) }

// StdinInput is standard input after it was stored, either its rows as Parquet or its unchanged bytes.
type StdinInput struct {
	Reader io.ReaderAt
	Length int64
	Digest uint64 // hash of all bytes of standard input
}

// ReadAt implements Input.
func (s *StdinInput) ReadAt(p []byte, at int64) (int, error) { return s.Reader.ReadAt(p, at) }

// Size implements Input.
func (s *StdinInput) Size() int64 { return s.Length }

// Name implements Input.
func (s *StdinInput) Name() string { return ipc.StreamName }

// Close implements Input. It keeps the scratch file for the next pass.
func (s *StdinInput) Close() error { return nil }

// ReadHead returns the first bytes of a file.
func ReadHead(in Input) (string, error) {
	head := make([]byte, min(in.Size(), 16))
	if err := format.ReadAt(in, head, 0); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	return string(head), nil
}

// ReadMagic returns the magic word at the beginning of a file, or "" if it has none. For an object it reads the word at
// the end, which comes with the footer, because the beginning would cost one more request.
func ReadMagic(in Input) (string, error) {
	if in.Size() == 0 {
		return "", stream.Dataf(in.Name(), "the file is empty")
	}
	longest := 0
	for _, f := range formats.AllFormats() {
		longest = max(longest, len(f.Magic))
	}
	word := make([]byte, min(in.Size(), int64(longest)))
	at := int64(0)
	far := format.IsFar(in)
	if far {
		at = in.Size() - int64(len(word))
	}
	if err := format.ReadAt(in, word, at); err != nil {
		return "", stream.Dataf(in.Name(), "%w", err)
	}
	for _, f := range formats.AllFormats() {
		if n := len(f.Magic); n > 0 && len(word) >= n && (!far && string(word[:n]) == f.Magic || far && string(word[len(word)-n:]) == f.Magic) {
			return f.Magic, nil
		}
	}
	if far { // the object may be incomplete, so the magic word at its beginning decides
		return ReadMagic(asLocalFile{in})
	}
	return "", nil
}

// asLocalFile makes an object look like a file on disk to its reader.
type asLocalFile struct{ Input }

func (asLocalFile) Far() bool { return false }
