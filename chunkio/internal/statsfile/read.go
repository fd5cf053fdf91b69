package statsfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StatsReader reads a statistics container. OpenStats has verified the whole file, so a section can be used while it is
// read. The section's own checksum is verified at its end.
type StatsReader struct {
	Header StatsHeader

	path        string
	file        io.ReaderAt
	closer      io.Closer
	digest      uint64
	headerCheck uint64     // digest of the header's bytes
	headerKnown bool       // the header was read before, and is not decoded again
	like        *StatsHead // a header that may have the same lists; nil if there is none
	memory      int64      // limit for the header; 0 means no limit
	heldBytes   int64      // bytes of memory held so far by the decoded header
	tookBytes   int64      // the most bytes of memory used to read the header
	lists       rawLists
	sections    []statsExtent
	prefix      string // of the names of the sections
}

// statsExtent is the position of a section's blocks in a container.
type statsExtent struct {
	name             string
	offset, size     int64  // of the compressed blocks with the length before each, without the 0 after the last block
	length, checksum uint64 // of the uncompressed bytes
}

// IsStats implements chunkio.IsStats: it reports whether the file at path begins like a statistics container.
func IsStats(ctx context.Context, path string, opt storage.FetchOptions) bool {
	head := make([]byte, len(statsMagic))
	if place.IsURL(path) {
		return isStatsObject(ctx, path, opt, head)
	}
	path, err := place.LocalPath(path)
	if err != nil {
		return false
	}
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return false // opening a pipe would wait for its writer, and consume its bytes
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == statsMagic
}

func isStatsObject(ctx context.Context, path string, opt storage.FetchOptions, head []byte) bool {
	l, err := store.Parse(path)
	if err != nil {
		return false
	}
	if _, glob := l.GlobPrefix(); glob || l.Key == "" || strings.HasSuffix(l.Key, "/") {
		return false
	}
	switch ending := strings.ToLower(place.Ext(path)); {
	case ending == ".ufs":
		return true
	case slices.Contains(listing.DataEndings(), ending):
		return false
	}
	client := storage.NewClient(opt)
	o, err := client.Stat(ctx, l)
	if err != nil || o.Size < int64(len(head)) {
		return false
	}
	return client.Read(ctx, o, head, 0) == nil && string(head) == statsMagic
}

// OpenStats implements chunkio.OpenStats: it opens the container at path and verifies it.
func OpenStats(ctx context.Context, path string, opt storage.FetchOptions) (*StatsReader, error) {
	return openAndReadStats(ctx, path, opt, func(path string, file io.ReaderAt, size int64) (*StatsReader, error) {
		return readStats(ctx, path, file, size, opt.Memory)
	})
}

// OpenStatsAs implements chunkio.OpenStatsAs: it opens the container at path whose header was read before
// (ReadStatsHead), and uses head.Header without decoding it again; head.Check detects a replaced file.
func OpenStatsAs(ctx context.Context, path string, head StatsHead, opt storage.FetchOptions) (*StatsReader, error) {
	return openAndReadStats(ctx, path, opt, func(path string, file io.ReaderAt, size int64) (*StatsReader, error) {
		s := &StatsReader{Header: head.Header, path: path, file: file, headerCheck: head.Check, headerKnown: true}
		return s, s.findSections(ctx, size)
	})
}

func openAndReadStats(ctx context.Context, path string, opt storage.FetchOptions, read func(path string, file io.ReaderAt, size int64) (*StatsReader, error)) (*StatsReader, error) {
	f, err := storage.FetchFile(ctx, path, opt)
	if err != nil {
		if errors.Is(err, syscall.EISDIR) {
			return nil, errStats(path, err)
		}
		if !place.IsURL(path) {
			err = stream.Errorf("cannot be opened: %w", err)
		}
		return nil, storage.ErrFetch(path, err, stream.Textf("check the path and its permissions"))
	}
	path = place.DisplayName(path)
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errStatsPipe
	}
	if err == nil {
		var s *StatsReader
		if s, err = read(path, f, fi.Size()); err == nil {
			s.closer = f
			return s, nil
		}
	}
	f.Close()
	return nil, errStats(path, err)
}

// DamagedStats implements chunkio.DamagedStats: it returns the error, with a remedy, of a container at path whose
// contents are wrong even if its checksums are right.
func DamagedStats(path, format string, args ...any) error {
	return errStats(path, stream.Errorf(format, args...))
}

