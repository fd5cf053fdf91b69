package chunkio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StatsReader reads a statistics container. Open has verified the whole file, so a
// section can be taken in as it is read; its own checksum is verified at its end.
type StatsReader struct {
	Header StatsHeader

	path     string
	file     io.ReaderAt
	closer   io.Closer
	digest   uint64
	sections []statsExtent
}

// statsExtent is where a section's blocks are.
type statsExtent struct {
	name          string
	offset, size  int64 // blocks with their lengths, without the end
	length, check uint64
}

// IsStats reports whether the file at path begins like a statistics container. The ending
// of an object's name tells where it can: .ufs, or one of data, or a folder or glob. Others
// are looked into.
func IsStats(ctx context.Context, path string, opt FetchOptions) bool {
	head := make([]byte, len(statsMagic))
	if place.IsURL(path) {
		return objectIsStats(ctx, path, opt, head)
	}
	path, err := place.Local(path)
	if err != nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == statsMagic
}

func objectIsStats(ctx context.Context, path string, opt FetchOptions, head []byte) bool {
	l, err := store.Parse(path)
	if err != nil {
		return false
	}
	if _, glob := l.Glob(); glob || l.Key == "" || strings.HasSuffix(l.Key, "/") {
		return false
	}
	switch ending := strings.ToLower(place.Ext(path)); {
	case ending == ".ufs":
		return true
	case slices.Contains(dataEndings, ending):
		return false
	}
	client := opt.client()
	o, err := client.Stat(ctx, l)
	if err != nil || o.Size < int64(len(head)) {
		return false
	}
	return client.Read(ctx, o, head, 0) == nil && string(head) == statsMagic
}

// OpenStats opens the container at path and verifies it: one pass over the compressed
// bytes, at the speed of the disk. An object is downloaded to a temporary file first, once.
// Errors are *stream.DataError.
func OpenStats(ctx context.Context, path string, opt FetchOptions) (*StatsReader, error) {
	f, err := Fetch(ctx, path, opt)
	if err != nil {
		if !place.IsURL(path) {
			err = stream.Errorf("cannot be opened: %w", err)
		}
		return nil, fetchError(path, err, stream.Textf("check the path and its permissions"))
	}
	path = place.Name(path)
	fi, err := f.Stat()
	if err == nil {
		var s *StatsReader
		if s, err = readStats(path, f, fi.Size()); err == nil {
			s.closer = f
			return s, nil
		}
	}
	f.Close()
	return nil, statsError(path, err)
}

// Path is where the container is, as people may see it.
func (s *StatsReader) Path() string { return s.path }

// Digest tells the container from others: equal contents have equal ones.
func (s *StatsReader) Digest() string { return formatPrint(s.digest) }

var (
	errStatsMagic = errors.New("not a statistics file (it does not begin with \"" + statsMagic + "\")")
	errStatsNewer = errors.New("written by a newer program")
)

// statsError places err and says what to do.
func statsError(path string, err error) error {
	remedy := "the file is damaged or incomplete: scan again"
	switch {
	case errors.Is(err, errStatsMagic):
		remedy = "give a file written by scan or merge"
	case errors.Is(err, errStatsNewer):
		remedy = "update ufs-stream, or scan again with this version"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends early")
	}
	return &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.PlainText(remedy)}
}

// readStats parses and verifies a container of size bytes.
func readStats(path string, file io.ReaderAt, size int64) (*StatsReader, error) {
	s := &StatsReader{path: path, file: file}
	c := newStatsCursor(file, size)
	if err := s.readHeader(c); err != nil {
		return nil, err
	}
	for {
		kind, err := c.take(1)
		if err != nil {
			return nil, err
		}
		if kind[0] == statsEnd {
			break
		}
		if kind[0] != statsSection {
			return nil, fmt.Errorf("no section at byte %d", size-c.left-1)
		}
		if err := s.readSection(c, size); err != nil {
			return nil, err
		}
	}
	want := c.sum.Sum64()
	got, err := c.take(8)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(got) != want {
		return nil, errors.New("the checksum is wrong")
	}
	s.digest = want
	if c.left != 0 {
		return nil, fmt.Errorf("%d bytes follow the end", c.left)
	}
	return s, nil
}

