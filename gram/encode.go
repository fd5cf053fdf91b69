package gram

import (
	"io"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
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

// A profile has headWords words between its magic word and its columns, and columnWords words for each column.
const (
	headWords   = 4
	columnWords = 11
)

// WriteTo writes the binary form of p. It implements io.WriterTo.
func (p *Profile) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	p.encodeProfile(e)
	return e.Finish()
}

func (p *Profile) encodeProfile(w *words.Writer) {
	w.Word(words.MagicWord(profileMagic))
	w.Int(int64(len(p.Columns)))
	w.Int(p.Rows)
	w.Int(p.Seen)
	w.Float(p.Weight)
	for j := range p.Columns {
		c := &p.Columns[j]
		w.Floats([]float64{c.Pilot, c.Weight, c.Sum, c.Squares, c.Min, c.Max})
		for _, n := range [...]int64{c.Observed, c.Missing.Nulls, c.Missing.NaNs, c.Missing.Infs} {
			w.Int(n)
		}
		rising := int64(0)
		if c.Rising {
			rising = 1
		}
		w.Int(rising)
	}
}

// ReadFrom replaces p by a profile that WriteTo wrote, and reads no further. If p has columns, the numbers of columns
// must agree. Memory grows with the bytes read, not with the sizes stated at the beginning. On error p is unchanged.
func (p *Profile) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(p, r, p.decodeProfile)
}

// decodeProfile reads a profile. If p has columns, the number of columns must agree.
func (p *Profile) decodeProfile(r *words.Reader) *Profile {
	r.Magic(profileMagic, "profile")
	r.Expect(headWords)
	want, p := len(p.Columns), new(Profile)
	d := r.Count("number of columns", maxColumns)
	if want > 0 && d != int64(want) {
		r.Fail("%d columns, want %d", d, want)
	}
	p.Rows = r.Count("rows", words.MostRows)
	p.Seen = r.Count("rows seen", words.MostRows)
	p.Weight = r.Float()
	if p.Rows > p.Seen || !(p.Weight >= 0) || (p.Weight > 0) != (p.Rows > 0) {
		r.Fail("%d rows of %d, weight %g", p.Rows, p.Seen, p.Weight)
	}
	r.Expect(d * columnWords)
	for j := int64(0); j < d && r.Err() == nil; j++ {
		p.Columns = append(p.Columns, decodeColumn(r, p))
	}
	p.Columns = slices.Clip(p.Columns)
	return p
}

func decodeColumn(r *words.Reader, p *Profile) ColumnProfile {
	var f [6]float64
	r.Floats(f[:])
	c := ColumnProfile{Pilot: f[0], Weight: f[1], Sum: f[2], Squares: f[3], Min: f[4], Max: f[5]}
	c.Observed = r.Count("observed entries", p.Rows)
	c.Missing = stream.MissingCount{
		Nulls: r.Count("nulls", p.Seen), NaNs: r.Count("NaNs", p.Seen), Infs: r.Count("Infs", p.Seen),
	}
	c.Rising = r.Count("the flag of a rising column", 1) == 1
	finite := isFinite(c.Pilot) && isFinite(c.Min) && isFinite(c.Max)
	if !finite || c.Observed > 0 && !(c.Min <= c.Max && c.Weight > 0) {
		r.Fail("pilot %g, minimum %g, maximum %g, weight %g", c.Pilot, c.Min, c.Max, c.Weight)
	}
	return c
}

// WriteTo writes the binary form of m through a buffer of 64 KiB. It implements io.WriterTo.
func (m *Moments) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	d, dm := len(m.Columns), len(m.missing)
	e.Word(words.MagicWord(momentsMagic))
	m.encodeProfile(e)
	e.Int(int64(dm))
	for _, j := range m.missing {
		e.Int(int64(j))
	}
	if m.g != nil {
		for i := range d {
			e.Floats(m.g[i*d+i : (i+1)*d])
		}
		e.Floats(m.cross)
		for k := range dm {
			e.Floats(m.bothMissing[k*dm+k : (k+1)*dm])
		}
	}
	return e.Finish()
}

// ReadFrom replaces m's state by one that WriteTo wrote, and reads no further. It keeps m's Options. Adding more rows
// then gives the same bits as adding them to the original. If m has columns, the numbers of columns must agree. If the
// matrices do not fit m's limit, ReadFrom fails with a *stream.MemoryError before it allocates them. On error m is
// unchanged.
func (m *Moments) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(m, r, m.decodeMoments)
}

