package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// maxWholeChunk is the size of the largest column chunk that is read at once; larger chunks are read page by page. For
// these, at least readAhead bytes are read together with a page header.
const (
	maxWholeChunk = 8 << 20
	readAhead     = 64 << 10
)

// window reads a range of the input through one reused buffer.
type window struct {
	in      format.Input
	buf     *[]byte        // backing memory, borrowed from the scratch
	unread  []byte         // bytes from position at on, a part of *buf
	at, end int64          // position in the input, and end of the range
	ahead   int            // least number of bytes to read at once, up to the end of the range
	reading *time.Duration // receives the time of reading
}

// peek returns the next n bytes, or fewer at the end of the range. They are valid until the next call.
func (w *window) peek(n int) ([]byte, error) {
	n = int(min(int64(n), w.end-w.at))
	if n <= len(w.unread) {
		return w.unread[:n], nil
	}
	size := int(min(int64(max(n, w.ahead)), w.end-w.at))
	if cap(*w.buf) < size {
		next := make([]byte, size)
		copy(next, w.unread)
		*w.buf = next
	} else {
		*w.buf = (*w.buf)[:size]
		copy(*w.buf, w.unread)
	}
	have := len(w.unread)
	w.unread = (*w.buf)[:size]
	start := time.Now()
	defer func() { *w.reading += time.Since(start) }()
	if err := format.ReadAt(w.in, w.unread[have:], w.at+int64(have)); err != nil {
		w.unread = nil
		return nil, err
	}
	return w.unread[:n], nil
}

func (w *window) advanceBytes(bytes int64) {
	w.unread = w.unread[min(bytes, int64(len(w.unread))):]
	w.at += bytes
}

// page is one decompressed data page, split into its sections.
type page struct {
	header        PageHeader
	entriesBefore int64  // entries of the chunk before this page
	rows          int    // rows that start in this page
	present       int    // entries that are not null
	raw           []byte // all sections
	rep, def      []byte // levels as hybrid runs; nil if the column has none
	values        []byte // encoded values of the present entries
}

// pageWalker visits the pages of one column chunk in the order of the file. Every size in a page header is checked
// against the size of the chunk and the available bytes before memory is allocated. It uses the memory of the scratch,
// so that pages need no allocation of their own.
type pageWalker struct {
	info          footer.ChunkInfo
	col           *column
	buf           *scratch
	win           window
	entriesBefore int64 // entries before the page at the start of the window

	header   PageHeader // header of the page at the start of the window, after nextDataPage
	headerAt int64      // offset of that header
	dict     []byte     // values of the dictionary page
	dictSize int        // number of distinct values; -1 before a dictionary page is loaded
	// uncounted is the length of the dictionary page's header: parquet-mr before 1.2.9 left it out of
	// total_compressed_size (PARQUET-816), so the last page extends past the chunk's end.
	uncounted    int64
	v2Compressed bool // pages of version 2 are compressed, even if their headers deny it
	freshMemory  bool // do not reuse memory between pages: the caller keeps the values
	page         page
}

func newPageWalker(in format.Input, info footer.ChunkInfo, col *column, buffers *scratch) pageWalker {
	p := pageWalker{info: info, col: col, buf: buffers, dictSize: -1}
	if info.Constant != nil {
		in = info.Constant.PagesOf(in, info.Values)
	}
	p.win = window{in: in, buf: &buffers.compressed, at: info.At, end: info.At + info.Size, ahead: readAhead, reading: &buffers.reading}
	if info.Size <= maxWholeChunk {
		p.win.ahead = int(info.Size)
	}
	if info.Constant == nil {
		p.win.unread = buffers.stretch.chunkBytes(info)
	}
	return p
}

func newChunkWalker(f *File, groupIndex int, col *column, buffers *scratch) pageWalker {
	p := newPageWalker(f.in, f.Chunk(groupIndex, col.index), col, buffers)
	p.v2Compressed = f.footer.V2Compressed
	return p
}

// maxHeader limits the size of a page header. Only the smallest and largest value in its statistics can make a header
// large.
const maxHeader = 16 << 20

// nextDataPage moves to the header of the next data page, loading a dictionary page and skipping index pages. It
// returns false after the last value of the chunk. The caller then calls loadPage or skipPage.
func (p *pageWalker) nextDataPage() (bool, error) {
	for p.entriesBefore < p.info.Values {
		if err := p.readPageHeader(); err != nil {
			return false, err
		}
		switch p.header.Kind {
		case DataPage, dataPageV2:
			if left := p.info.Values - p.entriesBefore; int64(p.header.Values) > left {
				return false, fmt.Errorf("data page of %d values where the footer leaves %d", p.header.Values, left)
			}
			return true, nil
		case DictionaryPage:
			if err := p.loadDictionary(); err != nil {
				return false, err
			}
		default:
			p.skipPage()
		}
	}
	return false, nil
}

// maxUncountedHeader is the greatest length of a dictionary page header that is missing from total_compressed_size.
const maxUncountedHeader = 100

