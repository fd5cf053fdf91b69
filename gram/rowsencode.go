package gram

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// rowsMagic opens the binary form of Rows; the last character is the version.
const rowsMagic = "ufsrows1"

// This is the binary form of Rows, in 8-byte little-endian words, for runs that are interrupted and continued later:
// "ufsrows1", Profile, number of rows, 1 if the rows have weights (else 0), positions of the rows, square roots of
// their weights if there are any, and the values by columns.

// WriteTo writes the binary form of r. It implements io.WriterTo.
func (r *Rows) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.MagicWord(rowsMagic))
	r.encodeProfile(e)
	e.Int(int64(r.n))
	weighted := int64(0)
	if r.root != nil {
		weighted = 1
	}
	e.Int(weighted)
	for _, p := range r.positions {
		e.Int(p)
	}
	e.Floats(r.root)
	for j := range r.Columns {
		if r.narrowValues == nil {
			e.Floats(r.x[j*r.capacity:][:r.n])
			continue
		}
		for _, v := range r.narrowValues[j*r.capacity:][:r.n] {
			e.Float(float64(v))
		}
	}
	return e.Finish()
}

// ReadFrom reads Rows that WriteTo wrote, and reads no further. r must have no rows, and must have been made with the
// same arguments as the written Rows. ReadFrom reads into r's memory, because there may be no room for a copy. After an
// error r must not be used.
func (r *Rows) ReadFrom(from io.Reader) (int64, error) {
	d := words.NewReader(from)
	d.Magic(rowsMagic, "rows")
	if p := r.decodeProfile(d); d.Err() == nil {
		r.Profile = *p
	}
	d.Expect(2)
	n := d.Count("rows kept", int64(r.capacity))
	weighted := d.Count("a flag", 1) == 1
	if d.Err() == nil && n != r.Rows {
		d.Fail("%d rows kept of %d", n, r.Rows)
	}
	if d.Err() != nil {
		return d.Finish()
	}
	r.n = int(n)
	d.Expect(n)
	r.positions = make([]int64, n)
	for i := range r.positions {
		r.positions[i] = d.Count("position", math.MaxInt64)
	}
	if weighted {
		d.Expect(n)
		r.root = make([]float64, n, r.capacity)
		d.Floats(r.root)
	}
	d.Expect(n * int64(len(r.Columns)))
	column := make([]float64, n)
	for j := range r.Columns {
		if r.narrowValues == nil {
			d.Floats(r.x[j*r.capacity:][:n])
			continue
		}
		d.Floats(column)
		if !storeAsFloat32(column, r.narrowValues[j*r.capacity:][:n]) {
			d.Fail("column %d has a value that no float32 holds", j)
		}
	}
	return d.Finish()
}
