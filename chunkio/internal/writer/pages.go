package writer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"sort"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// pageBuffer collects the encoded pages of one column chunk in memory, so that the columns of a row group can be
// encoded in parallel and written in order.
//
// It replaces the page writer of Arrow v15, which drops the errors of dictionary pages and creates a new zstd encoder
// for every page. For a page of 8 KiB a new encoder took 325 µs and made 3 MB of garbage; a reused encoder took 16 µs.
// The difference is a minute for a file of 5,000 columns and 20 row groups.
type pageBuffer struct {
	pqfile.PageWriter // never set: it provides the method Reset, whose signature is internal to arrow

	meta *metadata.ColumnChunkMetaDataBuilder
	zstd *encoders // nil: pages are not compressed

	buf          []byte // headers and bodies of all pages, in order
	dict         int    // length of the dictionary page including its header; 0: there is none
	values       int64
	uncompressed int64
	encodings    metadata.EncodingStats
	hasDict      bool
	fellBack     bool // the chunk fell back from the dictionary to plain pages
}

func newPageBuffer(meta *metadata.ColumnChunkMetaDataBuilder, enc *encoders) *pageBuffer {
	return &pageBuffer{meta: meta, zstd: enc, encodings: metadata.EncodingStats{
		DictEncodingStats: map[parquet.Encoding]int32{},
		DataEncodingStats: map[parquet.Encoding]int32{},
	}}
}

func (b *pageBuffer) HasCompressor() bool { return b.zstd != nil }

func (b *pageBuffer) Compress(buf *bytes.Buffer, src []byte) []byte {
	return b.zstd.appendFrame(src, buf.AvailableBuffer())
}

func (b *pageBuffer) WriteDictionaryPage(p *pqfile.DictionaryPage) (int64, error) {
	body := b.zstd.appendFrame(p.Data(), nil)
	n := b.addPage(pq.PageHeader{
		Kind: pq.DictionaryPage, Uncompressed: len(p.Data()),
		Values: int(p.NumValues()), Encoding: parquet.Encoding(p.Encoding()),
	}, body)
	b.dict = n
	b.encodings.DictEncodingStats[parquet.Encoding(p.Encoding())]++
	return int64(n), nil
}

// WriteDataPage implements pqfile.PageWriter; the data of the page are already compressed.
func (b *pageBuffer) WriteDataPage(p pqfile.DataPage) (int64, error) {
	n := b.addPage(pq.PageHeader{
		Kind: pq.DataPage, Uncompressed: int(p.UncompressedSize()),
		Values: int(p.NumValues()), Encoding: parquet.Encoding(p.Encoding()),
		DefLevels: parquet.Encodings.RLE, RepLevels: parquet.Encodings.RLE,
	}, p.Data())
	b.values += int64(p.NumValues())
	b.encodings.DataEncodingStats[parquet.Encoding(p.Encoding())]++
	return int64(n), nil
}

// addPage appends a page and returns its length in the file.
func (b *pageBuffer) addPage(h pq.PageHeader, body []byte) int {
	start := len(b.buf)
	h.Compressed, h.CRC, h.HasCRC = len(body), crc32.ChecksumIEEE(body), true
	b.buf = pq.AppendPageHeader(b.buf, h)
	b.uncompressed += int64(len(b.buf) - start + h.Uncompressed)
	b.buf = append(b.buf, body...)
	return len(b.buf) - start
}

// Close implements pqfile.PageWriter; finishMetadata is called later, when the chunk's offset is known.
func (b *pageBuffer) Close(hasDict, fellBack bool) error {
	b.hasDict, b.fellBack = hasDict, fellBack
	return nil
}

// finishMetadata completes the metadata of a chunk that starts at this offset of the file.
func (b *pageBuffer) finishMetadata(offset int64) error {
	info := metadata.ChunkMetaInfo{
		NumValues: b.values, IndexPageOffset: -1, DataPageOffset: offset + int64(b.dict),
		CompressedSize: int64(len(b.buf)), UncompressedSize: b.uncompressed,
	}
	if b.dict > 0 {
		info.DictPageOffset = offset
	}
	if err := b.meta.Finish(info, b.hasDict, b.fellBack, b.encodings, nil); err != nil {
		return err
	}
	chunk := b.meta.Contents()
	// The file does not contain a second copy of the metadata after the chunk. In this case the format requires 0.
	chunk.FileOffset = 0
	// Arrow v15 copies these statistics from a map, in random order, but the file must depend only on its values.
	stats := chunk.MetaData.EncodingStats // the type is internal to arrow
	sort.Slice(stats, func(i, j int) bool {
		return cmp.Or(cmp.Compare(stats[i].PageType, stats[j].PageType), cmp.Compare(stats[i].Encoding, stats[j].Encoding)) < 0
	})
	if s := chunk.MetaData.Statistics; s != nil {
		s.DistinctCount = nil   // v15 does not count distinct values, and would write 0
		if s.NullCount != nil { // copied, because v15's value keeps bounds in memory that are too long to be written
			nulls := *s.NullCount
			s.NullCount = &nulls
		}
	}
	return nil
}

// PutPage writes a page of a column without a dictionary: the levels of its entries, and the present values, encoded
// PLAIN. The page must begin and end at row boundaries. The library's encoder of repetition levels is not used, because
// it grows its buffer by 64 bytes at every change of the levels and copies it: for lists of varying length it took 20
// times as long as everything else.
func (c *Chunk) PutPage(plain []byte, def, rep []int16) error {
	d := c.Descr()
	if len(def) != len(rep) || len(rep) > 0 && rep[0] != 0 {
		return fmt.Errorf("column %q: a page of %d and %d levels that begins within a row", d.Name(), len(def), len(rep))
	}
	body := appendLevels(nil, rep, int(d.MaxRepetitionLevel()))
	body = append(appendLevels(body, def, int(d.MaxDefinitionLevel())), plain...)
	packed := body
	if c.pages.HasCompressor() {
		packed = c.pages.zstd.appendFrame(body, nil)
	}
	c.pages.addPage(pq.PageHeader{
		Kind: pq.DataPage, Uncompressed: len(body), Values: len(def),
		Encoding: parquet.Encodings.Plain, DefLevels: parquet.Encodings.RLE, RepLevels: parquet.Encodings.RLE,
	}, packed)
	c.pages.values += int64(len(def))
	c.pages.encodings.DataEncodingStats[parquet.Encodings.Plain]++
	for _, r := range rep {
		if r == 0 {
			c.putPageRows++
		}
	}
	return nil
}

// appendLevels appends the levels, which are at most limit, as one sequence of packed bits, preceded by its length.
func appendLevels(to []byte, levels []int16, limit int) []byte {
	width := bits.Len(uint(limit))
	start := len(to)
	to = binary.AppendUvarint(append(to, 0, 0, 0, 0), uint64((len(levels)+7)/8)<<1|1)
	packed := make([]byte, (len(levels)+7)/8*width)
	for i, level := range levels {
		for b := range width {
			at := i*width + b
			packed[at/8] |= byte(level>>b&1) << (at % 8)
		}
	}
	to = append(to, packed...)
	binary.LittleEndian.PutUint32(to[start:], uint32(len(to)-start-4))
	return to
}
