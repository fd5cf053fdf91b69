package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Where the footer may be wrong, the pages are asked at once: what their headers say, and how the
// lists of the first page begin. Damage that comes up is the error of who reads the column; an error of the
// input, which would hide what the pages say, is one at once.

// survey corrects what the footer says of a column chunk by the headers of its pages, where it lists no
// encoding, or one that cannot be decoded, which perhaps no page has, and where its size in memory is to be
// doubted. What memory is planned by is then the sum over the pages, each of which its bytes bound.
func (f *File) survey(g, i int, doubt *sizeDoubt) error {
	m, col := &f.foot.groups[g].chunks[i], newColumn(f.foot.schema, i)
	if m.codec == compress.Codecs.Uncompressed {
		m.Uncompressed = m.Size // pages stand as they are
	}
	doubted, err := doubt.of(f, g, i, &col)
	if err != nil {
		return err
	}
	if m.Values > 0 && (doubted || m.encodings == 0 || !col.decodesAll(m.encodings)) {
		total, seen := int64(0), encodingSet(0)
		damaged, err := f.pageHeaders(g, i, func(h PageHeader, bytes int64) bool {
			total = min(total+bytes+int64(h.Uncompressed), maxChunk)
			if h.Kind == DataPage || h.Kind == dataPageV2 {
				seen.add(int64(h.Encoding))
			}
			return col.decodesAll(seen) // else nobody will read it
		})
		if err != nil {
			return err
		}
		if m.Uncompressed = total; !damaged {
			m.encodings = seen
		}
	}
	if col.physical == parquet.Types.FixedLenByteArray && m.encodings.has(parquet.Encodings.DeltaByteArray) {
		plain := int64(maxChunk)
		if m.Values < maxChunk/int64(max(col.size, 1)) {
			plain = m.Values * int64(col.size)
		}
		m.Uncompressed += plain // a page is also held as unshare writes it out
	}
	m.Uncompressed = min(max(m.Uncompressed, 0), maxChunk)
	return nil
}

// pageHeaders shows the headers of a chunk's pages, and the bytes that they take themselves, until see
// has enough. damaged says that one could not be read; the error is one of the input.
func (f *File) pageHeaders(g, i int, see func(h PageHeader, bytes int64) (more bool)) (damaged bool, err error) {
	buf := f.pool.Get().(*scratch)
	defer f.pool.Put(buf)
	col, info := newColumn(f.foot.schema, i), f.Chunk(g, i)
	info.Uncompressed = maxChunk
	p := newPages(f.in, info, &col, buf)
	if p.win.ahead = surveyAhead; info.Size <= readAhead {
		p.win.ahead = int(info.Size)
	}
	for p.seen < info.Values {
		if err := p.readHeader(); err != nil {
			return true, readError(err)
		}
		if !see(p.header, p.win.at-p.headerAt) {
			break
		}
		p.pass()
	}
	return false, nil
}

// sizeDoubt is what makes the sizes in memory that a footer gives doubtful.
type sizeDoubt struct {
	looked bool // at the first chunk that is compressed
	wrong  bool // its pages hold more than the footer says: whoever wrote it counts in another way
}

// of reports whether the size in memory of a chunk is to be doubted. Writers are known that give 0, or
// the size in the file. Of too small ones, which pages would exceed, the first chunk speaks for all; too
// large ones, which would ask for memory that nothing needs, stand out against the number of values.
func (d *sizeDoubt) of(f *File, g, i int, c *column) (bool, error) {
	m := &f.foot.groups[g].chunks[i]
	switch claim := m.Uncompressed; {
	case m.Values == 0, m.codec == compress.Codecs.Uncompressed:
		return false, nil
	case claim <= 0, claim == m.Size, claim > mostInMemory(m, c), claim < m.Size-m.Size/8-maxPageGrowth:
		return true, nil
	case !d.looked && !format.IsFar(f.in): // of an object, every look is a request
		d.looked = true
		held := int64(0)
		_, err := f.pageHeaders(g, i, func(h PageHeader, _ int64) bool {
			held += int64(h.Uncompressed)
			return h.Kind == DictionaryPage || h.Kind == indexPage
		})
		if d.wrong = held > claim; err != nil {
			return false, err
		}
	}
	return d.wrong, nil
}

// maxPageGrowth is what a page that cannot be compressed grows by, beside an eighth: the frame of a codec.
const maxPageGrowth = 64

// mostInMemory is a size that few chunks exceed. A value of fixed size may stand in the dictionary and,
// where that did not pay, be an index of 4 bytes at most or plain, and has two levels of a byte; a
// dictionary may have values that others use. Such chunks may be compressed to next to nothing, where all
// values are alike; texts may repeat themselves too, but seldom so much.
func mostInMemory(m *chunkMeta, c *column) int64 {
	const ratio, little = 64, 64 << 10
	perValue := int64(2*max(c.size, 1) + 6)
	if c.physical != parquet.Types.ByteArray && m.Values < maxChunk/perValue {
		return m.Values*perValue + m.Size + little
	}
	return ratio*m.Size + 16*little
}

// readError is err if it is one of the input.
func readError(err error) error {
	if _, ok := errors.AsType[*format.ReadError](err); ok {
		return err
	}
	return nil
}

// surveyAhead is what is read for a page header: most are shorter than 100 bytes.
const surveyAhead = 512

// decodesAll reports whether the column's type has all the encodings of a set, which may also have the
// encoding of the levels.
func (c *column) decodesAll(s encodingSet) bool { return c.undecodable(s) == "" }

// startsUneven reports whether the first page of a column of lists has one that is not of the given
// length, so that a column whose mean length happens to be whole is not taken for one of vectors. A
// later one is an error of its row: to know of it, all pages would have to be read.
func (f *File) startsUneven(g int, l *format.Leaf, c *column, width int) (uneven bool, err error) {
	const (
		largest = 4 << 20 // bytes of pages that are looked at
		most    = 1 << 16 // entries
	)
	if format.IsFar(f.in) || width > maxWidth {
		return false, nil // every look is a request, and costs as much as the footer
	}
	group := &rowGroup{file: f, number: g}
	err = group.run(l, 0, f.rows[g], func(buf *scratch) error {
		e := group.entries(c, buf)
		e.width, e.end = width, e.pages.info.Values
		e.pages.info.Uncompressed = min(e.pages.info.Uncompressed, largest)
		e.pages.win.ahead = readAhead
		if err := e.nextPage(context.Background()); err != nil {
			return err
		}
		dst := grow(&buf.table, batchValues)
		for left := min(e.left, most); left > 0; left -= batchValues {
			err := e.read(context.Background(), dst[:min(left, batchValues)])
			if _, uneven = errors.AsType[*unevenError](err); err != nil {
				return err
			}
		}
		return nil
	})
	return uneven, readError(err)
}
