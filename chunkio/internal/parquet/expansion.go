package parquet

import (
	"math"

	"github.com/apache/arrow/go/v15/parquet/compress"
)

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
