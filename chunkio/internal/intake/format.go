package intake

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Format is a file format whose tables are stored row by row.
type Format uint8

// None means that the format of a file is not in this list.
const (
	None Format = iota
	CSV
	TSV
	NDJSON
	NPY
	Avro
)

// Packings lists the endings that the names of compressed files have.
var Packings = []string{".gz", ".zst", ".bz2"}

// FileEnding returns a name's ending in lower case, without a compression's ending, and whether there was one.
func FileEnding(name string) (ending string, packed bool) {
	name = strings.ToLower(name)
	for _, p := range Packings {
		inner, ok := strings.CutSuffix(name, p)
		name, packed = inner, packed || ok
	}
	return path.Ext(name), packed
}

// SniffBytes is the number of bytes at the beginning of a file that SniffText needs.
const SniffBytes = 4 << 10

// SniffText guesses the format of text from its first bytes. It returns None for bytes that are not text.
func SniffText(head []byte) Format {
	switch text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n"); {
	case len(text) == 0 || bytes.IndexByte(head, 0) >= 0:
		return None
	case text[0] == '{' || text[0] == '[':
		return NDJSON
	}
	return CSV
}

// SniffPacking returns the compression that the first bytes of a file show: "gz", "zst", "bz2", or "".
func SniffPacking(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1F\x8B")):
		return "gz"
	case bytes.HasPrefix(head, []byte("\x28\xB5\x2F\xFD")):
		return "zst"
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 9 && bytes.HasPrefix(head[4:], []byte("\x31\x41\x59\x26\x53\x59")):
		return "bz2"
	}
	return ""
}

// maxWindow limits the window of zstd, because the decoder keeps the window in memory.
const maxWindow = 64 << 20

// Unpack decompresses a stream with the given compression, as named by SniffPacking.
func Unpack(from io.Reader, packing string) (io.ReadCloser, error) {
	switch packing {
	case "gz":
		return newGzipMemberReader(from)
	case "zst":
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case "bz2":
		return io.NopCloser(bzip2.NewReader(from)), nil
	}
	return io.NopCloser(from), nil
}

// gzipMemberReader reads the members of a gzip file one by one: an interrupted download may end within the header of a
// member, and the library treats this as the regular end of the file.
type gzipMemberReader struct {
	*gzip.Reader
	from *bufio.Reader
}

func newGzipMemberReader(from io.Reader) (io.ReadCloser, error) {
	m := &gzipMemberReader{from: bufio.NewReaderSize(from, 64<<10)}
	var err error
	if m.Reader, err = gzip.NewReader(m.from); err != nil {
		return nil, errEndsEarly(err)
	}
	m.Multistream(false)
	return m, nil
}

func (m *gzipMemberReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if n, err = m.Reader.Read(p); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		if _, end := m.from.Peek(1); end != nil {
			return n, end
		}
		err = errEndsEarly(m.Reset(m.from))
		m.Multistream(false)
	}
	return n, err
}

// errEndsEarly replaces an EOF in a member's header, where the file must not end.
func errEndsEarly(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
