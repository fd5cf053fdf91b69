package hygiene

import (
	"io"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// The binary form consists of 8-byte little-endian words:
//
//	"ufsfact1", d, rows, whether there are too many candidates for identifiers, whether there is a label
//	for each of d columns: hash; isUnique + 2·isNotID + 4·units, and 128 more if ends follow;
//	    number of sketch hashes plus 1, or 0 without a sketch;
//	    the sketch: number of values seen, then each hash (ascending) with its count;
//	    the ends: number of values seen; for the lower end, and for the upper end with negated values:
//	    counts of the extreme value and of the next value, and these two values
//	for a label: 1 if it has too many classes + 2 if values are codes of texts (chunkio.Options.Target);
//	    number of classes, the value of each; for each column n, pilots of x and y,
//	    Σw, Σwx, Σwy, Σwxx, Σwyy, Σwxy about the pilots; for each class and column n, Σw, Σwx, min, max
const magic = "ufsfact1"

const (
	maxColumns = 1 << 31
	withEnds   = 4 * (int(allUnits) + 1) // flag of a column that is followed by its ends
)

// WriteTo writes the binary form of f. It implements io.WriterTo.
//
// While rows are added, columns are found to have no copy at moments that depend on the chunks and on interruptions of
// the run. So that the bytes do not depend on these, WriteTo first finds all columns without a copy, and writes the
// hash 0 for them.
func (f *Facts) WriteTo(w io.Writer) (int64, error) {
	f.markColumnsWithUniqueHash()
	return words.WriteState(w, func(v *words.Visitor) { f.encodeOrDecode(v, f) })
}

// ReadFrom replaces f by the facts that WriteTo wrote for the same number of columns. It reads no further than the end
// of these. If it fails, f is unchanged.
func (f *Facts) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(f, r, (*Facts).encodeOrDecode)
}

func (f *Facts) encodeOrDecode(v *words.Visitor, previous *Facts) {
	v.Magic(magic, "facts about columns")
	d, labelled := v.Length("number of columns", len(f.columns), maxColumns), f.label != nil
	if d != len(previous.columns) {
		v.Fail("%d columns, want %d", d, len(previous.columns))
	}
	words.Count(v, "rows", &f.rows, words.MostRows)
	v.Flag("a flag", &f.tooManyIDs)
	v.Flag("a flag", &labelled)
	v.Expect(3 * d)
	words.VisitElements(v, &f.columns, d, func(j int, c *column) { f.encodeOrDecodeColumn(v, c, j, d) })
	if v.Err() != nil || !labelled {
		return
	}
	if v.Reads() {
		f.label = newLabel(nil, d, 0)
		if previous.label != nil {
			f.label.threads = previous.label.threads
		}
	}
	f.label.encodeOrDecode(v)
}

func (f *Facts) encodeOrDecodeColumn(v *words.Visitor, c *column, index, columnCount int) {
	hash, flags := c.hash, packFlags(c.isUnique, c.isNotID)+4*int(c.units)
	if c.isUnique { // its hash covers only the rows before it was found to be unique
		hash = 0
	}
	if index < len(f.ends) && f.ends[index].seen > 0 {
		flags += withEnds
	}
	v.Word(&hash)
	words.Count(v, "flags", &flags, 2*withEnds-1)
	n := 0
	if c.distinct != nil {
		n = len(c.distinct.hash) + 1
	}
	n = v.Length("hashes kept", n, sketchSize+1)
	if v.Reads() {
		c.hash, c.isUnique, c.isNotID, c.units = hash, flags&1 == 1, flags&2 == 2, unitSet(flags%withEnds>>2)
		if n > 0 {
			f.candidates++
			c.distinct = new(distinctSketch)
		}
	}
	if n > 0 {
		c.distinct.encodeOrDecode(v, n-1)
	}
	if c.distinct != nil && (c.isNotID || f.tooManyIDs) || f.candidates > maxSketched {
		v.Fail("an unexpected sketch")
	}
	if flags < withEnds || v.Err() != nil {
		return
	}
	if index >= maxEndColumns {
		v.Fail("unexpected ends")
		return
	}
	if f.ends == nil {
		f.ends = newEnds(nil, columnCount)
	}
	f.ends[index].encodeOrDecode(v)
}

func packFlags(firstBit, secondBit bool) (flags int) {
	if firstBit {
		flags = 1
	}
	if secondBit {
		flags += 2
	}
	return flags
}

func (s *distinctSketch) encodeOrDecode(v *words.Visitor, hashCount int) {
	v.Expect(1 + 2*hashCount)
	words.Count(v, "values", &s.seen, math.MaxInt64)
	if v.Reads() && hashCount > 0 {
		s.layOut(nil)
		s.hash, s.count = s.hash[:hashCount], s.count[:hashCount]
	}
	for i := range s.hash {
		if v.Word(&s.hash[i]); i > 0 && s.hash[i] <= s.hash[i-1] {
			v.Fail("hashes do not ascend")
		}
		words.Count(v, "times", &s.count[i], math.MaxUint32)
	}
}

func (l *label) encodeOrDecode(v *words.Visitor) {
	d, flags := len(l.pairs), packFlags(l.tooManyClasses, l.codes)
	words.Count(v, "flags", &flags, 3)
	n := v.Length("classes", len(l.values), maxClasses)
	if flags&1 == 1 && n > 0 || n*d > maxCells {
		v.Fail("%d classes have sums", n)
	}
	if v.Err() != nil {
		return
	}
	if v.Reads() {
		l.tooManyClasses, l.codes, l.values = flags&1 == 1, flags&2 == 2, make([]float64, n)
	}
	v.Floats(l.values)
	for k, y := range l.values {
		if y != y || slices.Contains(l.values[:k], y) {
			v.Fail("class %d is %g, which is not a number or repeated", k, y)
		}
	}
	v.Expect(9 * d)
	for j := range l.pairs {
		p := &l.pairs[j]
		words.Count(v, "rows", &p.n, words.MostRows)
		v.FloatFields(&p.px, &p.py, &p.weight, &p.sx, &p.sy, &p.sxx, &p.syy, &p.sxy)
	}
	v.Expect(5 * n * d)
	words.VisitElements(v, &l.classes, n, func(_ int, cells *[]classSums) {
		words.VisitElements(v, cells, d, func(_ int, c *classSums) {
			words.Count(v, "rows", &c.n, words.MostRows)
			v.FloatFields(&c.weight, &c.sum, &c.lo, &c.hi)
		})
	})
}