func (s *StatsReader) readHeader(c *statsCursor) error {
	// A file shorter than the magic is not ours, rather than cut short.
	if head, err := c.take(min(c.left, int64(len(statsMagic)))); err != nil {
		return err
	} else if string(head) != statsMagic {
		return errStatsMagic
	}
	head, err := c.take(8)
	if err != nil {
		return err
	}
	if v := binary.LittleEndian.Uint32(head); v > statsVersion {
		return fmt.Errorf("%w: format version %d, this one reads %d", errStatsNewer, v, statsVersion)
	} else if v != statsVersion {
		return fmt.Errorf("unknown format version %d", v)
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	if length > maxStatsHeader {
		return fmt.Errorf("a header of %d bytes, at most %d are possible", length, maxStatsHeader)
	}
	header, err := c.take(length)
	if err != nil {
		return err
	}
	header = bytes.Clone(header)
	check, err := c.take(8)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(check) != xxhash.Sum64(header) {
		return errors.New("the header's checksum is wrong")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if err := d.Decode(&s.Header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

// readSection passes over one section and notes where it is.
func (s *StatsReader) readSection(c *statsCursor, size int64) error {
	b, err := c.take(1)
	if err != nil {
		return err
	}
	name, err := c.take(int64(b[0]))
	if err != nil {
		return err
	}
	e := statsExtent{name: string(name), offset: size - c.left}
	if e.name == "" || s.extent(e.name) != nil {
		return fmt.Errorf("section name %q is empty or repeated", e.name)
	}
	var blocks uint64
	for ; ; blocks++ {
		b, err := c.take(4)
		if err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(b))
		if n == 0 {
			break
		}
		if n > maxPackedBlock {
			return fmt.Errorf("section %q: a block of %d bytes, at most %d are possible", e.name, n, maxPackedBlock)
		}
		if _, err := c.take(n); err != nil {
			return err
		}
	}
	e.size = size - c.left - 4 - e.offset
	end, err := c.take(16)
	if err != nil {
		return err
	}
	e.length, e.check = binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint64(end[8:])
	if e.length > blocks*statsBlock || e.length+statsBlock <= blocks*statsBlock { // all but the last are full
		return fmt.Errorf("section %q: %d bytes in %d blocks", e.name, e.length, blocks)
	}
	s.sections = append(s.sections, e)
	return nil
}

// statsCursor takes bytes off the front of a container and keeps the running checksum.
type statsCursor struct {
	r    io.Reader
	sum  *xxhash.Digest
	left int64 // bytes of the file not taken yet
	buf  []byte
}

func newStatsCursor(file io.ReaderAt, size int64) *statsCursor {
	return &statsCursor{r: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16), sum: xxhash.New(), left: size}
}

// take returns the next n bytes, lent until the next call.
func (c *statsCursor) take(n int64) ([]byte, error) {
	if n > c.left {
		return nil, io.ErrUnexpectedEOF
	}
	if int64(cap(c.buf)) < n {
		c.buf = make([]byte, n)
	}
	b := c.buf[:n]
	if _, err := io.ReadFull(c.r, b); err != nil {
		return nil, err
	}
	c.left -= n
	c.sum.Write(b)
	return b, nil
}

func (s *StatsReader) extent(name string) *statsExtent {
	if i := slices.IndexFunc(s.sections, func(e statsExtent) bool { return e.name == name }); i >= 0 {
		return &s.sections[i]
	}
	return nil
}

// Has reports whether there is a section of that name.
func (s *StatsReader) Has(name string) bool { return s.extent(name) != nil }

// Close closes the file; section readers end with it.
func (s *StatsReader) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
