package gram

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// rowsMagic opens the binary form of Rows; the last character is the version.
const rowsMagic = "ufsrows1"

// This is the binary form of Rows, in 8-byte little-endian words, for runs that are interrupted and continued later:
// "ufsrows1", Profile, number of rows, 1 if the rows have weights (else 0), positions of the rows, square roots of
// their weights if there are any, and the values by columns.

// WriteTo writes the binary form of r. It implements io.WriterTo.
func (r *Rows) WriteTo(w io.Writer) (int64, error) { return words.Write(w, r.visit) }

// ReadFrom reads Rows that WriteTo wrote, and reads no further. r must have no rows, and must have been made with the
// same arguments as the written Rows. ReadFrom reads into r's memory, because there may be no room for a copy. After an
// error r must not be used.
func (r *Rows) ReadFrom(from io.Reader) (int64, error) { return words.Read(from, r.visit) }

func (r *Rows) visit(v *words.Visitor) {
	v.Magic(rowsMagic, "rows")
	profile, weighted := r.Profile, r.root != nil
	profile.visit(v, &r.Profile)
	n := v.Length("rows kept", r.n, r.capacity)
	if v.Flag("a flag", &weighted); int64(n) != profile.Rows {
		v.Fail("%d rows kept of %d", n, profile.Rows)
	}
	if v.Err() != nil {
		return
	}
	if v.Reads() {
		r.Profile, r.n, r.positions = profile, n, make([]int64, n)
		if weighted {
			r.root = make([]float64, n, r.capacity)
		}
	}
	words.Counts(v, "position", r.positions, math.MaxInt64)
	v.Floats(r.root)
	column := make([]float64, n)
	for j := range r.Columns {
		if r.narrowValues == nil {
			v.Floats(r.x[j*r.capacity:][:n])
			continue
		}
		values := r.narrowValues[j*r.capacity:][:n]
		kernel.FromSingles(values, column)
		if v.Floats(column); v.Reads() && !storeAsFloat32(column, values) {
			v.Fail("column %d has a value that no float32 holds", j)
		}
	}
}
