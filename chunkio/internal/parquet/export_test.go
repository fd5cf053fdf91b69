package parquet

import (
	"encoding/binary"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// DropOrders removes the order of bounds from the footer.
func (f *File) DropOrders() { f.footer.HasTypeOrder = nil }

// SetOldBounds gives the statistics of a column's first chunk the fields of old writers, with its
// bounds, or takes them away.
func (f *File) SetOldBounds(l int, known bool) {
	m := &f.footer.Groups[0].Chunks[f.columns[l].index]
	s := f.footer.ParseStatistics(m)
	b := f.footer.RawFooter
	m.Statistics = len(b)
	last := byte(0)
	for _, field := range []struct {
		id    byte
		known bool
		raw   []byte
	}{{1, known, s.High}, {2, known, s.Low}, {5, true, s.High}, {6, true, s.Low}} {
		if field.known {
			b = binary.AppendUvarint(append(b, (field.id-last)<<4|thrift.Binary), uint64(len(field.raw)))
			b, last = append(b, field.raw...), field.id
		}
	}
	b = append(b, thrift.Stop)
	f.footer.RawFooter = b
}
