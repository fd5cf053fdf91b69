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
)

// wholeChunk is the largest column chunk that is read in one go; larger ones are read
// page by page. readAhead is then what a page header brings along.
const (
	wholeChunk = 8 << 20
	readAhead  = 64 << 10
)

// ChunkInfo is where one column chunk stands and what the footer says it holds.
type ChunkInfo struct {
	at, Size     int64 // bytes of the chunk in the file, dictionary page included
	Uncompressed int64 // bytes of its pages in memory
	Values       int64 // entries, nulls and empty lists included
	codec        compress.Compression
}

// window reads a range of the input through one reused buffer.
type window struct {
	in      format.Input
	buf     *[]byte // backing memory, borrowed from the scratch
	unread  []byte  // bytes at position at, a part of *buf
	at, end int64
	ahead   int // bytes to read at least, where there are as many
	reading *time.Duration
}

// peek returns the next n bytes, or as many as the range still has. They are lent
// until the next call.
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

// advance moves n bytes on, whether they have been read or not.
func (w *window) advance(n int64) {
	w.unread = w.unread[min(n, int64(len(w.unread))):]
	w.at += n
}

// page is one decompressed data page, cut into its sections.
type page struct {
	header   PageHeader
	first    int64  // entries of the chunk before this page
	rows     int    // rows that start in this page
	present  int    // entries that are not null
	raw      []byte // all sections
	rep, def []byte // levels as hybrid runs; nil where the column has none
	values   []byte // encoded values, `present` of them
}

// pages walks the pages of one column chunk in file order. Every size is checked
// against the chunk's own and against the bytes there are before anything is
// allocated for it. It reuses the memory of the scratch and allocates nothing a page.
type pages struct {
	info ChunkInfo
	col  *column
	buf  *scratch
	win  window
	seen int64 // entries before the page at the window's start

	header   PageHeader // of the page at the window's start, after next
	headerAt int64      // where that header stands
	dict     []byte     // values of the dictionary page
	dictSize int        // distinct values; -1 until there was a dictionary page
	// uncounted is the bytes of the dictionary page's header: parquet-mr before 1.2.9 left them out of
	// total_compressed_size (PARQUET-816), so that the last page reaches behind the chunk's end.
	uncounted int64
	packed    bool // footer.packed
	fresh     bool // do not reuse memory between pages: the values are lent for long
	page      page
}

func newPages(in format.Input, info ChunkInfo, col *column, buf *scratch) pages {
	p := pages{info: info, col: col, buf: buf, dictSize: -1}
	p.win = window{in: in, buf: &buf.read, at: info.at, end: info.at + info.Size, ahead: readAhead, reading: &buf.reading}
	if info.Size <= wholeChunk {
		p.win.ahead = int(info.Size)
	}
	p.win.unread = buf.stretch.of(info)
	return p
}

// pages starts with the chunk of a column in group g.
func (f *File) pages(g int, col *column, buf *scratch) pages {
	p := newPages(f.in, f.Chunk(g, col.index), col, buf)
	p.packed = f.foot.packed
	return p
}

// maxHeader bounds a page header. It is large only through the smallest and largest
// value in its statistics.
const maxHeader = 16 << 20

// next moves to the header of the next data page, taking in a dictionary page and
// passing over index pages; false after the chunk's last value. The caller then calls
// load or pass.
func (p *pages) next() (bool, error) {
	for p.seen < p.info.Values {
		if err := p.readHeader(); err != nil {
			return false, err
		}
		switch p.header.Kind {
		case DataPage, dataPageV2:
			if left := p.info.Values - p.seen; int64(p.header.Values) > left {
				return false, fmt.Errorf("data page of %d values where the footer leaves %d", p.header.Values, left)
			}
			return true, nil
		case DictionaryPage:
			if err := p.loadDictionary(); err != nil {
				return false, err
			}
		default:
			p.pass()
		}
	}
	return false, nil
}

// maxUncounted is what such a header takes at most.
const maxUncounted = 100

