package gram

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/words"
)

// rowsMagic opens the binary form of Rows; the last character is the version.
const rowsMagic = "ufsrows1"

// The binary form of Rows, 8-byte little-endian words, for a run that goes on later:
// "ufsrows1", Profile, rows kept, 1 if they have weights, their positions, their weights'
// roots if they have any, and the values by columns.

// WriteTo writes the binary form of r. It implements io.WriterTo.
func (r *Rows) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.Magic(rowsMagic))
	r.encode(e)
	e.Int(int64(r.n))
	weighted := int64(0)
	if r.root != nil {
		weighted = 1
	}
	e.Int(weighted)
	for _, p := range r.at {
		e.Int(p)
	}
	e.Floats(r.root)
	for j := range r.Columns {
		if r.single == nil {
			e.Floats(r.x[j*r.room:][:r.n])
			continue
		}
		for _, v := range r.single[j*r.room:][:r.n] {
			e.Float(float64(v))
		}
	}
	return e.Finish()
}

// ReadFrom takes over what WriteTo wrote of Rows made alike, and reads no further. r must be of no
// rows. They are read into its room, as there may be no room for another; after an error r
// must not be used.
func (r *Rows) ReadFrom(from io.Reader) (int64, error) {
	d := words.NewReader(from)
	d.Magic(rowsMagic, "rows")
	if p := r.decode(d); d.Err() == nil {
		r.Profile = *p
	}
	d.Expect(2)
	n := d.Count("rows kept", int64(r.room))
	weighted := d.Count("a flag", 1) == 1
	if d.Err() == nil && n != r.Rows {
		d.Fail("%d rows kept of %d", n, r.Rows)
	}
	if d.Err() != nil {
		return d.Finish()
	}
	r.n = int(n)
	d.Expect(n)
	r.at = make([]int64, n)
	for i := range r.at {
		r.at[i] = d.Count("position", math.MaxInt64)
	}
	if weighted {
		d.Expect(n)
		r.root = make([]float64, n, r.room)
		d.Floats(r.root)
	}
	d.Expect(n * int64(len(r.Columns)))
	column := make([]float64, n)
	for j := range r.Columns {
		if r.single == nil {
			d.Floats(r.x[j*r.room:][:n])
			continue
		}
		d.Floats(column)
		if !singles(column, r.single[j*r.room:][:n]) {
			d.Fail("column %d has a value that no float32 holds", j)
		}
	}
	return d.Finish()
}
