package gram

import (
	"io"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// Magic words of the binary forms; the last character is the version.
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

// columnWords is the number of words of a column of a profile.
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

func (p *Profile) encodeOrDecode(v *words.Visitor, old *Profile) {
	v.Magic(profileMagic, "profile")
	d := v.Length("number of columns", len(p.Columns), maxColumns)
	checkColumns(v, d, len(old.Columns))
	words.Count(v, "rows", &p.Rows, words.MostRows)
	words.Count(v, "rows seen", &p.Seen, words.MostRows)
	v.Float(&p.Weight)
	if p.Rows > p.Seen || !(p.Weight >= 0) || (p.Weight > 0) != (p.Rows > 0) {
		v.Fail("%d rows of %d, weight %g", p.Rows, p.Seen, p.Weight)
	}
	v.Expect(d * columnWords)
	words.VisitElements(v, &p.Columns, d, func(_ int, c *ColumnProfile) { c.encodeOrDecode(v, p) })
}

func checkColumns(v *words.Visitor, d, want int) {
	if want > 0 && d != want {
		v.Fail("%d columns, want %d", d, want)
	}
}

func (c *ColumnProfile) encodeOrDecode(v *words.Visitor, p *Profile) {
	v.FloatFields(&c.Pilot, &c.Weight, &c.Sum, &c.Squares, &c.Min, &c.Max)
	words.Count(v, "observed entries", &c.Observed, p.Rows)
	words.Count(v, "nulls", &c.Missing.Nulls, p.Seen)
	words.Count(v, "NaNs", &c.Missing.NaNs, p.Seen)
	words.Count(v, "Infs", &c.Missing.Infs, p.Seen)
	v.Flag("the flag of a rising column", &c.Rising)
	finite := isFinite(c.Pilot) && isFinite(c.Min) && isFinite(c.Max)
	if !finite || c.Observed > 0 && !(c.Min <= c.Max && c.Weight > 0) {
		v.Fail("pilot %g, minimum %g, maximum %g, weight %g", c.Pilot, c.Min, c.Max, c.Weight)
	}
}

// visitAscending passes the n numbers in list to v, which ascend and are of the columns with missing entries among d
// columns. After each of them it calls next.
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

func (m *Moments) encodeOrDecode(v *words.Visitor, old *Moments) {
	v.Magic(momentsMagic, "Gram statistics")
	m.Profile.encodeOrDecode(v, &old.Profile)
	d, missing := len(m.Profile.Columns), m.missing
	dm := v.Length("columns with missing entries", len(missing), d)
	v.Expect(dm)
	visitAscending(v, &missing, dm, d, func(int) {})
	if m.Profile.Rows == 0 && dm > 0 {
		v.Fail("missing entries in no rows")
	}
	if v.Err() == nil && v.Reads() {
		p := m.Profile
		*m = *NewMoments(d, old.opt)
		if m.Profile, m.scratch = p, old.scratch; m.Profile.Rows > 0 {
			v.Stop(m.allocateMissing(missing, false))
		}
	}
	if v.Err() == nil && m.g != nil {
		v.UpperTriangle(m.g, d)
		v.Floats(m.cross)
		v.UpperTriangle(m.bothMissing, dm)
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

func (s *Sketch) encodeOrDecode(v *words.Visitor, old *Sketch) {
	v.Magic(sketchMagic, "sketch")
	d, opt, filled := v.Length("number of columns", s.d, maxColumns), old.opt, s.sums != nil
	checkColumns(v, d, old.d)
	if words.Count(v, "rows of a sketch", &opt.Rows, maxSketchRows); opt.Rows != SketchRows(opt.Rows) {
		v.Fail("%d rows of a sketch", opt.Rows)
	}
	v.Word(&opt.Seed)
	v.Flag("the flag of a sketch with rows", &filled)
	most := 0
	if filled {
		most = d
	}
	gaps := v.Length("columns with missing entries", len(s.missingSketches), most)
	if v.Reads() && v.Err() == nil {
		if *s = *NewSketch(d, opt); filled {
			v.Stop(s.checkLimit(gaps))
		}
	}
	if v.Err() != nil || !filled {
		return
	}
	if v.Reads() {
		v.Stop(s.allocateMissing(nil))
	}
	s.ones.encodeOrDecode(v)
	columns := slices.Sorted(maps.Keys(s.missingSketches))
	visitAscending(v, &columns, gaps, d, func(j int) {
		if v.Reads() {
			v.Stop(s.allocateMissing([]int{j}))
		}
		if v.Err() == nil {
			s.missingSketches[j].encodeOrDecode(v)
		}
	})
	for j := range s.top {
		column := sketchColumn{s.top[j], s.columnSums(j)}
		if column.encodeOrDecode(v); v.Reads() {
			s.top[j] = column.top
		}
	}
}

func (c *sketchColumn) encodeOrDecode(v *words.Visitor) {
	digit := int(c.top) - lowestTop
	if words.Count(v, "digit", &digit, highestTop-lowestTop); v.Reads() {
		c.top = int8(digit + lowestTop)
	}
	v.Ints(c.sums)
}
