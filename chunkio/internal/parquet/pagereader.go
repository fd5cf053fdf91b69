package parquet

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
)

// pageHolder is the part of file.PageReader that both readers below share: it holds the page that the library is
// decoding. It reuses the buffer object of the page.
type pageHolder struct {
	current pqfile.Page
	buffer  *memory.Buffer
	err     error
}

func (h *pageHolder) Page() pqfile.Page { return h.current }

func (h *pageHolder) Err() error { return h.err }

func (h *pageHolder) SetMaxPageHeaderSize(int) {}

// Reset is never called by the column readers; the interface requires it.
func (h *pageHolder) Reset(parquet.BufferedReader, int64, compress.Compression, *pqfile.CryptoContext) {
	h.err = errors.New("page reader cannot be reset")
}

func (h *pageHolder) wrapInBuffer(pageBytes []byte) *memory.Buffer {
	if h.buffer == nil {
		h.buffer = memory.NewBufferBytes(nil)
	}
	h.release()
	h.buffer.Reset(pageBytes)
	return h.buffer
}

// release returns the page object, but not the bytes of the page, to the library.
func (h *pageHolder) release() {
	if h.current != nil {
		h.current.Release()
		h.current = nil
	}
}

// valuePageReader passes the values of one page at a time to the library, without their levels, which this package
// decodes. The library gets them as pages of a required column without a dictionary.
type valuePageReader struct {
	pageHolder
	values   []byte
	count    int // values of the page that is still to be passed; 0 if there is none
	encoding parquet.Encoding
}

func (v *valuePageReader) Next() bool {
	v.release()
	if v.count == 0 {
		return false
	}
	rle := parquet.Encodings.RLE
	v.current = pqfile.NewDataPageV1(v.wrapInBuffer(v.values), int32(v.count), v.encoding, rle, rle, int32(len(v.values)))
	v.values, v.count = nil, 0
	return true
}

// rawPageReader passes whole pages, including the levels, to the library. It does not reuse the memory of the pages, so
// that byte arrays that the library returns stay valid.
type rawPageReader struct {
	pageHolder
	pages       *pageWalker
	pagePending bool // pages.page is still to be passed to the library
	dictPassed  bool // the dictionary has been passed to the library
}

func (r *rawPageReader) Next() bool {
	r.release()
	if r.err != nil || !r.loadNextPage() {
		return false
	}
	// loadNextPage has also loaded a dictionary that precedes the first data page.
	if !r.dictPassed && r.pages.dictSize >= 0 {
		r.dictPassed = true
		r.current = pqfile.NewDictionaryPage(memory.NewBufferBytes(r.pages.dict), int32(r.pages.dictSize), parquet.Encodings.Plain)
		return true
	}
	r.pagePending = false
	if r.pages.page.hasZeroWidthIndices() {
		r.pages.page.giveIndicesOneBit()
	}
	h, buffer := r.pages.page.header, memory.NewBufferBytes(r.pages.page.raw)
	if h.Kind == dataPageV2 {
		r.current = pqfile.NewDataPageV2(buffer, int32(h.Values), int32(h.nulls), int32(h.rows), h.Encoding,
			int32(h.defBytes), int32(h.repBytes), int32(h.Uncompressed), false)
	} else {
		r.current = pqfile.NewDataPageV1(buffer, int32(h.Values), h.Encoding, h.DefLevels, h.RepLevels, int32(h.Uncompressed))
	}
	return true
}

// hasZeroWidthIndices reports whether the dictionary indices of a checked page have no bits, so that all are 0. The
// library panics on packed indices without bits.
func (p *page) hasZeroWidthIndices() bool {
	return isDictionaryEncoding(p.header.Encoding) && p.present > 0 && p.values[0] == 0
}

func (p *page) giveIndicesOneBit() {
	front := p.raw[:len(p.raw)-len(p.values)]
	p.raw = append(slices.Clone(front), 1)
	p.raw = append(binary.AppendUvarint(p.raw, uint64(p.present)<<1), 0)
	p.values, p.header.Uncompressed = p.raw[len(front):], len(p.raw)
}

// loadNextPage loads the next page that has values, unless the current page is still to be passed. The library would
// treat an empty page as the end.
func (r *rawPageReader) loadNextPage() bool {
	for !r.pagePending {
		more, err := r.pages.nextDataPage()
		if err == nil && more {
			err = r.pages.loadPage()
		}
		if err != nil {
			r.err = footer.AddRemedy(format.PlaceError(r.pages.win.in.Name(), -1, "", err), footer.RemedyLeaveOut)
			return false
		}
		if !more {
			return false
		}
		r.pagePending = r.pages.page.header.Values > 0
	}
	return true
}
