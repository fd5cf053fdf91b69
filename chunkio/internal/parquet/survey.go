package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Where the footer may be wrong, the pages are asked at once: what their headers say, and how the
// lists of the first page begin. Damage that comes up is the error of who reads the column; an error of the
// input, which would hide what the pages say, is one at once.

// survey corrects what the footer says of a column chunk by the headers of its pages, where it
// lists an encoding that cannot be decoded, which perhaps no page has, and where it gives a size
// in memory that wrong writers give: none, or that in the file.
func (f *File) survey(g, i int) error {
	m, col := &f.foot.groups[g].chunks[i], newColumn(f.foot.schema, i)
	if m.codec == compress.Codecs.Uncompressed {
		m.Uncompressed = max(m.Uncompressed, m.Size)
	}
	wrongSize := m.codec != compress.Codecs.Uncompressed && (m.Uncompressed == 0 || m.Uncompressed == m.Size)
	if m.Values == 0 || !wrongSize && col.decodesAll(m.encodings) {
		return nil
	}
	buf := f.pool.Get().(*scratch)
	defer f.pool.Put(buf)
	info := m.ChunkInfo
	info.Uncompressed = maxChunk
	p := newPages(f.in, info, &col, buf)
	p.win.ahead = surveyAhead
	total, seen := int64(0), encodingSet(0)
	for p.seen < info.Values {
		if err := p.readHeader(); err != nil {
			return readError(err)
		}
		total += p.win.at - p.headerAt + int64(p.header.Uncompressed)
		if p.header.Kind == DataPage || p.header.Kind == dataPageV2 {
			if seen.add(int64(p.header.Encoding)); !col.decodesAll(seen) {
				break // nobody will read it
			}
		}
		p.pass()
	}
	m.encodings, m.Uncompressed = seen, min(max(m.Uncompressed, total), maxChunk)
	return nil
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
