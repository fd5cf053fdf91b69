package anchor

import (
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/words"
)

// Columns are C, m×d, by its columns, for rows of few entries: a column has no more entries than K times
// the rows that have the feature. Those with room for two thirds of the anchors are in full, the others
// lists of anchors and values. Column j is what is held of it less Mean[j]·Root, as rows
// are about a centre that costs nothing for absent entries (see thinFrame), and not about their mean.
type Columns struct {
	M, D int
	Mean []float64 // d
	Root []float64 // m: √Δ

	starts, ends []int   // of a feature's list, and its end so far
	full         []int32 // feature → its number among those in full + 1; 0: a list
	at           []int32
	value        []float64
	dense        []float64 // m each
}

const (
	// listBytes is what an entry of a list takes, and featureBytes a feature beside its entries.
	listBytes    = 4 + 8
	featureBytes = 8 + 8 + 8 + 4
	// leastNeighbors: a feature whose centre is not 0 is there in a seventeenth of the rows, or its mean
	// were below a quarter of its deviation. A column in full, 8m ≤ 2n bytes, is no more than so many
	// neighbours' lists, then.
	leastNeighbors = 3
)

// ColumnsBytes bounds Columns of m anchors and d features, of rows with so many entries in all.
func ColumnsBytes(m, d, neighbors int, entries int64) int64 {
	return min(8*int64(m)*int64(d), listBytes*int64(max(neighbors, leastNeighbors))*entries) + featureBytes*int64(d) + 8*int64(m)
}

// newColumns has room for rows with so many entries of each feature.
func newColumns(m, neighbors int, entries []int64) *Columns {
	d := len(entries)
	c := &Columns{M: m, D: d, Mean: make([]float64, d), starts: make([]int, d), ends: make([]int, d), full: make([]int32, d)}
	room, full := 0, 0
	for j, n := range entries {
		c.starts[j], c.ends[j] = room, room
		if n >= int64(8*m/(listBytes*neighbors)) {
			full++
			c.full[j] = int32(full)
			continue
		}
		room += int(n) * neighbors
	}
	c.at, c.value, c.dense = make([]int32, room), make([]float64, room), make([]float64, full*m)
	return c
}

// Bytes is what c holds.
func (c *Columns) Bytes() int64 {
	return listBytes*int64(len(c.at)) + 8*int64(len(c.dense)) + featureBytes*int64(c.D) + 8*int64(c.M)
}

// room is where the list of feature j ends at most.
func (c *Columns) room(j int) int {
	if j+1 < c.D {
		return c.starts[j+1]
	}
	return len(c.at)
}

// add adds ZᵀX of sparse rows, and returns how long the workers were busy together. The terms of an
// entry are in the order of the rows. It reports whether there was room for all.
func (c *Columns) add(workers int, z kernel.Sparse, x *kernel.Compressed) (busy time.Duration, ok bool) {
	const run = 64 // features, so that workers share no lines
	full := make([]bool, workers)
	busy = kernel.Each(workers, workers, func(worker int) {
		for i := range x.Rows {
			columns, values := x.Row(i)
			index, weight := z.Index[i*z.Count:][:z.Count], z.Value[i*z.Count:][:z.Count]
			for e, k := range columns {
				if int(k)/run%workers != worker {
					continue
				}
				if f := int(c.full[k]); f > 0 {
					column := c.dense[(f-1)*c.M:][:c.M]
					for q, a := range index {
						column[a] += float64(weight[q] * values[e])
					}
					continue
				}
				end := c.ends[k]
				if end+z.Count > c.room(int(k)) {
					full[worker] = true
					return
				}
				for q, a := range index {
					c.at[end+q], c.value[end+q] = a, float64(weight[q]*values[e])
				}
				c.ends[k] = end + z.Count
			}
		}
	})
	return busy, !slices.Contains(full, true)
}

// encode writes the lists, and then the columns in full, before finish.
func (c *Columns) encode(w *words.Writer) {
	for j := range c.D {
		w.Int(int64(c.ends[j] - c.starts[j]))
		for _, a := range c.at[c.starts[j]:c.ends[j]] {
			w.Int(int64(a))
		}
		w.Floats(c.value[c.starts[j]:c.ends[j]])
	}
	w.Floats(c.dense)
}

// decode reads what encode wrote into empty Columns of the same shape.
func (c *Columns) decode(r *words.Reader) {
	for j := range c.D {
		r.Expect(1)
		from := c.starts[j]
		n := r.Count("entries of a column", int64(c.room(j)-from))
		if r.Err() != nil {
			return
		}
		c.ends[j] = from + int(n)
		r.Expect(2 * n)
		for e := from; e < c.ends[j]; e++ {
			c.at[e] = int32(r.Count("anchor", int64(c.M)-1))
		}
		r.Floats(c.value[from:c.ends[j]])
	}
	r.Expect(int64(len(c.dense)))
	r.Floats(c.dense)
}

