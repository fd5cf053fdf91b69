package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
)

// The footer may be wrong about a column chunk. If there is a reason to doubt it, the page headers of the chunk, and
// the first page of lists, are checked when the file is opened. Damage found here is reported when the column is read.
// An error of reading the input is reported at once, because then the pages cannot be checked.

// surveyChunk corrects the footer's description of a column chunk by its page headers in two cases: the footer lists no
// encoding, or one that cannot be decoded (perhaps no page uses it); or the size of the chunk in memory is doubtful.
// Then the planned memory is the sum of the sizes of the pages. readPageHeader limits each size by the bytes of the
// page.
func surveyChunk(f *File, g, i int, doubt *sizeDoubt) error {
	m, col := &f.footer.Groups[g].Chunks[i], newColumn(f.footer.Schema, i)
	if m.Codec == compress.Codecs.Uncompressed {
		m.Uncompressed = m.Size // pages are stored unchanged
	}
	isDoubtful, err := doubt.doubtsSize(f, g, i, &col)
	if err != nil {
		return err
	}
	if m.Values > 0 && (isDoubtful || m.Encodings == 0 || !decodesAll(&col, m.Encodings)) {
		total, seen := int64(0), footer.EncodingSet(0)
		damaged, err := visitPageHeaders(f, g, i, func(h PageHeader, bytes int64) bool {
			total = min(total+bytes+int64(h.Uncompressed), maxChunk)
			if h.Kind == DataPage || h.Kind == dataPageV2 {
				seen.Add(int64(h.Encoding))
			}
			return decodesAll(&col, seen) // else the column is not read
		})
		if err != nil {
			return err
		}
		if m.Uncompressed = total; !damaged {
			m.Encodings = seen
		}
	}
	if col.physical == parquet.Types.FixedLenByteArray && m.Encodings.Has(parquet.Encodings.DeltaByteArray) {
		plain := int64(maxChunk)
		if m.Values < maxChunk/int64(max(col.size, 1)) {
			plain = m.Values * int64(col.size)
		}
		m.Uncompressed += plain // such a page is also held in the form that expandSharedPrefixes writes
	}
	m.Uncompressed = min(max(m.Uncompressed, 0), maxChunk)
	return nil
}

// visitPageHeaders calls visit with each page header of a chunk and the length of the header in bytes, until visit
// returns false. damaged is true if a header could not be parsed; err is an error of the input.
func visitPageHeaders(f *File, g, i int, visit func(h PageHeader, bytes int64) (more bool)) (damaged bool, err error) {
	buf := f.pool.Get().(*scratch)
	defer f.pool.Put(buf)
	col, info := newColumn(f.footer.Schema, i), f.Chunk(g, i)
	info.Uncompressed = maxChunk
	p := newPageWalker(f.in, info, &col, buf)
	if p.win.ahead = surveyReadBytes; info.Size <= readAhead {
		p.win.ahead = int(info.Size)
	}
	for p.entriesBefore < info.Values {
		if err := p.readPageHeader(); err != nil {
			return true, footer.ReadErrorOrNil(err)
		}
		if !visit(p.header, p.win.at-p.headerAt) {
			break
		}
		p.skipPage()
	}
	return false, nil
}

// sizeDoubt decides whether to trust the sizes in memory that the footer claims for column chunks.
type sizeDoubt struct {
	sampled     bool // the first compressed chunk was checked
	understates bool // the pages of this chunk have more bytes than the footer claims; this is likely for other chunks too
}

// doubtsSize reports whether the size in memory of a chunk is doubtful. Some writers store 0, or the size in the file,
// in its place. Some sizes are smaller than the pages: the pages of the first compressed chunk show whether the writer
// of the file made this mistake. A size may also be so large that unused memory would be reserved. Therefore the size
// is compared with the number of values.
func (d *sizeDoubt) doubtsSize(f *File, g, i int, c *column) (bool, error) {
	m := &f.footer.Groups[g].Chunks[i]
	switch claim := m.Uncompressed; {
	case m.Values == 0, m.Codec == compress.Codecs.Uncompressed:
		return false, nil
	case claim <= 0, claim == m.Size, claim > plausibleMemory(m, c), claim < m.Size-m.Size/8-maxPageGrowth:
		return true, nil
	case !d.sampled && !format.IsFar(f.in): // in an object store, every read is a request
		d.sampled = true
		pageBytes := int64(0)
		_, err := visitPageHeaders(f, g, i, func(h PageHeader, _ int64) bool {
			pageBytes += int64(h.Uncompressed)
			return h.Kind == DictionaryPage || h.Kind == indexPage
		})
		if d.understates = pageBytes > claim; err != nil {
			return false, err
		}
	}
	return d.understates, nil
}

// maxPageGrowth is an upper bound on the bytes that a codec adds to an incompressible page, in addition to an eighth of
// its size.
const maxPageGrowth = 64

// plausibleMemory returns a size in memory that few chunks exceed. A value of fixed size may occur in the dictionary
// and once more in a page: as an index of at most 4 bytes, or as a plain value if the dictionary did not save space.
// Each value also has two levels of one byte each. A dictionary may contain values that other chunks use. Chunks whose
// values are all equal compress to almost no bytes; texts may repeat themselves too, but seldom as often.
func plausibleMemory(m *footer.ChunkMeta, c *column) int64 {
	const ratio, slack = 64, 64 << 10
	perValue := int64(2*max(c.size, 1) + 6)
	if c.physical != parquet.Types.ByteArray && m.Values < maxChunk/perValue {
		return m.Values*perValue + m.Size + slack
	}
	return ratio*m.Size + 16*slack
}

// surveyReadBytes is the number of bytes read for a page header: most headers are shorter than 100 bytes.
const surveyReadBytes = 512

// decodesAll reports whether every encoding of a set can be decoded; the set may also contain the encoding of the
// levels.
func decodesAll(c *column, s footer.EncodingSet) bool { return c.undecodableEncoding(s) == "" }

// firstPageHasOtherWidth reports whether the length of a list in the first page of a column differs from the given one.
// Without this check, lists of different lengths whose mean length is a whole number by chance would be read as
// vectors. A list of another length in a later page is reported as an error of its row, because finding it at this
// point would require all pages.
func firstPageHasOtherWidth(f *File, g int, l *format.Leaf, c *column, width int) (uneven bool, err error) {
	const (
		maxPageBytes = 4 << 20 // bytes of pages that are examined
		maxEntries   = 1 << 16 // number of entries that are examined
	)
	if format.IsFar(f.in) || width > maxWidth {
		return false, nil // every read is a request, which costs as much as reading the footer
	}
	group := &rowGroup{file: f, number: g}
	err = group.withDecodeBuffers(l, 0, f.rows[g], func(buf *scratch) error {
		e := group.startEntryReader(c, buf)
		e.width, e.end = width, e.pages.info.Values
		e.pages.info.Uncompressed = min(e.pages.info.Uncompressed, maxPageBytes)
		e.pages.win.ahead = readAhead
		if err := e.nextPage(context.Background()); err != nil {
			return err
		}
		dst := resizeBuffer(&buf.table, batchValues)
		for left := min(e.left, maxEntries); left > 0; left -= batchValues {
			err := e.readEntries(context.Background(), dst[:min(left, batchValues)])
			if _, uneven = errors.AsType[*unevenError](err); err != nil {
				return err
			}
		}
		return nil
	})
	return uneven, footer.ReadErrorOrNil(err)
}
