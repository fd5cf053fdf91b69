package anchor

import (
	"io"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// The binary form of a Sampler consists of 8-byte little-endian words, and equal samples have equal bytes. It begins
// with "ufssamp1", d, the seed, the largest number of rows and the number of rows. For each row, in the order of the
// keys, it has the position and d values. The form of a sample of sparse rows begins with "ufssent1". In place of the
// values, each row then has the number of entries, their columns and their values.

// WriteTo writes the binary form of s. It implements io.WriterTo.
func (s *Sampler) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.MagicWord(s.binaryFormMagic()))
	e.Int(int64(s.d))
	e.Word(s.opt.Seed)
	e.Int(int64(s.opt.Rows))
	e.Int(int64(len(s.rows)))
	for _, r := range s.sortedRows() {
		e.Int(r.position)
		if !s.opt.Entries {
			e.Floats(r.values)
			continue
		}
		e.Int(int64(len(r.entries.index)))
		for _, j := range r.entries.index {
			e.Int(int64(j))
		}
		e.Floats(r.entries.value)
	}
	return e.Finish()
}

func (s *Sampler) binaryFormMagic() string {
	if s.opt.Entries {
		return entriesMagic
	}
	return samplerMagic
}

// ReadFrom replaces s by a sample that WriteTo wrote, including the seed and the largest number of rows, and reads
// nothing after it. It keeps the other options of s, so that adding further rows has the same effect as adding them to
// the original. If s has columns, the numbers of columns must agree. Memory grows with the bytes read. If it would
// exceed the limit, ReadFrom fails with a *stream.MemoryError before it reads any row. s is unchanged on error.
func (s *Sampler) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(s, r, s.decodeSampler)
}

func (s *Sampler) decodeSampler(r *words.Reader) *Sampler {
	r.Magic(s.binaryFormMagic(), "sample of rows")
	r.Expect(4)
	got := &Sampler{d: int(r.Count("number of columns", maxColumns)), opt: s.opt}
	if s.d > 0 && got.d != s.d {
		r.Fail("%d columns, want %d", got.d, s.d)
	}
	got.opt.Seed = r.Word()
	got.opt.Rows = int(r.Count("rows to keep", maxRows))
	n := int(r.Count("rows", int64(got.opt.Rows)))
	if got.opt.Rows == 0 {
		r.Fail("a sample that keeps no rows")
	}
	if r.Err() == nil {
		r.Stop(got.checkMemoryLimit(n))
	}
	for i := range n {
		if r.Err() != nil {
			return nil
		}
		r.Expect(1)
		row := sampledRow{position: r.Count("position", math.MaxInt64), chunkRow: noChunkRow}
		if s.opt.Entries {
			got.decodeEntries(r, &row.entries)
		} else {
			r.Expect(int64(got.d))
			row.values = slices.Clip(decodeValues(r, got.d))
		}
		row.start = got.groupStart(row.position)
		row.key = splitmix.Hash(got.opt.Seed, uint64(row.position))
		if i > 0 && compareRows(got.rows[i-1], row) > 0 {
			r.Fail("rows are not in the order of their keys")
		}
		got.rows = append(got.rows, row)
	}
	slices.Reverse(got.rows) // descending keys are a heap
	return got
}

// decodeValues reads n announced values one by one, because a damaged head may announce more values than follow.
func decodeValues(r *words.Reader, n int) (values []float64) {
	for range n {
		if r.Err() != nil {
			return nil
		}
		v := r.Float()
		if math.IsInf(v, 0) {
			r.Fail("an infinite value in a row")
		}
		values = append(values, v)
	}
	return values
}

func (s *Sampler) decodeEntries(r *words.Reader, e *rowEntries) {
	r.Expect(1)
	n := int(r.Count("entries", int64(s.d)))
	r.Expect(2 * int64(n))
	for range n {
		if r.Err() != nil {
			return
		}
		e.index = append(e.index, int32(r.Count("column", int64(s.d)-1)))
	}
	e.value = decodeValues(r, n)
	s.entryBytes += e.heldBytes()
	if r.Err() == nil {
		r.Stop(s.checkMemoryLimit(len(s.rows) + 1))
	}
}
