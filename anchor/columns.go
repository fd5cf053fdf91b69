package anchor

import (
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Columns is the m×d matrix C of [Graph], stored by its columns, for sparse rows. Each row with an entry for a feature
// adds at most K entries to the feature's column, K being the number of neighbours. Columns that may fill two thirds of
// the anchors are stored in full, and the others as lists of anchors and values. Column j of C is the stored column
// less Mean[j]·Root: the rows are not stored about their mean, but about a centre for which absent entries are 0 (see
// thinFrame).
type Columns struct {
	M, D int
	Mean []float64 // d
	Root []float64 // m: √Δ

	starts, ends []int   // start of each feature's list, and its current end
	fullNumber   []int32 // feature → its number among the features stored in full + 1; 0 for a list
	anchorOf     []int32
	value        []float64
	dense        []float64 // columns stored in full, m numbers each
}

const (
	// Bytes of memory for an entry of a list, and for a feature without its entries.
	listBytes    = 4 + 8
	featureBytes = 8 + 8 + 8 + 4
	// minListNeighbors: ColumnsBytes counts the memory of lists for at least this number of neighbours. The bound then
	// holds also for columns that are stored in full because the feature's centre is not 0. Such a feature occurs in at
	// least a seventeenth of the n rows; otherwise its mean would be below a quarter of its deviation, and its centre
	// would be 0. So its column, of 8m ≤ 2n bytes, needs no more memory than the lists.
	minListNeighbors = 3
)

// ColumnsBytes bounds the memory of Columns of m anchors and d features. entries is the number of entries of all rows.
func ColumnsBytes(m, d, neighbors int, entries int64) int64 {
	return min(8*int64(m)*int64(d), listBytes*int64(max(neighbors, minListNeighbors))*entries) + featureBytes*int64(d) + 8*int64(m)
}

// newColumns returns empty Columns. entries has the number of entries of each feature in the rows that will be added.
func newColumns(m, neighbors int, entries []int64) *Columns {
	d := len(entries)
	c := &Columns{M: m, D: d, Mean: make([]float64, d), starts: make([]int, d), ends: make([]int, d), fullNumber: make([]int32, d)}
	room, full := 0, 0
	for j, n := range entries {
		c.starts[j], c.ends[j] = room, room
		if n >= int64(8*m/(listBytes*neighbors)) {
			full++
			c.fullNumber[j] = int32(full)
			continue
		}
		room += int(n) * neighbors
	}
	c.anchorOf, c.value, c.dense = make([]int32, room), make([]float64, room), make([]float64, full*m)
	return c
}

// Bytes returns the memory that c holds.
func (c *Columns) Bytes() int64 {
	return listBytes*int64(len(c.anchorOf)) + 8*int64(len(c.dense)) + featureBytes*int64(c.D) + 8*int64(c.M)
}

func (c *Columns) listEnd(feature int) int {
	if feature+1 < c.D {
		return c.starts[feature+1]
	}
	return len(c.anchorOf)
}

// addRows adds ZᵀX for the sparse rows X and their weights Z on the anchors, and returns the workers' total busy time.
// The terms of each sum are added in the order of the rows. ok reports whether there was room for all entries.
func (c *Columns) addRows(workers int, z kernel.Sparse, x *kernel.Compressed) (busy time.Duration, ok bool) {
	const run = 64 // features, so that workers share no cache lines
	full := make([]bool, workers)
	busy = kernel.Each(workers, workers, func(worker int) {
		for i := range x.Rows {
			columns, values := x.Row(i)
			index, weight := z.Index[i*z.Count:][:z.Count], z.Value[i*z.Count:][:z.Count]
			for e, k := range columns {
				if int(k)/run%workers != worker {
					continue
				}
				if f := int(c.fullNumber[k]); f > 0 {
					column := c.dense[(f-1)*c.M:][:c.M]
					for q, a := range index {
						column[a] += float64(weight[q] * values[e])
					}
					continue
				}
				end := c.ends[k]
				if end+z.Count > c.listEnd(int(k)) {
					full[worker] = true
					return
				}
				for q, a := range index {
					c.anchorOf[end+q], c.value[end+q] = a, float64(weight[q]*values[e])
				}
				c.ends[k] = end + z.Count
			}
		}
	})
	return busy, !slices.Contains(full, true)
}

// encodeOrDecode passes the lists, then the columns stored in full, to visitor. It must precede finishColumns.
func (c *Columns) encodeOrDecode(visitor *words.Visitor) {
	for j := range c.D {
		from := c.starts[j]
		n := visitor.Length("entries of a column", c.ends[j]-from, c.listEnd(j)-from)
		if visitor.Err() != nil {
			return
		}
		if visitor.Reads() {
			c.ends[j] = from + n
		}
		words.Counts(visitor, "anchor", c.anchorOf[from:][:n], c.M-1)
		visitor.Floats(c.value[from:][:n])
	}
	visitor.Floats(c.dense)
}

// finishColumns turns the stored ZᵀX into C. delta is the diagonal of Δ, and weight is the total weight of the rows. In
// each list, finishColumns adds up entries of the same anchor, and sorts by anchor.
func (c *Columns) finishColumns(workers int, delta []float64, weight float64) {
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
			if f := int(c.fullNumber[j]); f > 0 {
				column := c.dense[(f-1)*c.M:][:c.M]
				for a, v := range column {
					c.Mean[j] += v / weight
					column[a] = v * root[a]
				}
				continue
			}
			at, value := c.anchorOf[c.starts[j]:c.ends[j]], c.value[c.starts[j]:c.ends[j]]
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

func (c *Columns) keepFeatures(features []int) {
	if len(features) == c.D {
		return
	}
	for k, j := range features {
		c.Mean[k], c.starts[k], c.ends[k], c.fullNumber[k] = c.Mean[j], c.starts[j], c.ends[j], c.fullNumber[j]
	}
	c.D = len(features)
	c.Mean, c.starts, c.ends, c.fullNumber = c.Mean[:c.D], c.starts[:c.D], c.ends[:c.D], c.fullNumber[:c.D]
}

// List returns the stored column j: either a list of anchors, ascending, and their values, or all m values in full.
func (c *Columns) List(j int) (at []int32, value, full []float64) {
	if f := int(c.fullNumber[j]); f > 0 {
		return nil, nil, c.dense[(f-1)*c.M : f*c.M]
	}
	return c.anchorOf[c.starts[j]:c.ends[j]], c.value[c.starts[j]:c.ends[j]], nil
}

// Entries returns the number of stored entries of column j.
func (c *Columns) Entries(j int) int {
	if c.fullNumber[j] > 0 {
		return c.M
	}
	return c.ends[j] - c.starts[j]
}

// ColumnTo writes column j of C to the m numbers of dst.
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

// Dot returns xᵀc, with c = column j of C. withRoot must be xᵀRoot.
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

// AddProduct adds Cᵀx to the d numbers of y. It makes two flops for each stored entry.
func (c *Columns) AddProduct(workers int, x, y []float64) {
	const run = 512
	withRoot := kernel.Dot(x, c.Root)
	kernel.Each(workers, (c.D+run-1)/run, func(task int) {
		for j := task * run; j < min(c.D, (task+1)*run); j++ {
			y[j] += c.Dot(j, x, withRoot)
		}
	})
}

// Map calls visit for every feature j with the vector vc, which is V times column j of C. v holds V, r×m row-major. The
// cost is 2·r flops for each stored entry. The vector is valid until visit returns. Calls for a run of consecutive
// features are sequential; calls for different runs may be concurrent.
func (c *Columns) Map(workers, r int, v []float64, visit func(j int, vc []float64)) {
	transposed := make([]float64, c.M*r) // Vᵀ, so that an entry uses one row
	kernel.Copy(kernel.RowMajor(transposed, c.M, r, r), kernel.RowMajor(v, r, c.M, c.M).Trans())
	rootProduct := make([]float64, r) // V·Root
	for a, x := range c.Root {
		kernel.Axpy(x, transposed[a*r:][:r], rootProduct)
	}
	const run = 128
	kernel.Each(workers, (c.D+run-1)/run, func(task int) {
		out := make([]float64, r)
		for j := task * run; j < min(c.D, (task+1)*run); j++ {
			clear(out)
			at, value, full := c.List(j)
			for e, a := range at {
				kernel.Axpy(value[e], transposed[int(a)*r:][:r], out)
			}
			for a, x := range full {
				if x != 0 {
					kernel.Axpy(x, transposed[a*r:][:r], out)
				}
			}
			kernel.Axpy(-c.Mean[j], rootProduct, out)
			visit(j, out)
		}
	})
}
