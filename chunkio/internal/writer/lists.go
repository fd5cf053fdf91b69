package writer

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v15/parquet"

	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

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