func (m *Moments) decodeMoments(r *words.Reader) *Moments {
	r.Magic(momentsMagic, "Gram statistics")
	p := m.decodeProfile(r)
	d := len(p.Columns)
	r.Expect(1)
	dm := r.Count("columns with missing entries", int64(d))
	r.Expect(dm)
	var missing []int
	for range dm {
		j := int(r.Count("column", int64(d)-1))
		if n := len(missing); n > 0 && j <= missing[n-1] {
			r.Fail("columns with missing entries do not ascend")
		}
		if r.Err() != nil {
			return nil
		}
		missing = append(missing, j)
	}
	if p.Rows == 0 && len(missing) > 0 {
		r.Fail("missing entries in no rows")
	}
	if r.Err() != nil {
		return nil
	}
	got := NewMoments(d, m.opt)
	got.Profile, got.scratch = *p, m.scratch
	if p.Rows == 0 {
		return got
	}
	if r.Stop(got.allocateMissing(missing, false)); r.Err() != nil {
		return nil
	}
	r.Expect(int64(d)*int64(d+1)/2 + int64(len(got.cross)) + dm*(dm+1)/2)
	for i := range d {
		r.Floats(got.g[i*d+i : (i+1)*d])
	}
	r.Floats(got.cross)
	for k := range dm {
		r.Floats(got.bothMissing[k*dm+k : (k+1)*dm])
	}
	return got
}

// WriteTo writes the binary form of s. It implements io.WriterTo.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.MagicWord(sketchMagic))
	filled := int64(0)
	if s.sums != nil {
		filled = 1
	}
	for _, n := range [...]int64{int64(s.d), int64(s.opt.Rows), int64(s.opt.Seed), filled, int64(len(s.missingSketches))} {
		e.Int(n)
	}
	put := func(top int8, sums []int64) {
		e.Int(int64(top) - lowestTop)
		for _, v := range sums {
			e.Int(v)
		}
	}
	if filled == 0 {
		return e.Finish()
	}
	put(s.ones.top, s.ones.sums)
	for _, j := range slices.Sorted(maps.Keys(s.missingSketches)) {
		e.Int(int64(j))
		put(s.missingSketches[j].top, s.missingSketches[j].sums)
	}
	for j, top := range s.top {
		put(top, s.columnSums(j))
	}
	return e.Finish()
}

// ReadFrom replaces s's state by one that WriteTo wrote, and reads no further. It keeps the threads and the limit of s.
// If the state exceeds the limit, it fails with a *stream.MemoryError. If s has columns, the numbers of columns must
// agree. On error s is unchanged.
func (s *Sketch) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(s, r, s.decodeSketch)
}

func (s *Sketch) decodeSketch(r *words.Reader) *Sketch {
	r.Magic(sketchMagic, "sketch")
	r.Expect(5)
	d := r.Count("number of columns", maxColumns)
	if s.d > 0 && d != int64(s.d) {
		r.Fail("%d columns, want %d", d, s.d)
	}
	opt := s.opt
	rows := r.Count("rows of a sketch", maxSketchRows)
	if opt.Rows = int(rows); rows != int64(SketchRows(opt.Rows)) {
		r.Fail("%d rows of a sketch", rows)
	}
	opt.Seed = r.Word()
	filled := r.Count("the flag of a sketch with rows", 1)
	gaps := r.Count("columns with missing entries", d*filled)
	got := NewSketch(int(d), opt)
	if r.Err() != nil || filled == 0 {
		return got
	}
	get := func(top *int8, sums []int64) {
		*top = int8(r.Count("digit", highestTop-lowestTop) + lowestTop)
		for i := range sums {
			sums[i] = int64(r.Word())
		}
	}
	one := 1 + 2*rows
	r.Expect(one*(1+d+gaps) + gaps)
	if r.Stop(got.checkLimit(int(gaps))); r.Err() == nil {
		r.Stop(got.allocateMissing(nil))
	}
	if r.Err() != nil {
		return nil
	}
	get(&got.ones.top, got.ones.sums)
	last := int64(-1)
	for range gaps {
		j := r.Count("column", d-1)
		if j <= last {
			r.Fail("columns with missing entries do not ascend")
		}
		if r.Stop(got.allocateMissing([]int{int(j)})); r.Err() != nil {
			return nil
		}
		get(&got.missingSketches[int(j)].top, got.missingSketches[int(j)].sums)
		last = j
	}
	for j := range got.top {
		if r.Err() != nil {
			return nil
		}
		get(&got.top[j], got.columnSums(j))
	}
	return got
}
