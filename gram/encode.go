package gram

import (
	"io"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// Magic words, with which the binary forms begin. The last character is the version of the form.
const (
	profileMagic = "ufsprof1"
	momentsMagic = "ufsgram1"
	sketchMagic  = "ufssket1"
)

// These are the binary forms, in 8-byte little-endian words. Equal states have equal bytes. d is the number of columns,
// dm the number of columns with missing entries, s the pilot of a column, and r the number of rows of a sketch. See
// [Moments] for G̃, A and N.
//
//	Profile  "ufsprof1", d, rows, seen, Σw, then d times: pilot, Σw, Σw(x-s), Σw(x-s)²,
//	         min, max, observed, nulls, NaNs, Infs, rising (0 or 1)
//	Moments  "ufsgram1", Profile, dm, the dm columns with missing entries (ascending),
//	         and, if there are rows, the upper triangle of G̃ by rows, A, and the
//	         upper triangle of N by rows
//	Sketch   "ufssket1", d, r, seed, 1 if there are rows, dm, and then for a column of
//	         ones, for each of dm columns with missing entries (preceded by its number)
//	         and for each of d columns: top, r sums of the higher digit, r of the lower

// columnWords is the number of 8-byte words in the binary form of a column of a profile.
const columnWords = 11

// WriteTo writes the binary form of p. It implements io.WriterTo.
func (p *Profile) WriteTo(w io.Writer) (int64, error) {
	return words.WriteState(w, func(v *words.Visitor) { p.encodeOrDecode(v, p) })
}

// ReadFrom replaces p by a profile that WriteTo wrote, and reads no further. If p has columns, the numbers of columns
// must agree. Memory grows with the bytes read, not with the sizes stated at the beginning. On error p is unchanged.
func (p *Profile) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(p, r, (*Profile).encodeOrDecode)
}

func (p *Profile) encodeOrDecode(visitor *words.Visitor, replaced *Profile) {
	visitor.Magic(profileMagic, "profile")
	d := visitor.Length("number of columns", len(p.Columns), maxColumns)
	checkColumnCount(visitor, d, len(replaced.Columns))
	words.Count(visitor, "rows", &p.Rows, words.MostRows)
	words.Count(visitor, "rows seen", &p.Seen, words.MostRows)
	visitor.Float(&p.Weight)
	if p.Rows > p.Seen || !(p.Weight >= 0) || (p.Weight > 0) != (p.Rows > 0) {
		visitor.Fail("%d rows of %d, weight %g", p.Rows, p.Seen, p.Weight)
	}
	visitor.Expect(d * columnWords)
	words.VisitElements(visitor, &p.Columns, d, func(_ int, c *ColumnProfile) { c.encodeOrDecode(visitor, p) })
}

func checkColumnCount(v *words.Visitor, got, want int) {
	if want > 0 && got != want {
		v.Fail("%d columns, want %d", got, want)
	}
}

func (c *ColumnProfile) encodeOrDecode(visitor *words.Visitor, profile *Profile) {
	visitor.FloatFields(&c.Pilot, &c.Weight, &c.Sum, &c.Squares, &c.Min, &c.Max)
	words.Count(visitor, "observed entries", &c.Observed, profile.Rows)
	words.Count(visitor, "nulls", &c.Missing.Nulls, profile.Seen)
	words.Count(visitor, "NaNs", &c.Missing.NaNs, profile.Seen)
	words.Count(visitor, "Infs", &c.Missing.Infs, profile.Seen)
	visitor.Flag("the flag of a rising column", &c.Rising)
	finite := isFinite(c.Pilot) && isFinite(c.Min) && isFinite(c.Max)
	if !finite || c.Observed > 0 && !(c.Min <= c.Max && c.Weight > 0) {
		visitor.Fail("pilot %g, minimum %g, maximum %g, weight %g", c.Pilot, c.Min, c.Max, c.Weight)
	}
}

// visitAscending passes the first n elements of list to v. They are ascending indices of columns, all below d. After
// each element it calls next.
func visitAscending(v *words.Visitor, list *[]int, n, d int, next func(j int)) {
	words.VisitElements(v, list, n, func(k int, j *int) {
		words.Count(v, "column", j, d-1)
		if k > 0 && *j <= (*list)[k-1] {
			v.Fail("columns with missing entries do not ascend")
		}
		if v.Err() == nil {
			next(*j)
		}
	})
}