func (p *pageWalker) readPageHeader() error {
	p.headerAt = p.win.at
	if p.win.at == p.win.end {
		return fmt.Errorf("column chunk ends after %d of %d values", p.entriesBefore, p.info.Values)
	}
	for size := 1 << 10; ; size *= 4 {
		b, err := p.win.peek(size)
		if err != nil {
			return err
		}
		h, n, err := ParsePageHeader(b)
		if errors.Is(err, thrift.ErrShort) && len(b) == size && size < maxHeader {
			continue
		}
		if err != nil {
			return fmt.Errorf("at offset %d: %w", p.headerAt, err)
		}
		p.win.advanceBytes(int64(n))
		if p.header = h; h.Kind == DictionaryPage && n <= maxUncountedHeader {
			p.uncounted = int64(n)
		}
		break
	}
	left := p.win.end - p.win.at
	if missing := int64(p.header.Compressed) - left; 0 < missing && missing <= p.uncounted {
		p.win.end += missing
		p.uncounted, left = 0, left+missing
	}
	if int64(p.header.Compressed) > left {
		return fmt.Errorf("page at offset %d claims %d bytes where the column chunk has %d", p.headerAt, p.header.Compressed, left)
	}
	if maxBytes := int64(p.header.Compressed)*maxExpansion(p.info.Codec) + expansionSlack; int64(p.header.Uncompressed) > maxBytes {
		return fmt.Errorf("page at offset %d claims %d bytes of data, which %d compressed bytes cannot hold", p.headerAt, p.header.Uncompressed, p.header.Compressed)
	}
	if int64(p.header.Uncompressed) > p.info.Uncompressed {
		return fmt.Errorf("page at offset %d claims %d bytes of data where the footer gives the whole column chunk %d; one of them is wrong",
			p.headerAt, p.header.Uncompressed, p.info.Uncompressed)
	}
	return nil
}

func (p *pageWalker) skipPage() {
	p.win.advanceBytes(int64(p.header.Compressed))
	if p.header.Kind != DictionaryPage && p.header.Kind != indexPage {
		p.entriesBefore += int64(p.header.Values)
	}
}

// readPayload decompresses the current page into *into and moves past the page.
func (p *pageWalker) readPayload(into *[]byte) ([]byte, error) {
	h := p.header
	packed, err := p.win.peek(h.Compressed)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	defer func() { p.buf.reading += time.Since(start) }()
	if h.HasCRC && crc32.ChecksumIEEE(packed) != h.CRC {
		return nil, fmt.Errorf("page at offset %d: checksum does not match", p.headerAt)
	}
	if p.freshMemory {
		into = new([]byte)
	}
	out := resizeBuffer(into, h.Uncompressed)
	levels := 0
	kind := p.info.Codec
	if h.Kind == dataPageV2 { // in version 2, levels precede the values and are never compressed
		levels = h.defBytes + h.repBytes
		if levels > len(packed) || levels > len(out) {
			return nil, fmt.Errorf("page at offset %d: levels of %d bytes in a page of %d", p.headerAt, levels, len(packed))
		}
		copy(out, packed[:levels])
		if h.plain && !p.v2Compressed {
			kind = compress.Codecs.Uncompressed
		}
	}
	if levels < len(out) || levels < len(packed) { // writers do not compress an empty section of values
		if err := p.buf.codec.decompressBlock(kind, out[levels:], packed[levels:]); err != nil {
			return nil, fmt.Errorf("page at offset %d: %w", p.headerAt, err)
		}
	}
	p.win.advanceBytes(int64(h.Compressed))
	return out, nil
}

func (p *pageWalker) loadDictionary() error {
	if p.dictSize >= 0 {
		return errors.New("column chunk has two dictionaries")
	}
	b, err := p.readPayload(&p.buf.dict)
	if err != nil {
		return err
	}
	p.dict, p.dictSize = b, p.header.Values
	return checkDictionary(p.col, p.header, b)
}

// loadPage decompresses the current data page into p.page and checks it. After these checks the library can neither
// read past the sections of the page, nor wait for missing values, nor allocate more memory than the size of the page.
func (p *pageWalker) loadPage() error {
	h := p.header
	first := p.entriesBefore
	raw, err := p.readPayload(&p.buf.page)
	if err != nil {
		return err
	}
	p.entriesBefore += int64(h.Values)
	p.page = page{header: h, entriesBefore: first, raw: raw}
	if err = p.page.splitSections(p.col); err == nil {
		err = p.page.checkSections(p.col, p.dictSize)
	}
	switch {
	case err != nil:
	case h.Encoding == byteStreamSplit:
		joinSplitBytes(&p.page, p.col.size, &p.buf.joined)
	case h.Encoding == parquet.Encodings.DeltaByteArray && p.col.physical == parquet.Types.FixedLenByteArray:
		if p.freshMemory {
			p.buf.joined = nil
		}
		err = expandSharedPrefixes(&p.page, p.col.size, p.info.Uncompressed, &p.buf.joined)
	}
	if err != nil {
		return fmt.Errorf("page at offset %d: %w", p.headerAt, err)
	}
	return nil
}

func (p *page) splitSections(col *column) error {
	if h := p.header; h.Kind == dataPageV2 {
		levels := h.repBytes + h.defBytes
		p.rep, p.def, p.values = p.raw[:h.repBytes], p.raw[h.repBytes:levels], p.raw[levels:]
		return nil
	}
	p.values = p.raw
	section := func(encoding parquet.Encoding) ([]byte, error) {
		if encoding != parquet.Encodings.RLE {
			return nil, fmt.Errorf("levels are encoded %s, which cannot be decoded", encodingName(encoding))
		}
		if len(p.values) < 4 {
			return nil, errors.New("page ends inside its levels")
		}
		n := binary.LittleEndian.Uint32(p.values)
		if uint64(n) > uint64(len(p.values)-4) {
			return nil, fmt.Errorf("levels claim %d bytes in a page of %d", n, len(p.raw))
		}
		s := p.values[4 : 4+n]
		p.values = p.values[4+n:]
		return s, nil
	}
	var err error
	if col.rep > 0 {
		if p.rep, err = section(p.header.RepLevels); err != nil {
			return err
		}
	}
	if col.def > 0 {
		p.def, err = section(p.header.DefLevels)
	}
	return err
}
