package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// If the footer may be wrong, the page headers and the beginnings of the lists of the first page are checked at once.
// Damage found here is reported when the column is read; an error of the input, which would hide the pages, is
// reported at once.

// surveyChunk corrects the footer's description of a column chunk by its page headers if it lists no encoding, or one
// that cannot be decoded (perhaps no page uses it), or if its size in memory is doubtful. Memory is then planned by
// the sum over the pages, each of which is bounded by its bytes.
func (f *File) surveyChunk(g, i int, doubt *sizeDoubt) error {
	m, col := &f.footer.groups[g].chunks[i], newColumn(f.footer.schema, i)
	if m.codec == compress.Codecs.Uncompressed {
		m.Uncompressed = m.Size // pages are stored unchanged
	}
	isDoubtful, err := doubt.doubtsSize(f, g, i, &col)
	if err != nil {
		return err
	}
	if m.Values > 0 && (isDoubtful || m.encodings == 0 || !col.decodesAll(m.encodings)) {
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
		m.Uncompressed += plain // a page is also held as expandSharedPrefixes writes it
	}
	m.Uncompressed = min(max(m.Uncompressed, 0), maxChunk)
	return nil
}

// pageHeaders passes each page header of a chunk and the header's own length to see until it returns false. damaged
// is true if a header could not be read; err is an error of the input.
func (f *File) pageHeaders(g, i int, see func(h PageHeader, bytes int64) (more bool)) (damaged bool, err error) {
	buf := f.pool.Get().(*scratch)
	defer f.pool.Put(buf)
	col, info := newColumn(f.footer.schema, i), f.Chunk(g, i)
	info.Uncompressed = maxChunk
	p := newPages(f.in, info, &col, buf)
	if p.win.ahead = surveyReadBytes; info.Size <= readAhead {
		p.win.ahead = int(info.Size)
	}
	for p.entriesBefore < info.Values {
		if err := p.readHeader(); err != nil {
			return true, inputError(err)
		}
		if !see(p.header, p.win.at-p.headerAt) {
			break
		}
		p.skipPage()
	}
	return false, nil
}

// sizeDoubt decides whether the footer's sizes in memory can be trusted.
type sizeDoubt struct {
	sampled     bool // the first compressed chunk was checked
	understates bool // its pages hold more than the footer claims: its writer counts differently
}

// doubtsSize reports whether the size in memory of a chunk is doubtful. Some writers give 0, or the size in the file.
// For sizes that are too small, which pages would exceed, the first chunk represents all; sizes that are too large,
// which would reserve memory that nothing needs, stand out against the number of values.
func (d *sizeDoubt) doubtsSize(f *File, g, i int, c *column) (bool, error) {
	m := &f.footer.groups[g].chunks[i]
	switch claim := m.Uncompressed; {
	case m.Values == 0, m.codec == compress.Codecs.Uncompressed:
		return false, nil
	case claim <= 0, claim == m.Size, claim > plausibleMemory(m, c), claim < m.Size-m.Size/8-maxPageGrowth:
		return true, nil
	case !d.sampled && !format.IsFar(f.in): // of an object, every look is a request
		d.sampled = true
		pageBytes := int64(0)
		_, err := f.pageHeaders(g, i, func(h PageHeader, _ int64) bool {
			pageBytes += int64(h.Uncompressed)
			return h.Kind == DictionaryPage || h.Kind == indexPage
		})
		if d.understates = pageBytes > claim; err != nil {
			return false, err
		}
	}
	return d.understates, nil
}

// maxPageGrowth is the most that an incompressible page grows by, in addition to an eighth: the frame of a codec.
const maxPageGrowth = 64

// plausibleMemory is a size that few chunks exceed. A value of fixed size may occur in the dictionary and, if that did
// not pay, as an index of at most 4 bytes or as a plain value, and has two levels of a byte; a dictionary may have
// values that others use. Such chunks compress to almost nothing if all values are alike; texts may repeat themselves
// too, but seldom so much.
func plausibleMemory(m *chunkMeta, c *column) int64 {
	const ratio, slack = 64, 64 << 10
	perValue := int64(2*max(c.size, 1) + 6)
	if c.physical != parquet.Types.ByteArray && m.Values < maxChunk/perValue {
		return m.Values*perValue + m.Size + slack
	}
	return ratio*m.Size + 16*slack
}

// inputError returns err if it is an error of the input, else nil.
func inputError(err error) error {
	if _, ok := errors.AsType[*format.ReadError](err); ok {
		return err
	}
	return nil
}

// surveyReadBytes is the number of bytes read for a page header: most are shorter than 100 bytes.
const surveyReadBytes = 512

// decodesAll reports whether every encoding of a set can be decoded; the set may also have the encoding of the
// levels.
func (c *column) decodesAll(s encodingSet) bool { return c.undecodableEncoding(s) == "" }

// startsUneven reports whether a list in the first page of a column has another length than the given one, so that a
// column whose mean length happens to be whole is not taken for vectors. An uneven list in a later page is an error
// of its row: finding it now would need all pages.
func (f *File) startsUneven(g int, l *format.Leaf, c *column, width int) (uneven bool, err error) {
	const (
		largest = 4 << 20 // bytes of pages that are looked at
		most    = 1 << 16 // entries
	)
	if format.IsFar(f.in) || width > maxWidth {
		return false, nil // every look is a request, and costs as much as the footer
	}
	group := &rowGroup{file: f, number: g}
	err = group.withScratch(l, 0, f.rows[g], func(buf *scratch) error {
		e := group.startEntries(c, buf)
		e.width, e.end = width, e.pages.info.Values
		e.pages.info.Uncompressed = min(e.pages.info.Uncompressed, largest)
		e.pages.win.ahead = readAhead
		if err := e.nextPage(context.Background()); err != nil {
			return err
		}
		dst := resizeBuffer(&buf.table, batchValues)
		for left := min(e.left, most); left > 0; left -= batchValues {
			err := e.read(context.Background(), dst[:min(left, batchValues)])
			if _, uneven = errors.AsType[*unevenError](err); err != nil {
				return err
			}
		}
		return nil
	})
	return uneven, inputError(err)
}
