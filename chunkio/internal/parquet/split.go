package parquet

import (
	"github.com/apache/arrow/go/v15/parquet"
)

// byteStreamSplit is the encoding BYTE_STREAM_SPLIT of parquet.thrift, which arrow v15 does not support. It stores the
// first bytes of all values, then their second bytes, and so on.
const byteStreamSplit parquet.Encoding = 9

func supportsByteStreamSplit(c *column) bool {
	switch c.physical {
	case parquet.Types.Float, parquet.Types.Double, parquet.Types.Int32, parquet.Types.Int64, parquet.Types.FixedLenByteArray:
		return c.size > 0
	}
	return false
}

// joinSplitBytes turns a checked BYTE_STREAM_SPLIT page into a PLAIN page in place. It uses *buf as scratch memory for
// a copy of the values.
func joinSplitBytes(p *page, size int, buf *[]byte) {
	n := p.present
	plain := resizeBuffer(buf, n*size)
	for k := range size {
		for i, b := range p.values[k*n:][:n] {
			plain[i*size+k] = b
		}
	}
	copy(p.values, plain)
	p.header.Encoding = parquet.Encodings.Plain
}
