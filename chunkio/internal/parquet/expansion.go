package parquet

import (
	"math"

	"github.com/apache/arrow/go/v15/parquet/compress"
)

// expansion is the most bytes that a byte of a compressed page becomes: a page that claims more is
// damaged, whatever the footer says, and no memory is taken for it.
func expansion(c compress.Compression) int64 {
	switch c {
	case compress.Codecs.Uncompressed:
		return 1
	case compress.Codecs.Snappy: // 64 bytes by a copy of 3
		return 22
	case compress.Codecs.Gzip: // 258 bytes by two codes of a bit
		return 1032
	case compress.Codecs.Brotli: // 16 MiB by a command
		return math.MaxInt32
	case compress.Codecs.Zstd: // 128 KiB by a block of 4
		return 1 << 15
	}
	return 256 // LZ4: 255 bytes by one more of a length
}

// headOfPage is what compression adds to that at most, as for pages of few bytes.
const headOfPage = 1 << 16
