package gram

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// RankBins is the largest number of bins of a column of histograms for ranks. With 2,048 bins, ranks of normal, Cauchy,
// log-normal, uniform and outlying values have errors of up to 1e-3 (TestScoresRankError), and of 1e-4 on average.
// Columns with at most 2,048 different values have exact ranks.
//
// We do not use a library's sketch, for two reasons. A KLL sketch keeps values by random choice or by the order of
// arrival, so that the sum of shards would differ from the whole table, while our state depends on the values alone. A
// DDSketch depends on the values alone too, but the width of its bins is proportional to the value. All time stamps of
// a day, 1.7e9 to 1.7e9 + 1e4, would fall into one bin.
const RankBins = 2048

// rankColumnBytes bounds the memory of a column of histograms for ranks, i.e. of its bins and spare capacity.
func rankColumnBytes(rows int64) int64 { return 16*rankBins(rows)*4/3 + 128 }

// rankBins returns the largest possible number of bins of a column with the given rows. rows is −1 if it is unknown.
func rankBins(rows int64) int64 {
	if rows < 0 {
		return RankBins
	}
	return min(rows, RankBins)
}

// RankHistogramsBytes bounds the memory of histograms for ranks of d columns and the given rows (−1 means any number).
// It includes the keys of a chunk while the given threads add it.
func RankHistogramsBytes(d int, rows int64, threads int) int64 {
	run := int64(3*16*RankBins + 3*16*stream.BlockRows(d))
	return rankColumnBytes(rows)*int64(d) + run*int64(max(threads, 1)) + bufferBytes
}

// NewRankHistograms returns empty histograms of d columns that are fine enough for ranks ([Scores]).
func NewRankHistograms(d, threads int) *Histograms {
	return &Histograms{columns: make([]histogram, d), threads: threads, maxBins: RankBins}
}

// Only returns histograms of the columns with the given indices. It shares their bins with h.
func (h *Histograms) Only(index []int) *Histograms {
	o := &Histograms{threads: h.threads, maxBins: h.maxBins}
	for _, j := range index {
		o.columns = append(o.columns, h.columns[j])
	}
	return o
}

// addSorted adds dense rows by sorting the keys of each column. With as many bins as ranks need, filling a hash table
// would take longer than sorting a column of a chunk, if the table has many columns.
func (h *Histograms) addSorted(c *stream.Chunk) {
	const run = 16 // number of columns that a worker adds with the same buffers
	kernel.Each(h.threads, (c.Cols+run-1)/run, func(t int) {
		keys := make([]uint64, 0, c.Rows)
		var own []bin
		for j := t * run; j < min(c.Cols, (t+1)*run); j++ {
			column := &h.columns[j]
			part := histogram{shift: column.shift, bins: own[:0]}
			if c.Weight == nil {
				keys = part.fillBySorting(c.Col(j), keys[:0])
			} else {
				part.fillWeightedBySorting(c.Col(j), c.Weight)
			}
			own = part.bins
			column.mergeHistogram(&part, h.maxBins)
		}
	})
}

// fillBySorting fills an empty histogram from a column, at the histogram's shift. It returns the buffer keys for reuse.
func (c *histogram) fillBySorting(col []float64, keys []uint64) []uint64 {
	for _, x := range col {
		switch key := binKey(math.Float64bits(x), c.shift); key {
		case zeroKey:
			c.zero++
		case missingKey:
			c.missing++
		default:
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if n := len(c.bins); n > 0 && c.bins[n-1].key == key {
			c.bins[n-1].count++
			continue
		}
		c.bins = append(c.bins, bin{key, 1})
	}
	return keys
}

// fillWeightedBySorting fills an empty histogram from a column with weights. It sorts stably, so that the weights of a
// bin are added in the order of the rows.
func (c *histogram) fillWeightedBySorting(col, weight []float64) {
	for i, x := range col {
		switch key := binKey(math.Float64bits(x), c.shift); key {
		case zeroKey:
			c.zero += weight[i]
		case missingKey:
			c.missing += weight[i]
		default:
			c.bins = append(c.bins, bin{key, weight[i]})
		}
	}
	slices.SortStableFunc(c.bins, func(a, b bin) int { return cmp.Compare(a.key, b.key) })
	c.mergeBinsWithEqualKeys()
}

func (c *histogram) mergeBinsWithEqualKeys() {
	merged := c.bins[:0]
	for _, b := range c.bins {
		if n := len(merged); n > 0 && merged[n-1].key == b.key {
			merged[n-1].count += b.count
			continue
		}
		merged = append(merged, b)
	}
	c.bins = merged
}
