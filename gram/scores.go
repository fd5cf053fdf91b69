package gram

import (
	"fmt"
	"math"
	"sort"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Scores maps the values of each column to normal scores Φ⁻¹(F(x)). F is the mid-rank distribution function of the
// column's observed values: F(x) = (Σw of values below x + ½·Σw of values equal to x)/Σw. F never falls as x rises.
//
// F is computed from the bins of histograms. A bin with only one value has its exact rank. All bins of a column of at
// most RankBins different values are such bins. In wider bins, scores are interpolated linearly from the bin's lowest
// to its highest rank, by the position of the value in the bin. If a bin has several times the weight of its
// neighbours, it is treated as one value that many rows share (a sensor at its limit), and all its values get the
// middle rank. The error is then half of the weight of the bin's other values.
//
// Columns without two different values are left unchanged, so that they can still be recognised as constant.
type Scores struct {
	columns []scoreColumn
	threads int
}

// scoreColumn maps the values of one column to their normal scores.
type scoreColumn struct {
	isUnmapped  bool // the column is left unchanged
	shift       uint
	keys        []uint64  // keys of the bins, ascending
	low, high   []float64 // scores at the lower and upper end of each bin; high is NaN for bins in steepBins
	zero        float64   // score of 0
	steepBins   map[int]steepBin
	totalWeight float64 // Σw of observed entries
}

// steepBin is a bin in a tail of the distribution, in which ranks are interpolated linearly, because the scores Φ⁻¹ of
// these ranks are too steep.
type steepBin struct{ from, to float64 } // Σw below the lower and the upper end of the bin

// ScoresBytes bounds the memory of Scores of d columns and the given rows (−1 means any number), and of a mapped chunk.
// A bin needs a key and two scores. Steep bins need more, but a column has only a few dozen of them, because each has
// more than an eighth of the weight of all bins beyond it.
func ScoresBytes(d int, rows int64) int64 {
	const steepBins = 64
	column := 24*rankBins(rows) + 48*min(steepBins, rankBins(rows)) + 256
	return (column+8*int64(stream.BlockRows(d)))*int64(d) + bufferBytes
}

// NewScores computes the scores from the histograms and the profile of the same rows. Their columns must agree. It
// costs O(d·RankBins).
func NewScores(h *Histograms, p *Profile) (*Scores, error) { return newScores(h, p, false) }

// NewMidranks is like NewScores, but the scores are F(x) itself. They have the correlations of ranks in which equal
// values have their middle rank (Spearman).
func NewMidranks(h *Histograms, p *Profile) (*Scores, error) { return newScores(h, p, true) }

func newScores(h *Histograms, p *Profile, areShares bool) (*Scores, error) {
	if len(h.columns) != len(p.Columns) {
		return nil, fmt.Errorf("gram: histograms of %d columns, a profile of %d", len(h.columns), len(p.Columns))
	}
	s := &Scores{columns: make([]scoreColumn, len(h.columns)), threads: h.threads}
	eachColumn(h.threads, len(s.columns), func(j int) {
		unit := 1.0 // average weight of a row
		if c := &p.Columns[j]; c.Observed > 0 {
			unit = c.Weight / float64(c.Observed)
		}
		s.columns[j] = newScoreColumn(&h.columns[j], unit, areShares)
	})
	return s, nil
}

// A bin is steep if its weight is more than steepShare times the weight of all bins beyond it, towards the tail's end.
// Scores interpolated linearly in such a bin would be wrong by about 0.01, and by 2e-3 in the last of 1,399 bins of
// uniform values.
const steepShare = 0.125

// A bin is treated as one value if its weight is at least atomRatio times the weight of its heavier neighbour. If a
// density changes this fast from bin to bin, bins have almost no rows, and treating the bin as one value or as a range
// makes no difference.
const atomRatio = 4

func newScoreColumn(c *histogram, rowWeight float64, areShares bool) scoreColumn {
	if values := len(c.bins) + min(1, int(math.Ceil(c.zero))); values < 2 {
		return scoreColumn{isUnmapped: true}
	}
	whole := c.observedWeight()
	s := scoreColumn{
		shift: c.shift, keys: make([]uint64, len(c.bins)),
		low: make([]float64, len(c.bins)), high: make([]float64, len(c.bins)), totalWeight: whole,
	}
	score := func(below float64) float64 {
		if areShares {
			return below / whole
		}
		return normalScore(below, whole-below, whole)
	}
	positive := orderedBits(0) >> c.shift
	below, zerosAdded := 0.0, false
	zeros := func() {
		if !zerosAdded { // without zeros, this is the score between the ranks of the neighbours
			s.zero = score(min(max(below+c.zero/2, rowWeight/2), whole-rowWeight/2))
			below += c.zero
		}
		zerosAdded = true
	}
	for i, b := range c.bins {
		if b.key >= positive {
			zeros()
		}
		s.keys[i] = b.key
		edge := min(rowWeight, b.count) / 2
		if c.shift == 0 || b.count > atomRatio*max(c.neighbourWeight(i, -1), c.neighbourWeight(i, 1)) {
			edge = b.count / 2
		}
		s.low[i] = score(below + edge)
		s.high[i] = max(s.low[i], score(below+b.count-edge)) // edges of one value may differ by rounding
		if outside := min(below, whole-below-b.count); s.high[i] > s.low[i] && b.count > steepShare*outside && !areShares {
			if s.steepBins == nil {
				s.steepBins = make(map[int]steepBin)
			}
			s.steepBins[i], s.high[i] = steepBin{below + edge, below + b.count - edge}, math.NaN()
		}
		below += b.count
	}
	zeros()
	return s
}

// neighbourWeight returns the weight of the bin next to bin i, at i+step, or 0 if there is no such bin.
func (c *histogram) neighbourWeight(i, step int) float64 {
	at := i + step
	if at < 0 || at >= len(c.bins) || c.bins[at].key != c.bins[i].key+uint64(step) {
		return 0
	}
	return c.bins[at].count
}

// normalScore returns Φ⁻¹(below/whole), Φ being the normal distribution function, and above is whole − below. It
// computes with the smaller of `below` and `above`, so that both tails keep their digits and the scores of a symmetric
// column are symmetric.
func normalScore(below, above, whole float64) float64 {
	least := whole * 0x1p-60 // only rounding makes a share smaller than this
	below, above = max(below, least), max(above, least)
	if above < below {
		return -normalScore(above, below, whole)
	}
	p := min(below/whole, 0.5)
	z := -math.Sqrt2 * math.Erfinv(1-2*p)
	// 1 − 2p has lost the last digits of a small p. One Newton step restores these digits.
	return z - (math.Erfc(-z/math.Sqrt2)/2-p)*math.Sqrt(2*math.Pi)*math.Exp(z*z/2)
}

// Score returns the score of the value x of column j. NaN stays NaN.
func (s *Scores) Score(j int, x float64) float64 { return s.columns[j].normalScore(x) }

// Entry returns the score that To writes for the entry x of column j, in dense or sparse rows.
func (s *Scores) Entry(j int, x float64, fill Fill, sparse bool) float64 {
	c := &s.columns[j]
	switch {
	case c.isUnmapped:
		return x
	case sparse:
		return c.normalScore(x) - c.zero
	case x != x && fill == FillZero:
		return c.zero
	}
	return c.normalScore(x)
}

func (c *scoreColumn) normalScore(x float64) float64 {
	switch {
	case c.isUnmapped || x != x:
		return x
	case x == 0:
		return c.zero
	}
	order := orderedBits(math.Float64bits(x))
	key := order >> c.shift
	// Find the last key that is at most the value's key, by halving, without an unpredictable branch.
	keys := c.keys
	at, n := 0, len(keys)
	for n > 1 {
		half := n / 2
		if keys[at+half] <= key {
			at += half
		}
		n -= half
	}
	if n == 1 && keys[at] == key {
		low, high := c.low[at], c.high[at]
		place := float64(order-key<<c.shift) / float64(uint64(1)<<c.shift)
		if high != high {
			bin := c.steepBins[at]
			below := bin.from + place*(bin.to-bin.from)
			return normalScore(below, c.totalWeight-below, c.totalWeight)
		}
		return low + place*(high-low)
	}
	return c.scoreBetween(key, x)
}

// scoreBetween returns the score of a value that is in none of the bins: the mean of the scores of the neighbouring
// bins, or the score of the outermost bin.
func (c *scoreColumn) scoreBetween(key uint64, x float64) float64 {
	i := sort.Search(len(c.keys), func(i int) bool { return c.keys[i] > key })
	low, high := math.Inf(-1), math.Inf(1)
	if i > 0 {
		if low = c.high[i-1]; low != low {
			low = normalScore(c.steepBins[i-1].to, c.totalWeight-c.steepBins[i-1].to, c.totalWeight)
		}
	}
	if i < len(c.keys) {
		high = c.low[i]
	}
	if x > 0 {
		low = max(low, c.zero)
	} else {
		high = min(high, c.zero)
	}
	switch {
	case math.IsInf(low, -1):
		return high
	case math.IsInf(high, 1):
		return low
	}
	return (low + high) / 2
}

// To writes the scores of c to dst. Like any chunk, dst is valid until its next use. Under FillZero a missing entry
// gets the score of 0. In sparse rows the scores of each column are shifted so that 0 stays 0. Centring later removes
// that shift.
func (s *Scores) To(dst, c *stream.Chunk, fill Fill) error {
	if c.Cols != len(s.columns) {
		return fmt.Errorf("gram: chunk of %d columns, want %d", c.Cols, len(s.columns))
	}
	data := dst.Data
	*dst = *c
	if c.Sparse != nil {
		values := make([]float64, len(c.Sparse.Value))
		for e, x := range c.Sparse.Value {
			if x != x {
				values[e] = x
				continue
			}
			column := &s.columns[c.Sparse.Index[e]]
			values[e] = column.normalScore(x)
			if !column.isUnmapped {
				values[e] -= column.zero
			}
		}
		dst.Sparse = &stream.CSR{RowPtr: c.Sparse.RowPtr, Index: c.Sparse.Index, Value: values}
		return nil
	}
	if need := c.Rows * c.Cols; cap(data) < need {
		data = make([]float64, need)
	}
	dst.Stride = c.Rows
	dst.Data = data[:c.Rows*c.Cols]
	eachColumn(s.threads, c.Cols, func(j int) {
		column, to := &s.columns[j], dst.Data[j*c.Rows:][:c.Rows]
		missing := math.NaN()
		if fill == FillZero && !column.isUnmapped {
			missing = column.zero
		}
		for i, x := range c.Col(j) {
			if x != x {
				to[i] = missing
			} else {
				to[i] = column.normalScore(x)
			}
		}
	})
	return nil
}

// Profile returns the profile of the mapped rows, given the histograms and the profile from which s was computed. It
// assumes that scores are evenly distributed within a bin, which is exact for bins of one value. Scores of sparse rows
// are shifted as in To.
func (s *Scores) Profile(h *Histograms, raw *Profile, fill Fill, sparse bool) *Profile {
	p := &Profile{Rows: raw.Rows, Seen: raw.Seen, Weight: raw.Weight, Columns: append([]ColumnProfile(nil), raw.Columns...)}
	eachColumn(s.threads, len(p.Columns), func(j int) {
		if c := &s.columns[j]; !c.isUnmapped {
			shift := 0.0
			if sparse {
				shift = c.zero
			}
			c.describeScores(&h.columns[j], &p.Columns[j], shift)
			if d := &p.Columns[j]; fill == FillZero && d.Observed < p.Rows {
				missing := p.Weight - d.Weight
				d.Sum += missing * (c.zero - shift)
				d.Squares += missing * (c.zero - shift) * (c.zero - shift)
				d.Min, d.Max = min(d.Min, c.zero-shift), max(d.Max, c.zero-shift)
				d.Weight, d.Observed = p.Weight, p.Rows
			}
		}
	})
	return p
}

func (c *scoreColumn) describeScores(h *histogram, out *ColumnProfile, shift float64) {
	out.Pilot, out.Rising, out.Sum, out.Squares = 0, false, 0, 0
	out.Min, out.Max = math.Inf(1), math.Inf(-1)
	add := func(weight, low, high float64) {
		low, high = low-shift, high-shift
		out.Sum += weight * (low + high) / 2
		out.Squares += weight * (low*low + low*high + high*high) / 3
		out.Min, out.Max = min(out.Min, low), max(out.Max, high)
	}
	for i, b := range h.bins {
		high := c.high[i]
		if high != high {
			high = normalScore(c.steepBins[i].to, c.totalWeight-c.steepBins[i].to, c.totalWeight)
		}
		add(b.count, c.low[i], high)
	}
	if h.zero > 0 {
		add(h.zero, c.zero, c.zero)
	}
}
