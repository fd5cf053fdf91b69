package gram

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Rows is a profile and the rows themselves, for a Gram matrix that is a factor: as with
// [Moments] one pass serves any scaling and filling. It holds [RowsBytes], and is what is cheap
// where features outnumber rows.
type Rows struct {
	Profile
	threads int
	room    int       // rows that there is room for
	n       int       // rows kept
	x       []float64 // by columns: column j is x[j*room:][:n]; missing entries are NaN
	root    []float64 // √w of each row; nil where none has a weight
	at      []int64   // global position of each row
}

// NewRows returns no rows of d columns, with room for so many.
func NewRows(d int, rows int64, threads int) *Rows {
	return &Rows{Profile: *NewProfile(d), threads: threads, room: int(rows), x: make([]float64, int64(d)*rows)}
}

// RowsBytes is what Rows of d columns hold: 8·rows·d, weight and position of each row, and 512·d.
func RowsBytes(d int, rows int64) int64 {
	return 8*rows*int64(d) + 16*rows + columnBytes*int64(d)
}

// Add adds the rows of c. It fails, with r unchanged, where the columns differ, sparse rows follow
// dense ones, or there is no room.
func (r *Rows) Add(c *stream.Chunk) error {
	if err := r.accepts(c); err != nil {
		return err
	}
	if r.n+c.Rows > r.room {
		return fmt.Errorf("gram: %d rows, and room for %d", r.n+c.Rows, r.room)
	}
	if err := r.Profile.Add(c); err != nil {
		return err
	}
	if c.Weight != nil && r.root == nil {
		r.root = make([]float64, r.n, r.room)
		for i := range r.root {
			r.root[i] = 1
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
	if s := c.Sparse; s != nil { // the room is zeros
		for i := range c.Rows {
			for e := s.RowPtr[i]; e < s.RowPtr[i+1]; e++ {
				r.x[int(s.Index[e])*r.room+r.n+i] = s.Value[e]
			}
		}
	} else {
		eachColumn(r.threads, c.Cols, func(j int) { copy(r.x[j*r.room+r.n:][:c.Rows], c.Col(j)) })
	}
	for i := range c.Rows {
		r.at = append(r.at, c.Position(i))
	}
	r.n += c.Rows
	return nil
}

// Len is the number of rows kept.
func (r *Rows) Len() int { return r.n }

// Position is the global position of row i.
func (r *Rows) Position(i int) int64 { return r.at[i] }

// Entries writes the entries of column j in the rows listed to dst; NaN is missing.
func (r *Rows) Entries(dst []float64, j int, rows []int) {
	column := r.x[j*r.room:][:r.n]
	for k, i := range rows {
		dst[k] = column[i]
	}
}

// Finish turns r into the Gram matrix of the filled and scaled columns as a factor, in place and
// in O(nD): its R are the rows of A, each times √w, as those of [Standardizer.To]. r is consumed:
// only its Profile may be used afterwards, even on error. cols are the profile's columns. No rows
// or no usable column is a *stream.DataError. Missing entries cannot be left out pair by pair.
func (r *Rows) Finish(cols []stream.Column, opt FinishOptions) (*Gram, error) {
	if opt.Fill == FillPairwise {
		return nil, fmt.Errorf("gram: a factor has no pairwise products")
	}
	s, err := NewStandardizer(&r.Profile, cols, opt.Scale, opt.Fill)
	if err != nil {
		return nil, err
	}
	g := newGram(s, &r.Profile)
	n := r.n
	if n < r.room || g.D < len(r.Columns) {
		for k, j := range s.Columns {
			copy(r.x[k*n:][:n], r.x[j*r.room:][:n])
		}
	}
	x, root := r.x[:g.D*n], r.root
	r.x, r.root = nil, nil
	eachColumn(r.threads, g.D, func(k int) {
		column := x[k*n : (k+1)*n]
		kernel.Standardize(column, column, s.Shift[k], s.Factor[k], (s.Fill[k]-s.Shift[k])*s.Factor[k], column)
		for i, w := range root {
			column[i] *= w
		}
	})
	g.R, g.Rank, g.Root = x, n, root
	return g, nil
}

// Centred is a copy of a factor with its columns centred: G less Σw·Offset·Offsetᵀ.
func (g *Gram) Centred(workers int) *Matrix {
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
	return Factored(r, g.D, g.Rank)
}