// Path returns the path or URL of the container in the form for messages.
func (s *StatsReader) Path() string { return s.path }

// Digest identifies the container: equal contents have equal digests.
func (s *StatsReader) Digest() string { return storage.FormatFingerprint(s.digest) }

var (
	errStatsMagic = errors.New("not a statistics file (it does not begin with \"" + statsMagic + "\")")

	errStatsNewer = errors.New("written by a newer program")

	errStatsPipe = errors.New("this is a pipe, and statistics are not read from front to back")

	// errStatsChanged reports that a file has another header than before.
	errStatsChanged = errors.New("it was replaced while it was read")
)

func errStats(path string, err error) error {
	if errors.As(err, new(*stream.MemoryError)) || errors.Is(err, context.Canceled) {
		return err
	}
	remedy := "the file is damaged or incomplete: remove it, and scan or merge again"
	switch {
	case errors.Is(err, errStatsMagic):
		remedy = "give a file written by scan or merge"
	case errors.Is(err, errStatsNewer):
		remedy = "update ufs-stream, or scan again with this version"
	case errors.Is(err, errStatsPipe):
		remedy = "save them to a file first"
	case errors.Is(err, errStatsChanged):
		remedy = "run this again once nobody writes there"
	case errors.Is(err, syscall.EISDIR):
		err, remedy = errors.New("this is a folder"), "name a statistics file; merge adds up those in a folder"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends early")
	}
	return &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.PlainText(remedy)}
}

func readStats(ctx context.Context, path string, file io.ReaderAt, size, memory int64) (*StatsReader, error) {
	s := &StatsReader{path: path, file: file, memory: memory}
	c := newStatsCursor(file, size)
	if err := s.readHeader(ctx, c); err != nil {
		return nil, err
	}
	for {
		kind, err := c.readNext(1)
		if err != nil {
			return nil, err
		}
		if kind[0] == statsEnd {
			break
		}
		if kind[0] != statsSection {
			return nil, fmt.Errorf("no section at byte %d", size-c.bytesLeft-1)
		}
		if err := s.readSection(c, size); err != nil {
			return nil, err
		}
	}
	want := c.sum.Sum64()
	got, err := c.readNext(8)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(got) != want {
		return nil, errors.New("the checksum is wrong")
	}
	s.digest = want
	if c.bytesLeft != 0 {
		return nil, fmt.Errorf("%d bytes follow the end", c.bytesLeft)
	}
	return s, nil
}

