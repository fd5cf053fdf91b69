package chunkio

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
	"github.com/ufs-stream/ufs-stream/internal/localfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Input reads the bytes of a local file or of an object in a store. ReadAt must be safe for concurrent use.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string // path or URL, for messages
}

type localReader interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// fileInput is a local file with its size at opening.
type fileInput struct {
	localReader
	size int64
}

func (f *fileInput) Size() int64 { return f.size }

func openFile(ctx context.Context, path string) (Input, error) {
	info, err := os.Stat(path) // before opening it, because opening a pipe waits for its writer
	switch {
	case err != nil:
		return nil, stream.Dataf(path, "cannot be opened: %w", withoutPath(err))
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
		return nil, stream.Dataf(path, "%w", withoutPath(err))
	}
	return &fileInput{f, info.Size()}, nil
}

// withoutPath removes the operation and path that os adds to an error: DataError contains the path.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// footerLengthBytes is the size of the number that contains the length of the footer. In Parquet and Arrow files it
// precedes the magic word at the end.
const footerLengthBytes = 4

// computeFingerprint distinguishes a file from others without reading it all: it returns a digest of the size, the
// footer, and the first and last 4 KiB before the footer. For an object in a store, its ETag or generation replaces
// these 8 KiB. For standard input it returns the digest of all bytes.
func computeFingerprint(in Input, footer uint64) (uint64, error) {
	const sampled = 4 << 10
	switch in := in.(type) {
	case *object:
		return in.versionFingerprint(footer), nil
	case *stdinInput:
		return in.digest, nil
	}
	end, err := readFooterStart(in)
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

// readFooterStart returns the offset of the footer, or the file's size if the offset is unknown.
func readFooterStart(in Input) (int64, error) {
	magic, err := readMagic(in)
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

func formatFingerprint(fingerprint uint64) string { return fmt.Sprintf("%016x", fingerprint) }

// countingInput counts the bytes read through it once it has a meter.
type countingInput struct {
	Input
	meter atomic.Pointer[stream.Meter]
}

func (c *countingInput) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Input.ReadAt(p, off)
	if m := c.meter.Load(); m != nil {
		m.Bytes.Add(int64(n))
	}
	return n, err
}

// Busy implements format.Measured.
func (c *countingInput) Busy() *stream.Busy {
	if m := c.meter.Load(); m != nil {
		return &m.Busy
	}
	return nil
}

// Far implements format.Far.
func (c *countingInput) Far() bool { return format.IsFar(c.Input) }
