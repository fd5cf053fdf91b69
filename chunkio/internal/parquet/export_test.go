package parquet

import "encoding/binary"

// DropOrders removes the order of bounds from the footer.
func (f *File) DropOrders() { f.footer.hasTypeOrder = nil }

// SetOldBounds gives the statistics of a column's first chunk the fields of old writers, with its
// bounds, or takes them away.
func (f *File) SetOldBounds(l int, known bool) {
	m := &f.footer.groups[0].chunks[f.columns[l].index]
	s := parseStatistics(f.footer.rawFooter, m.statistics)
	b := f.footer.rawFooter
	m.statistics = len(b)
	last := byte(0)
	for _, field := range []struct {
		id    byte
		known bool
		raw   []byte
	}{{1, known, s.high}, {2, known, s.low}, {5, true, s.high}, {6, true, s.low}} {
		if field.known {
			b = binary.AppendUvarint(append(b, (field.id-last)<<4|thriftBinary), uint64(len(field.raw)))
			b, last = append(b, field.raw...), field.id
		}
	}
	b = append(b, thriftStop)
	f.footer.rawFooter = b
}