func (s *StatsReader) readHeader(ctx context.Context, c *statsCursor) error {
	// A file shorter than the magic counts as a file of another kind, not as a statistics file that was cut short.
	if head, err := c.readNext(min(c.bytesLeft, int64(len(statsMagic)))); err != nil {
		return err
	} else if string(head) != statsMagic {
		return errStatsMagic
	}
	head, err := c.readNext(8)
	if err != nil {
		return err
	}
	if v := binary.LittleEndian.Uint32(head); v > statsVersion {
		return fmt.Errorf("%w: format version %d, this one reads %d", errStatsNewer, v, statsVersion)
	} else if v != statsVersion {
		return fmt.Errorf("unknown format version %d", v)
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	if length > MaxStatsHeader {
		return fmt.Errorf("a header of %d bytes, at most %d are possible", length, MaxStatsHeader)
	}
	if s.memory > 0 && length > s.memory {
		return &stream.MemoryError{What: "the header of " + s.path, Need: length, Limit: s.memory, AtLeast: true} // the decoded header needs more
	}
	header, err := c.readNext(length)
	if err != nil {
		return err
	}
	c.buf = nil // header refers to the buffer
	check, err := c.readNext(8)
	if err != nil {
		return err
	}
	got := xxhash.Sum64(header)
	if binary.LittleEndian.Uint64(check) != got {
		return errors.New("the header's checksum is wrong")
	}
	if s.headerKnown && got != s.headerCheck {
		return errStatsChanged
	}
	if s.headerKnown {
		return nil
	}
	s.headerCheck = got
	if err := s.decodeHeader(ctx, header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

// readSection records the position of one section and skips the section.
func (s *StatsReader) readSection(c *statsCursor, size int64) error {
	b, err := c.readNext(1)
	if err != nil {
		return err
	}
	name, err := c.readNext(int64(b[0]))
	if err != nil {
		return err
	}
	e := statsExtent{name: string(name), offset: size - c.bytesLeft}
	if e.name == "" || s.findSectionExtent(e.name) != nil {
		return fmt.Errorf("section name %q is empty or repeated", e.name)
	}
	var blocks uint64
	for ; ; blocks++ {
		b, err := c.readNext(4)
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
		if err := c.skipNext(n); err != nil {
			return err
		}
	}
	e.size = size - c.bytesLeft - 4 - e.offset
	end, err := c.readNext(16)
	if err != nil {
		return err
	}
	e.length, e.checksum = binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint64(end[8:])
	if e.length > blocks*statsBlock || e.length+statsBlock <= blocks*statsBlock { // all blocks but the last are full
		return fmt.Errorf("section %q: %d bytes in %d blocks", e.name, e.length, blocks)
	}
	s.sections = append(s.sections, e)
	return nil
}

// findSections records the positions of the sections of a container whose header was read before. It moves from block
// to block by their lengths, without reading the blocks.
func (s *StatsReader) findSections(ctx context.Context, size int64) error {
	c := newStatsCursor(s.file, size)
	if err := s.readHeader(ctx, c); err != nil {
		return err
	}
	// Nearly all bytes after the header are skipped. Therefore the file is read without a buffer, and no checksum is
	// computed.
	at := size - c.bytesLeft
	skip := &statsCursor{r: io.NewSectionReader(s.file, at, c.bytesLeft), bytesLeft: c.bytesLeft}
	for {
		kind, err := skip.readNext(1)
		switch {
		case err != nil:
			return err
		case kind[0] == statsEnd && skip.bytesLeft == 8:
			return nil
		case kind[0] == statsEnd && skip.bytesLeft < 8:
			return io.ErrUnexpectedEOF
		case kind[0] != statsSection:
			return fmt.Errorf("no section at byte %d", size-skip.bytesLeft-1)
		}
		if err := s.readSection(skip, size); err != nil {
			return err
		}
	}
}

// statsCursor reads a container from the front and keeps the running checksum.
type statsCursor struct {
	r         io.Reader
	sum       *xxhash.Digest // nil if nothing is verified
	bytesLeft int64          // bytes of the file not read yet
	buf       []byte
}

func newStatsCursor(file io.ReaderAt, size int64) *statsCursor {
	return &statsCursor{r: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16), sum: xxhash.New(), bytesLeft: size}
}

// readNext returns the next n bytes, which are valid until the next call.
func (c *statsCursor) readNext(n int64) ([]byte, error) {
	if n > c.bytesLeft {
		return nil, io.ErrUnexpectedEOF
	}
	if int64(cap(c.buf)) < n {
		c.buf = make([]byte, n)
	}
	b := c.buf[:n]
	if _, err := io.ReadFull(c.r, b); err != nil {
		return nil, err
	}
	c.bytesLeft -= n
	if c.sum != nil {
		c.sum.Write(b)
	}
	return b, nil
}

// skipNext skips the next n bytes: it reads them only to verify them.
func (c *statsCursor) skipNext(n int64) error {
	seeker, ok := c.r.(io.Seeker)
	if !ok || c.sum != nil {
		_, err := c.readNext(n)
		return err
	}
	if n > c.bytesLeft {
		return io.ErrUnexpectedEOF
	}
	c.bytesLeft -= n
	_, err := seeker.Seek(n, io.SeekCurrent)
	return err
}

func (s *StatsReader) findSectionExtent(section string) *statsExtent {
	if i := slices.IndexFunc(s.sections, func(e statsExtent) bool { return e.name == s.prefix+section }); i >= 0 {
		return &s.sections[i]
	}
	return nil
}

// Has reports whether there is a section of that name.
func (s *StatsReader) Has(name string) bool { return s.findSectionExtent(name) != nil }

// Losses returns a reader of the statistics of the rows that the table has lost. It needs no closing.
func (s *StatsReader) Losses() *StatsReader {
	lost := *s
	lost.prefix, lost.closer = LossesPrefix, nil
	return &lost
}

// Close closes the file. Readers of its sections cannot be used afterwards.
func (s *StatsReader) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