func (p *pages) readHeader() error {
	p.headerAt = p.win.at
	if p.win.at == p.win.end {
		return fmt.Errorf("column chunk ends after %d of %d values", p.seen, p.info.Values)
	}
	for size := 1 << 10; ; size *= 4 {
		b, err := p.win.peek(size)
		if err != nil {
			return err
		}
		h, n, err := ParsePageHeader(b)
		if errors.Is(err, errShort) && len(b) == size && size < maxHeader {
			continue
		}
		if err != nil {
			return fmt.Errorf("at offset %d: %w", p.headerAt, err)
		}
		p.win.advance(int64(n))
		if p.header = h; h.Kind == DictionaryPage && n <= maxUncounted {
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
	if most := int64(p.header.Compressed)*expansion(p.info.codec) + headOfPage; int64(p.header.Uncompressed) > most {
		return fmt.Errorf("page at offset %d claims %d bytes of data, which %d compressed bytes cannot hold", p.headerAt, p.header.Uncompressed, p.header.Compressed)
	}
	if int64(p.header.Uncompressed) > p.info.Uncompressed {
		return fmt.Errorf("page at offset %d claims %d bytes of data where the footer gives the whole column chunk %d; one of them is wrong",
			p.headerAt, p.header.Uncompressed, p.info.Uncompressed)
	}
	return nil
}

// pass goes behind the current page without reading it.
func (p *pages) pass() {
	p.win.advance(int64(p.header.Compressed))
	if p.header.Kind != DictionaryPage && p.header.Kind != indexPage {
		p.seen += int64(p.header.Values)
	}
}

// payload decompresses the current page into *into and goes behind it.
func (p *pages) payload(into *[]byte) ([]byte, error) {
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
	if p.fresh {
		into = new([]byte)
	}
	out := grow(into, h.Uncompressed)
	levels := 0
	kind := p.info.codec
	if h.Kind == dataPageV2 { // levels stand in front of the values, never compressed
		levels = h.defBytes + h.repBytes
		if levels > len(packed) || levels > len(out) {
			return nil, fmt.Errorf("page at offset %d: levels of %d bytes in a page of %d", p.headerAt, levels, len(packed))
		}
		copy(out, packed[:levels])
		if h.plain && !p.packed {
			kind = compress.Codecs.Uncompressed
		}
	}
	if levels < len(out) || levels < len(packed) { // writers leave out compressing nothing
		if err := p.buf.codec.decompress(kind, out[levels:], packed[levels:]); err != nil {
			return nil, fmt.Errorf("page at offset %d: %w", p.headerAt, err)
		}
	}
	p.win.advance(int64(h.Compressed))
	return out, nil
}

func (p *pages) loadDictionary() error {
	if p.dictSize >= 0 {
		return errors.New("column chunk has two dictionaries")
	}
	b, err := p.payload(&p.buf.dict)
	if err != nil {
		return err
	}
	p.dict, p.dictSize = b, p.header.Values
	return checkDictionary(p.col, p.header, b)
}

// load decompresses the current data page into p.page and checks it, so that the
// decoding library can neither read behind its sections, nor wait for values that
// do not come, nor allocate more than the page's own size.
func (p *pages) load() error {
	h := p.header
	first := p.seen
	raw, err := p.payload(&p.buf.page)
	if err != nil {
		return err
	}
	p.seen += int64(h.Values)
	p.page = page{header: h, first: first, raw: raw}
	if err = p.page.split(p.col); err == nil {
		err = p.page.check(p.col, p.dictSize)
	}
	switch {
	case err != nil:
	case h.Encoding == byteStreamSplit:
		p.page.join(p.col.size, &p.buf.joined)
	case h.Encoding == parquet.Encodings.DeltaByteArray && p.col.physical == parquet.Types.FixedLenByteArray:
		if p.fresh {
			p.buf.joined = nil
		}
		err = p.page.unshare(p.col.size, p.info.Uncompressed, &p.buf.joined)
	}
	if err != nil {
		return fmt.Errorf("page at offset %d: %w", p.headerAt, err)
	}
	return nil
}

// split finds the levels and the values in the raw page.
func (p *page) split(col *column) error {
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
