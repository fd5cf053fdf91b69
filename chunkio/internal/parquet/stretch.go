package parquet

import (
	"math"
	"time"

	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxStretch limits the number of bytes that are read together for adjacent column chunks, each of at most readAhead
// bytes. With 100,000 columns of float32 in row groups of 256 rows, 1 KB per chunk, reading the chunks one by one took
// a fourth of the decoding time. Reading several chunks together reduces that time; 256 KiB fit in the second-level
// cache. scratchBytes includes these bytes.
const maxStretch = 256 << 10

// stretch is a range of bytes of a file that covers adjacent column chunks.
type stretch struct {
	at int64
	b  []byte
}

// chunkBytes returns the bytes of a chunk; nil if some of them are outside the stretch.
func (s stretch) chunkBytes(c footer.ChunkInfo) []byte {
	from := c.At - s.at
	if from < 0 || from > int64(len(s.b)) || c.Size > int64(len(s.b))-from {
		return nil
	}
	return s.b[from:][:c.Size:c.Size]
}

// readStretch reads the chunk of the first leaf together with the small chunks that directly follow it in the file. If
// reading fails, or there is only one chunk, each chunk is read separately later, and that read reports faults.
func (g *rowGroup) readStretch(leaves []format.Decoding, buf *scratch) {
	buf.stretch = stretch{}
	chunks, at, size := 0, int64(0), int64(0)
	for _, d := range leaves {
		c := g.file.Chunk(g.number, g.file.columns[d.Leaf].index)
		if c.Constant != nil || chunks > 0 && c.At != at+size || c.Size > readAhead || size+c.Size > maxStretch {
			break
		}
		if chunks == 0 {
			at = c.At
		}
		size += c.Size
		chunks++
	}
	if chunks < 2 {
		return
	}
	start := time.Now()
	if b := resizeBuffer(&buf.stretchBytes, int(size)); format.ReadAt(g.file.in, b, at) == nil {
		buf.stretch = stretch{at, b}
	}
	format.BusyOf(g.file.in).Add(stream.PartRead, time.Since(start))
}

// maxExpansion returns the largest factor by which a codec can expand the bytes of a page. A page that claims more is
// damaged, even if the footer agrees, and no memory is allocated for it.
func maxExpansion(c compress.Compression) int64 {
	switch c {
	case compress.Codecs.Uncompressed:
		return 1
	case compress.Codecs.Snappy: // a copy command of 3 bytes yields 64 bytes
		return 22
	case compress.Codecs.Gzip: // two codes of one bit each yield 258 bytes
		return 1032
	case compress.Codecs.Brotli: // one command yields 16 MiB
		return math.MaxInt32
	case compress.Codecs.Zstd: // a block of 4 bytes yields 128 KiB
		return 1 << 15
	}
	return 256 // LZ4: each further byte of a length adds 255 bytes
}

// expansionSlack is the number of bytes by which the size of a page may exceed the limit from maxExpansion, which would
// be too strict for very short pages.
const expansionSlack = 1 << 16