// finish turns ZᵀX into C, for rows of so much weight in all: entries of the same anchor become one, in
// ascending order.
func (c *Columns) finish(workers int, delta []float64, weight float64) {
	c.Root = make([]float64, c.M)
	root := make([]float64, c.M) // Δ^(−1/2), 0 for 0
	for a, v := range delta {
		if v > 0 {
			c.Root[a] = math.Sqrt(v)
			root[a] = 1 / c.Root[a]
		}
	}
	const run = 512
	kernel.Each(workers, (c.D+run-1)/run, func(task int) {
		sums, seen := make([]float64, c.M), make([]bool, c.M)
		for j := task * run; j < min(c.D, (task+1)*run); j++ {
			if f := int(c.full[j]); f > 0 {
				column := c.dense[(f-1)*c.M:][:c.M]
				for a, v := range column {
					c.Mean[j] += v / weight
					column[a] = v * root[a]
				}
				continue
			}
			at, value := c.at[c.starts[j]:c.ends[j]], c.value[c.starts[j]:c.ends[j]]
			n := 0
			for e, a := range at {
				if !seen[a] {
					seen[a], sums[a] = true, 0
					at[n] = a
					n++
				}
				sums[a] += value[e]
			}
			at = at[:n]
			slices.Sort(at)
			for e, a := range at {
				c.Mean[j] += sums[a] / weight
				value[e], seen[a] = sums[a]*root[a], false
			}
			c.ends[j] = c.starts[j] + n
		}
	})
}

// keep reduces c to the features listed, ascending.
func (c *Columns) keep(features []int) {
	if len(features) == c.D {
		return
	}
	for k, j := range features {
		c.Mean[k], c.starts[k], c.ends[k], c.full[k] = c.Mean[j], c.starts[j], c.ends[j], c.full[j]
	}
	c.D = len(features)
	c.Mean, c.starts, c.ends, c.full = c.Mean[:c.D], c.starts[:c.D], c.ends[:c.D], c.full[:c.D]
}

// List is what is held of column j where that is a list, anchors ascending; else in full is all m.
func (c *Columns) List(j int) (at []int32, value, full []float64) {
	if f := int(c.full[j]); f > 0 {
		return nil, nil, c.dense[(f-1)*c.M : f*c.M]
	}
	return c.at[c.starts[j]:c.ends[j]], c.value[c.starts[j]:c.ends[j]], nil
}

// Entries is the number of entries held of column j.
func (c *Columns) Entries(j int) int {
	if c.full[j] > 0 {
		return c.M
	}
	return c.ends[j] - c.starts[j]
}

// ColumnTo writes column j of C to dst, m numbers.
func (c *Columns) ColumnTo(dst []float64, j int) {
	at, value, full := c.List(j)
	if full != nil {
		copy(dst, full)
	} else {
		clear(dst)
		for e, a := range at {
			dst[a] = value[e]
		}
	}
	kernel.Axpy(-c.Mean[j], c.Root, dst)
}

// Dot is xᵀ of column j of C, given xᵀRoot.
func (c *Columns) Dot(j int, x []float64, withRoot float64) float64 {
	at, value, full := c.List(j)
	sum := 0.0
	if full != nil {
		sum = kernel.Dot(full, x)
	}
	for e, a := range at {
		sum += value[e] * x[a]
	}
	return sum - c.Mean[j]*withRoot
}

// AddProduct adds Cᵀx to y, d numbers: two flops an entry.
func (c *Columns) AddProduct(workers int, x, y []float64) {
	const run = 512
	withRoot := kernel.Dot(x, c.Root)
	kernel.Each(workers, (c.D+run-1)/run, func(task int) {
		for j := task * run; j < min(c.D, (task+1)*run); j++ {
			y[j] += c.Dot(j, x, withRoot)
		}
	})
}

// Map calls do for every feature j with V·c_j, V of r×m numbers, row-major: 2r flops an entry held. The vector is
// lent; calls of a run of features come one by one, and those of different ones may at the same time.
func (c *Columns) Map(workers, r int, v []float64, do func(j int, vc []float64)) {
	turned := make([]float64, c.M*r) // Vᵀ, so that an entry takes in a row
	kernel.Copy(kernel.RowMajor(turned, c.M, r, r), kernel.RowMajor(v, r, c.M, c.M).Trans())
	own := make([]float64, r) // V·Root
	for a, x := range c.Root {
		kernel.Axpy(x, turned[a*r:][:r], own)
	}
	const run = 128
	kernel.Each(workers, (c.D+run-1)/run, func(task int) {
		out := make([]float64, r)
		for j := task * run; j < min(c.D, (task+1)*run); j++ {
			clear(out)
			at, value, full := c.List(j)
			for e, a := range at {
				kernel.Axpy(value[e], turned[int(a)*r:][:r], out)
			}
			for a, x := range full {
				if x != 0 {
					kernel.Axpy(x, turned[a*r:][:r], out)
				}
			}
			kernel.Axpy(-c.Mean[j], own, out)
			do(j, out)
		}
	})
}
