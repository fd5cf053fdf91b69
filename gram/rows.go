package gram

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Rows contains the rows of a table with their profile. They become a Gram matrix G in the form of a factor R, with G =
// RᵀR. As with [Moments], one pass suffices for any scaling and filling. It needs the memory given by [RowsBytes],
// which is little if features outnumber rows.
type Rows struct {
	Profile      Profile
	threads      int
	capacity     int       // number of rows that the memory can contain
	n            int       // number of rows kept
	x            []float64 // by columns: column j is x[j*capacity:][:n]; missing entries are NaN
	narrowValues []float32 // values in place of x, if all of them are exact as float32
	root         []float64 // √w of each row; nil for rows without weights
	positions    []int64   // global position of each row
}

// NewRows returns empty Rows of d columns, with memory for the given number of rows. If narrow is set, the caller
// promises that all values are exact as float32, and they are stored as float32. The R of the resulting matrix is then
// nil, see [Matrix].
func NewRows(d int, rows int64, threads int, narrow bool) *Rows {
	r := &Rows{Profile: *NewProfile(d), threads: threads, capacity: int(rows)}
	r.layOut(nil, d, narrow)
	return r
}

// RowsBytes returns the memory of Rows of d columns: 8·rows·d, or 4·rows·d for narrow Rows. To this it adds the weight
// and position of each row, and 512·d.
func RowsBytes(d int, rows int64, narrow bool) int64 {
	r := Rows{capacity: int(rows)}
	return room.Measure(func(l *room.Layout) { r.layOut(l, d, narrow); r.layOutRoots(l) }) + columnBytes*int64(d)
}

func (r *Rows) layOut(l *room.Layout, d int, narrow bool) {
	if narrow {
		r.narrowValues = room.Slice[float32](l, d*r.capacity)
	} else {
		r.x = room.Slice[float64](l, d*r.capacity)
	}
	r.positions = room.Slice[int64](l, r.capacity)[:0]
}

func (r *Rows) layOutRoots(l *room.Layout) { r.root = room.Slice[float64](l, r.capacity)[:0] }

// Add adds the rows of c. If the columns differ, if sparse rows follow dense rows, or if there is no room, it fails,
// and r is unchanged. It also fails if narrow Rows receive a value that is not a float32; r must then not be used.
func (r *Rows) Add(c *stream.Chunk) error {
	if err := r.Profile.checkColumnsAndPilots(c); err != nil {
		return err
	}
	if r.n+c.Rows > r.capacity {
		return fmt.Errorf("gram: %d rows, and room for %d", r.n+c.Rows, r.capacity)
	}
	if err := r.Profile.Add(c); err != nil {
		return err
	}
	if c.Weight != nil && r.root == nil {
		r.layOutRoots(nil)
		for range r.n {
			r.root = append(r.root, 1)
		}
	}
	if r.root != nil {
		for i := range c.Rows {
			w := 1.0
			if c.Weight != nil {
				w = c.Weight[i]
			}
			r.root = append(r.root, math.Sqrt(w))
		}
	}
	if err := r.copyValues(c); err != nil {
		return err
	}
	for i := range c.Rows {
		r.positions = append(r.positions, c.Position(i))
	}
	r.n += c.Rows
	return nil
}

// copyValues copies the values of c. Absent entries of sparse rows need no writing, because the memory is zeroed.
func (r *Rows) copyValues(c *stream.Chunk) error {
	var broken atomic.Bool
	if s := c.Sparse; s != nil {
		for i := range c.Rows {
			for e := s.RowPtr[i]; e < s.RowPtr[i+1]; e++ {
				at := int(s.Index[e])*r.capacity + r.n + i
				if r.narrowValues == nil {
					r.x[at] = s.Value[e]
				} else if !storeAsFloat32(s.Value[e:e+1], r.narrowValues[at:at+1]) {
					broken.Store(true)
				}
			}
		}
	} else {
		eachColumn(r.threads, c.Cols, func(j int) {
			if at := j*r.capacity + r.n; r.narrowValues == nil {
				copy(r.x[at:][:c.Rows], c.Col(j))
			} else if !storeAsFloat32(c.Col(j), r.narrowValues[at:][:c.Rows]) {
				broken.Store(true)
			}
		})
	}
	if broken.Load() {
		return errors.New("gram: a value that no float32 holds among narrow rows")
	}
	return nil
}

// Len returns the number of rows kept.
func (r *Rows) Len() int { return r.n }

// Position returns the position of row i in the whole table.
func (r *Rows) Position(i int) int64 { return r.positions[i] }

// Entries writes the entries of column j in the listed rows to dst, and NaN for missing entries.
func (r *Rows) Entries(dst []float64, j int, rows []int) {
	for k, i := range rows {
		if at := j*r.capacity + i; r.narrowValues == nil {
			dst[k] = r.x[at]
		} else {
			dst[k] = float64(r.narrowValues[at])
		}
	}
}

