package anchor

import (
	"io"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// The binary form of a Sampler consists of 8-byte little-endian words, and equal samples have equal bytes. It begins
// with "ufssamp1", d, the seed, the largest number of rows and the number of rows. For each row, in the order of the
// keys, it has the position and d values. The form of a sample of sparse rows begins with "ufssent1". In place of the
// values, each row then has the number of entries, their columns and their values.

// WriteTo writes the binary form of s. It implements io.WriterTo.
func (s *Sampler) WriteTo(w io.Writer) (int64, error) {
	return words.WriteState(w, func(v *words.Visitor) { s.encodeOrDecode(v, s) })
}

// ReadFrom replaces s by a sample that WriteTo wrote, including the seed and the largest number of rows, and reads
// nothing after it. It keeps the other options of s, so that adding further rows has the same effect as adding them to
// the original. If s has columns, the numbers of columns must agree. Memory grows with the bytes read. If it would
// exceed the limit, ReadFrom fails with a *stream.MemoryError before it reads any row. s is unchanged on error.
func (s *Sampler) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(s, r, (*Sampler).encodeOrDecode)
}

func (s *Sampler) encodeOrDecode(visitor *words.Visitor, replaced *Sampler) {
	opt, rows := replaced.opt, s.sortedRows()
	magic := samplerMagic
	if opt.Entries {
		magic = entriesMagic
	}
	visitor.Magic(magic, "sample of rows")
	d := visitor.Length("number of columns", s.d, maxColumns)
	if replaced.d > 0 && d != replaced.d {
		visitor.Fail("%d columns, want %d", d, replaced.d)
	}
	visitor.Word(&opt.Seed)
	words.Count(visitor, "rows to keep", &opt.Rows, maxRows)
	n := visitor.Length("rows", len(rows), opt.Rows)
	if opt.Rows == 0 {
		visitor.Fail("a sample that keeps no rows")
	}
	if visitor.Reads() && visitor.Err() == nil {
		s.d, s.opt = d, opt
		visitor.Stop(s.checkMemoryLimit(n))
	}
	words.VisitElements(visitor, &rows, n, func(i int, row *sampledRow) {
		words.Count(visitor, "position", &row.position, math.MaxInt64)
		if opt.Entries {
			row.entries.encodeOrDecode(visitor, d)
		} else {
			visitValues(visitor, &row.values, d)
		}
		if !visitor.Reads() || visitor.Err() != nil {
			return
		}
		row.chunkRow, row.start, row.key = noChunkRow, s.groupStart(row.position), s.hashRow(row.position)
		if i > 0 && compareRows(rows[i-1], *row) > 0 {
			visitor.Fail("rows are not in the order of their keys")
		}
		s.entryBytes += row.entries.heldBytes()
		visitor.Stop(s.checkMemoryLimit(i + 1))
	})
	if visitor.Reads() {
		slices.Reverse(rows) // descending keys are a heap
		s.rows = rows
	}
}

// visitValues passes n values to v one by one, because a damaged head may announce more values than follow.
func visitValues(v *words.Visitor, values *[]float64, n int) {
	v.Expect(n)
	words.VisitElements(v, values, n, func(_ int, x *float64) {
		if v.Float(x); math.IsInf(*x, 0) {
			v.Fail("an infinite value in a row")
		}
	})
}

func (e *rowEntries) encodeOrDecode(visitor *words.Visitor, d int) {
	n := visitor.Length("entries", len(e.index), d)
	visitor.Expect(2 * n)
	words.VisitElements(visitor, &e.index, n, func(_ int, j *int32) { words.Count(visitor, "column", j, d-1) })
	visitValues(visitor, &e.value, n)
}