// WriteTo writes the binary form of m through a buffer of 64 KiB. It implements io.WriterTo.
func (m *Moments) WriteTo(w io.Writer) (int64, error) {
	return words.WriteState(w, func(v *words.Visitor) { m.encodeOrDecode(v, m) })
}

// ReadFrom replaces m's state by one that WriteTo wrote, and reads no further. It keeps m's Options. Adding more rows
// then gives the same bits as adding them to the original. If m has columns, the numbers of columns must agree. If the
// matrices do not fit m's limit, ReadFrom fails with a *stream.MemoryError before it allocates them. On error m is
// unchanged.
func (m *Moments) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(m, r, (*Moments).encodeOrDecode)
}

func (m *Moments) encodeOrDecode(visitor *words.Visitor, replaced *Moments) {
	visitor.Magic(momentsMagic, "Gram statistics")
	m.Profile.encodeOrDecode(visitor, &replaced.Profile)
	d, missing := len(m.Profile.Columns), m.missing
	dm := visitor.Length("columns with missing entries", len(missing), d)
	visitor.Expect(dm)
	visitAscending(visitor, &missing, dm, d, func(int) {})
	if m.Profile.Rows == 0 && dm > 0 {
		visitor.Fail("missing entries in no rows")
	}
	if visitor.Err() == nil && visitor.Reads() {
		p := m.Profile
		*m = *NewMoments(d, replaced.opt)
		if m.Profile, m.scratch = p, replaced.scratch; m.Profile.Rows > 0 {
			visitor.Stop(m.allocateForMissing(missing, false))
		}
	}
	if visitor.Err() == nil && m.g != nil {
		visitor.UpperTriangle(m.g, d)
		visitor.Floats(m.cross)
		visitor.UpperTriangle(m.bothMissing, dm)
	}
}

// WriteTo writes the binary form of s. It implements io.WriterTo.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) {
	return words.WriteState(w, func(v *words.Visitor) { s.encodeOrDecode(v, s) })
}

// ReadFrom replaces s's state by one that WriteTo wrote, and reads no further. It keeps the threads and the limit of s.
// If the state exceeds the limit, it fails with a *stream.MemoryError. If s has columns, the numbers of columns must
// agree. On error s is unchanged.
func (s *Sketch) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(s, r, (*Sketch).encodeOrDecode)
}

func (s *Sketch) encodeOrDecode(visitor *words.Visitor, replaced *Sketch) {
	visitor.Magic(sketchMagic, "sketch")
	d, opt, filled := visitor.Length("number of columns", s.d, maxColumns), replaced.opt, s.sums != nil
	checkColumnCount(visitor, d, replaced.d)
	if words.Count(visitor, "rows of a sketch", &opt.Rows, maxSketchRows); opt.Rows != SketchRows(opt.Rows) {
		visitor.Fail("%d rows of a sketch", opt.Rows)
	}
	visitor.Word(&opt.Seed)
	visitor.Flag("the flag of a sketch with rows", &filled)
	most := 0
	if filled {
		most = d
	}
	gaps := visitor.Length("columns with missing entries", len(s.missingSketches), most)
	if visitor.Reads() && visitor.Err() == nil {
		if *s = *NewSketch(d, opt); filled {
			visitor.Stop(s.checkLimit(gaps))
		}
	}
	if visitor.Err() != nil || !filled {
		return
	}
	if visitor.Reads() {
		visitor.Stop(s.allocateForMissing(nil))
	}
	s.ones.encodeOrDecode(visitor)
	columns := slices.Sorted(maps.Keys(s.missingSketches))
	visitAscending(visitor, &columns, gaps, d, func(j int) {
		if visitor.Reads() {
			visitor.Stop(s.allocateForMissing([]int{j}))
		}
		if visitor.Err() == nil {
			s.missingSketches[j].encodeOrDecode(visitor)
		}
	})
	for j := range s.top {
		column := sketchColumn{s.top[j], s.columnSums(j)}
		if column.encodeOrDecode(visitor); visitor.Reads() {
			s.top[j] = column.top
		}
	}
}

func (c *sketchColumn) encodeOrDecode(visitor *words.Visitor) {
	digit := int(c.top) - lowestTop
	if words.Count(visitor, "digit", &digit, highestTop-lowestTop); visitor.Reads() {
		c.top = int8(digit + lowestTop)
	}
	visitor.Ints(c.sums)
}