// Finish turns r into the Gram matrix of the filled and scaled columns as a factor, in place and in O(n·D) for n rows.
// The rows of its R are the rows of A, each times √w, like the rows of [Standardizer.To]. Afterwards only r's Profile
// may be used, even after an error. cols must be the columns of the profile. If there are no rows, or no usable column,
// Finish fails with a *stream.DataError. It also fails for FillPairwise.
func (r *Rows) Finish(cols []stream.Column, opt FinishOptions) (*Gram, error) {
	if opt.Fill == FillPairwise {
		return nil, fmt.Errorf("gram: a factor has no pairwise products")
	}
	s, err := opt.newStandardizer(&r.Profile, cols)
	if err != nil {
		return nil, err
	}
	g := newGram(s, &r.Profile)
	n := r.n
	g.Rank, g.Root = n, r.root
	if r.narrowValues != nil {
		g.narrow = r.makeNarrowFactor(s)
		return g, nil
	}
	moveToFront(r.x, s.Columns, r.capacity, n)
	x, root := r.x[:g.D*n], r.root
	r.x, r.root = nil, nil
	eachColumn(r.threads, g.D, func(k int) {
		column := x[k*n : (k+1)*n]
		kernel.Standardize(column, column, s.Shift[k], s.Factor[k], (s.Fill[k]-s.Shift[k])*s.Factor[k], column)
		for i, w := range root {
			column[i] *= w
		}
	})
	g.R = x
	return g, nil
}

func (r *Rows) makeNarrowFactor(s *Standardizer) *narrowFactor {
	d, n := len(s.Columns), r.n
	moveToFront(r.narrowValues, s.Columns, r.capacity, n)
	out := &narrowFactor{x: r.narrowValues[:d*n], shift: slices.Clone(s.Shift), factor: slices.Clone(s.Factor), missing: make([]float64, d), root: r.root}
	for k, fill := range s.Fill {
		out.missing[k] = (fill - s.Shift[k]) * s.Factor[k]
	}
	r.narrowValues, r.root = nil, nil
	return out
}

// moveToFront moves `count` numbers of each listed column to the front of x. Columns begin capacity numbers apart.
func moveToFront[T float32 | float64](x []T, columns []int, capacity, count int) {
	for k, j := range columns {
		if k*count != j*capacity {
			copy(x[k*count:][:count], x[j*capacity:][:count])
		}
	}
}

// CentredMatrix returns a factor with centred columns, which represents G − Σw·Offset·Offsetᵀ. It is a copy, except
// that it shares float32 values with g.
func (g *Gram) CentredMatrix(workers int) *Matrix {
	if g.narrow != nil {
		return &Matrix{D: g.D, Rank: g.Rank, narrow: g.narrow.centredBy(g.Offset)}
	}
	r := slices.Clone(g.R)
	eachColumn(workers, g.D, func(j int) {
		for i := range r[j*g.Rank : (j+1)*g.Rank] {
			root := 1.0
			if g.Root != nil {
				root = g.Root[i]
			}
			r[j*g.Rank+i] -= root * g.Offset[j]
		}
	})
	return FromFactor(r, g.D, g.Rank)
}

// The binary form of Rows consists of 8-byte little-endian words, for runs that are interrupted and continued later:
// rowsMagic, Profile, number of rows, 1 if the rows have weights (else 0), positions of the rows, square roots of their
// weights if there are any, and the values by columns. The last character of rowsMagic is the version.
const rowsMagic = "ufsrows1"

// WriteTo writes the binary form of r. It implements io.WriterTo.
func (r *Rows) WriteTo(w io.Writer) (int64, error) { return words.WriteState(w, r.encodeOrDecode) }

// ReadFrom reads Rows that WriteTo wrote, and reads no further. r must have no rows, and must have been made with the
// same arguments as the written Rows. ReadFrom reads into r's memory, because there may be no room for a copy. After an
// error r must not be used.
func (r *Rows) ReadFrom(from io.Reader) (int64, error) {
	return words.ReadState(from, r.encodeOrDecode)
}

func (r *Rows) encodeOrDecode(visitor *words.Visitor) {
	visitor.Magic(rowsMagic, "rows")
	profile, weighted := r.Profile, r.root != nil
	profile.encodeOrDecode(visitor, &r.Profile)
	n := visitor.Length("rows kept", r.n, r.capacity)
	if visitor.Flag("a flag", &weighted); int64(n) != profile.Rows {
		visitor.Fail("%d rows kept of %d", n, profile.Rows)
	}
	if visitor.Err() != nil {
		return
	}
	if visitor.Reads() {
		r.Profile, r.n, r.positions = profile, n, r.positions[:n]
		if weighted {
			r.layOutRoots(nil)
			r.root = r.root[:n]
		}
	}
	words.Counts(visitor, "position", r.positions, math.MaxInt64)
	visitor.Floats(r.root)
	var column []float64
	if r.narrowValues != nil {
		column = make([]float64, n)
	}
	for j := range r.Profile.Columns {
		if r.narrowValues == nil {
			visitor.Floats(r.x[j*r.capacity:][:n])
			continue
		}
		values := r.narrowValues[j*r.capacity:][:n]
		if !visitor.Reads() {
			kernel.FromSingles(values, column)
		}
		if visitor.Floats(column); visitor.Reads() && !storeAsFloat32(column, values) {
			visitor.Fail("column %d has a value that no float32 holds", j)
		}
	}
}
