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
	withEnds   = 4 * (int64(allUnits) + 1)
)

// WriteTo writes the binary form of f. It implements io.WriterTo.
//
// While rows are added, columns are found to have no copy at moments that depend on the chunks and on interruptions of
// the run. So that the bytes do not depend on these, WriteTo first finds all columns without a copy, and writes the
// hash 0 for them.
func (f *Facts) WriteTo(w io.Writer) (int64, error) {
	f.markUniqueHashes()
	e := words.NewWriter(w)
	e.Word(words.MagicWord(magic))
	e.Int(int64(len(f.columns)))
	e.Int(f.rows)
	e.Int(flagWord(f.tooManyIDs))
	e.Int(flagWord(f.label != nil))
	for j := range f.columns {
		c := &f.columns[j]
		hash := c.hash
		if c.isUnique { // its hash covers only the rows before it was found to be unique
			hash = 0
		}
		e.Word(hash)
		ended := j < len(f.ends) && f.ends[j].seen > 0
		e.Int(flagWord(c.isUnique) + 2*flagWord(c.isNotID) + 4*int64(c.units) + withEnds*flagWord(ended))
		if c.distinct == nil {
			e.Int(0)
		} else {
			e.Int(int64(len(c.distinct.hash)) + 1)
			e.Int(c.distinct.seen)
			for i, h := range c.distinct.hash {
				e.Word(h)
				e.Int(int64(c.distinct.count[i]))
			}
		}
		if ended {
			f.ends[j].encodeTo(e)
		}
	}
	if f.label != nil {
		f.label.encodeLabel(e)
	}
	return e.Finish()
}

func flagWord(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (l *label) encodeLabel(e *words.Writer) {
	e.Int(flagWord(l.tooManyClasses) + 2*flagWord(l.codes))
	e.Int(int64(len(l.values)))
	e.Floats(l.values)
	for j := range l.pairs {
		p := &l.pairs[j]
		e.Int(p.n)
		e.Floats([]float64{p.px, p.py, p.weight, p.sx, p.sy, p.sxx, p.syy, p.sxy})
	}
	for _, cells := range l.classes {
		for j := range cells {
			e.Int(cells[j].n)
			e.Floats([]float64{cells[j].weight, cells[j].sum, cells[j].lo, cells[j].hi})
		}
	}
}

// ReadFrom replaces f by the facts that WriteTo wrote for the same number of columns. It reads no further than the end
// of these. If it fails, f is unchanged.
func (f *Facts) ReadFrom(r io.Reader) (int64, error) { return words.Replace(f, r, f.decodeFacts) }

func (f *Facts) decodeFacts(r *words.Reader) *Facts {
	r.Magic(magic, "facts about columns")
	r.Expect(4)
	d := r.Count("number of columns", maxColumns)
	if d != int64(len(f.columns)) {
		r.Fail("%d columns, want %d", d, len(f.columns))
	}
	got := &Facts{rows: r.Count("rows", words.MostRows), tooManyIDs: r.Count("a flag", 1) == 1}
	labelled := r.Count("a flag", 1) == 1
	r.Expect(3 * d)
	for j := int64(0); j < d && r.Err() == nil; j++ {
		c := column{hash: r.Word()}
		flags := r.Count("flags", 2*withEnds-1)
		c.isUnique, c.isNotID, c.units = flags&1 == 1, flags&2 == 2, unitSet(flags%withEnds>>2)
		if n := r.Count("hashes kept", sketchSize+1); n > 0 {
			got.candidates++
			c.distinct = decodeSketch(r, n-1)
		}
		if c.distinct != nil && (c.isNotID || got.tooManyIDs) || got.candidates > maxSketched {
			r.Fail("an unexpected sketch")
		}
		if flags&withEnds != 0 && r.Err() == nil {
			if j >= maxEndColumns {
				r.Fail("unexpected ends")
			}
			if got.ends == nil {
				got.ends = make([]columnEnds, min(d, maxEndColumns))
			}
			got.ends[j%maxEndColumns] = decodeEnds(r)
		}
		got.columns = append(got.columns, c)
	}
	if labelled && r.Err() == nil {
		got.label = decodeLabel(r, int(d))
		if f.label != nil && got.label != nil {
			got.label.threads = f.label.threads
		}
	}
	return got
}

func decodeSketch(r *words.Reader, n int64) *distinctSketch {
	r.Expect(1 + 2*n)
	s := &distinctSketch{seen: r.Count("values", math.MaxInt64)}
	for i := int64(0); i < n && r.Err() == nil; i++ {
		h := r.Word()
		if i > 0 && h <= s.hash[i-1] {
			r.Fail("hashes do not ascend")
		}
		s.insertHash(int(i), h, uint32(r.Count("times", math.MaxUint32)))
	}
	return s
}

func decodeLabel(r *words.Reader, d int) *label {
	l := newLabel(d, 0)
	r.Expect(2)
	flags := r.Count("flags", 3)
	l.tooManyClasses, l.codes = flags&1 == 1, flags&2 == 2
	n := r.Count("classes", maxClasses)
	if l.tooManyClasses && n > 0 || n*int64(d) > maxCells {
		r.Fail("%d classes have sums", n)
	}
	if r.Err() != nil {
		return nil
	}
	r.Expect(n)
	l.values = make([]float64, n)
	r.Floats(l.values)
	for k, y := range l.values {
		if y != y || slices.Contains(l.values[:k], y) {
			r.Fail("class %d is %g, which is not a number or repeated", k, y)
		}
	}
	r.Expect(9 * int64(d))
	for j := 0; j < d && r.Err() == nil; j++ {
		p := &l.pairs[j]
		p.n = r.Count("rows", words.MostRows)
		for _, x := range []*float64{&p.px, &p.py, &p.weight, &p.sx, &p.sy, &p.sxx, &p.syy, &p.sxy} {
			*x = r.Float()
		}
	}
	r.Expect(5 * n * int64(d))
	for k := int64(0); k < n && r.Err() == nil; k++ {
		cells := make([]classSums, d)
		for j := range cells {
			cells[j] = classSums{r.Count("rows", words.MostRows), r.Float(), r.Float(), r.Float(), r.Float()}
		}
		l.classes = append(l.classes, cells)
	}
	return l
}
