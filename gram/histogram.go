package gram

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// HistogramBins is the largest number of occupied bins of a column, not counting the bins of zero and of missing
// entries.
const HistogramBins = 64

// Histograms describe the distribution of each column's values. They can be merged, need no bounds in advance, and
// resolve small and large values equally finely, as far as their number of bins allows.
//
// Bins follow the order of the float64 numbers. The key of a number is an integer computed from its bits, and keys have
// the same order as the numbers: negative numbers have all bits flipped, others only the sign bit. The bin of a value
// is key >> s. s is the smallest shift at which at most HistogramBins bins (RankBins for ranks) contain values. A
// column of up to 64 different values has a bin for each. Numbers about 1000 ± 1 have bins about 1/16 wide. Numbers
// about 0 have bins of an octave or half of one. Adding values can only increase s, and each new bin is then a union of
// whole old bins. So the state depends only on the values and their weights, not on chunks, threads or the order of
// merging. This holds to the bit if sums of weights are exact, as they are without weights, else up to rounding.
type Histograms struct {
	columns []histogram
	threads int
	maxBins int // largest number of occupied bins of a column
}

type histogram struct {
	shift   uint    // number of low bits dropped from the keys of values
	bins    []bin   // bins that contain values, by ascending key
	zero    float64 // Σw of entries that are 0, of either sign
	missing float64 // Σw of missing entries
}

type bin struct {
	key   uint64  // key of the values, after the shift
	count float64 // Σw
}

// histogramBytes bounds the memory of a column: its bins, a copy of the bins while values are added or a file is read,
// and the other fields.
const histogramBytes = 2*16*HistogramBins + 128

// HistogramsBytes bounds the memory of Histograms of d columns.
func HistogramsBytes(d int) int64 { return histogramBytes*int64(d) + bufferBytes }

// NewHistograms returns empty histograms of d columns, which add rows on the given number of threads (0 means
// GOMAXPROCS).
func NewHistograms(d, threads int) *Histograms {
	return &Histograms{columns: make([]histogram, d), threads: threads, maxBins: HistogramBins}
}

// Columns returns the number of columns.
func (h *Histograms) Columns() int { return len(h.columns) }

// Add adds the rows of c. It reads each value once, in 2 ns on one core (BenchmarkHistograms) if the value is in a
// cache. With Add, a scan of mnist70k takes 12 % longer. Two fifths of this are spent reading the chunk from memory
// again. If c has other columns, Add fails, and h is unchanged.
func (h *Histograms) Add(c *stream.Chunk) error {
	if c.Cols != len(h.columns) {
		return fmt.Errorf("gram: chunk of %d columns, want %d", c.Cols, len(h.columns))
	}
	switch {
	case c.Rows == 0:
	case c.Sparse != nil:
		h.addSparseRows(c)
	case h.maxBins > HistogramBins:
		h.addSorted(c)
	default:
		eachColumn(h.threads, c.Cols, func(j int) { h.columns[j].addColumn(c.Col(j), c.Weight) })
	}
	return nil
}

func (h *Histograms) addSparseRows(c *stream.Chunk) {
	var all float64
	for i := range c.Rows {
		all += rowWeight(c, i)
	}
	present := make([]float64, c.Cols)
	for i := range c.Rows {
		w := rowWeight(c, i)
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			j := c.Sparse.Index[e]
			present[j] += w
			h.columns[j].addValue(c.Sparse.Value[e], w, h.maxBins)
		}
	}
	for j, w := range present {
		h.columns[j].zero += max(all-w, 0)
	}
}

// Merge adds the histograms of o. If o has other columns, it fails, and h is unchanged. o is unchanged in any case.
func (h *Histograms) Merge(o *Histograms) error {
	if len(h.columns) != len(o.columns) || h.maxBins != o.maxBins {
		return fmt.Errorf("gram: cannot merge histograms of %d columns and %d bins with %d and %d", len(h.columns), h.maxBins, len(o.columns), o.maxBins)
	}
	for j := range h.columns {
		h.columns[j].mergeHistogram(&o.columns[j], h.maxBins)
	}
	return nil
}

func (c *histogram) mergeHistogram(added *histogram, maxBins int) {
	c.zero += added.zero
	c.missing += added.missing
	other := *added
	other.bins = slices.Clone(added.bins)
	s := max(c.shift, added.shift)
	c.coarsenToShift(s)
	other.coarsenToShift(s)
	union := make([]bin, 0, len(c.bins)+len(other.bins))
	for a, b := c.bins, other.bins; len(a)+len(b) > 0; {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].key < b[0].key:
			union, a = append(union, a[0]), a[1:]
		case len(a) == 0 || b[0].key < a[0].key:
			union, b = append(union, b[0]), b[1:]
		default:
			union = append(union, bin{a[0].key, a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	// The capacity of the union may be far larger than the number of bins that remain.
	c.bins = union
	c.coarsenToShift(s + additionalShift(len(union), maxBins, func(i int) uint64 { return union[i].key }))
	if 4*len(c.bins) < 3*cap(c.bins) {
		c.bins = slices.Clone(c.bins)
	}
}

// Subtract removes the rows of o from h, to which they were added.
func (h *Histograms) Subtract(o *Histograms) error {
	if len(h.columns) != len(o.columns) || h.maxBins != o.maxBins {
		return errNotAmong
	}
	for j := range h.columns {
		if !h.columns[j].subtractIfAmong(&o.columns[j]) {
			return errNotAmong
		}
	}
	return nil
}

func (c *histogram) subtractIfAmong(lost *histogram) bool {
	c.coarsenToShift(max(c.shift, lost.shift))
	lost.coarsenToShift(c.shift)
	isAmong := subtractIfEnough(&c.zero, lost.zero) && subtractIfEnough(&c.missing, lost.missing)
	kept, at := c.bins[:0], 0
	for _, b := range c.bins {
		if at < len(lost.bins) && lost.bins[at].key == b.key {
			isAmong = isAmong && subtractIfEnough(&b.count, lost.bins[at].count)
			at++
		}
		if b.count > 0 || c.shift > 0 { // a file has no fewer bins at a shift than need it
			kept = append(kept, b)
		}
	}
	c.bins = kept
	return isAmong && at == len(lost.bins)
}

func subtractIfEnough(w *float64, lost float64) bool {
	const rounding = 0x1p-30
	left := *w - lost
	*w = max(left, 0)
	return left >= -rounding*lost
}

// additionalShift returns the smallest additional shift after which n ascending keys have at most limit different
// values.
func additionalShift(n, limit int, key func(i int) uint64) uint {
	if n <= limit {
		return 0
	}
	// Two neighbours become equal once the highest bit in which they differ is shifted out.
	var pairs [65]int // number of pairs that become equal at each shift
	for i := 1; i < n; i++ {
		pairs[bits.Len64(key(i-1)^key(i))]++
	}
	s := uint(0)
	for ; n > limit; n -= pairs[s] {
		s++
	}
	return s
}

func (c *histogram) coarsenToShift(newShift uint) {
	extra := newShift - c.shift
	if extra == 0 {
		return
	}
	c.shift = newShift
	for i := range c.bins {
		c.bins[i].key >>= extra
	}
	c.mergeBinsWithEqualKeys()
}

func (c *histogram) addValue(value, weight float64, maxBins int) {
	switch {
	case value == 0:
		c.zero += weight
		return
	case value != value:
		c.missing += weight
		return
	}
	key := orderedBits(math.Float64bits(value)) >> c.shift
	i, found := slices.BinarySearchFunc(c.bins, key, func(b bin, key uint64) int { return cmp.Compare(b.key, key) })
	if found {
		c.bins[i].count += weight
		return
	}
	c.bins = slices.Insert(c.bins, i, bin{key, weight})
	c.coarsenToShift(c.shift + additionalShift(len(c.bins), maxBins, func(i int) uint64 { return c.bins[i].key }))
}

// orderedBits maps the bits of a float64 to an integer, such that the integers have the same order as the values.
func orderedBits(bits uint64) uint64 { return bits ^ (uint64(int64(bits)>>63) | 1<<63) }

// Discount multiplies every weight in h by γ in (0, 1]. If γ is not in this range, Discount fails, and h is unchanged.
func (h *Histograms) Discount(gamma float64) error {
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("gram: a discount of %v: want more than 0 and up to 1", gamma)
	}
	for j := range h.columns {
		c := &h.columns[j]
		c.zero *= gamma
		c.missing *= gamma
		for i := range c.bins {
			c.bins[i].count *= gamma
		}
	}
	return nil
}

// Reorder moves column order[j] of h to position j.
func (h *Histograms) Reorder(order []int) { h.columns = permutedCopy(h.columns, order) }

func (c *histogram) coarsenedCopy(minShift uint) histogram {
	aligned := *c
	aligned.bins = slices.Clone(c.bins)
	aligned.coarsenToShift(max(c.shift, minShift))
	return aligned
}

func (c *histogram) observedWeight() float64 {
	sum := c.zero
	for _, b := range c.bins {
		sum += b.count
	}
	return sum
}

func (c *histogram) totalWeight() float64 { return c.observedWeight() + c.missing }

// This is the binary form of Histograms, in 8-byte little-endian words. Equal states have equal bytes: "ufshist1", d,
// then d times: shift, number of bins, Σw of zeros, Σw of missing entries, and for each bin its key and Σw. Histograms
// for ranks begin instead with "ufsranks" and the largest number of bins of a column.
const (
	histogramsMagic = "ufshist1"
	ranksMagic      = "ufsranks"
)

// WriteTo writes the binary form of h. It implements io.WriterTo.
func (h *Histograms) WriteTo(w io.Writer) (int64, error) {
	return words.WriteState(w, func(v *words.Visitor) { h.encodeOrDecode(v, h) })
}

// ReadFrom replaces h's state by one that WriteTo wrote, and reads no further. It keeps h's threads. If h has columns,
// the numbers of columns must agree. Memory grows with the bytes read, not with the sizes stated at the beginning. On
// error h is unchanged.
func (h *Histograms) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(h, r, (*Histograms).encodeOrDecode)
}

func (h *Histograms) encodeOrDecode(visitor *words.Visitor, replaced *Histograms) {
	h.threads, h.maxBins = replaced.threads, replaced.maxBins
	if h.maxBins == HistogramBins {
		visitor.Magic(histogramsMagic, "histograms")
	} else {
		visitor.Magic(ranksMagic, "histograms for ranks")
		if most := visitor.Length("most bins", h.maxBins, 1<<30); most != h.maxBins {
			visitor.Fail("bins for ranks: %d at most, want %d", most, h.maxBins)
		}
	}
	d := visitor.Length("number of columns", len(h.columns), maxColumns)
	checkColumnCount(visitor, d, len(replaced.columns))
	words.VisitElements(visitor, &h.columns, d, func(_ int, c *histogram) { c.encodeOrDecode(visitor, h.maxBins) })
}

func (c *histogram) encodeOrDecode(visitor *words.Visitor, maxBins int) {
	visitor.Expect(4)
	words.Count(visitor, "shift", &c.shift, 63)
	n := visitor.Length("number of bins", len(c.bins), maxBins)
	visitor.FloatFields(&c.zero, &c.missing)
	if !isNonnegative(c.zero) || !isNonnegative(c.missing) {
		visitor.Fail("%g zeros, %g missing entries", c.zero, c.missing)
	}
	// With a shift smaller by one there are too many bins. Each bin now is the union of at most two of these.
	if c.shift > 0 && n <= maxBins/2 {
		visitor.Fail("%d bins at the shift %d", n, c.shift)
	}
	visitor.Expect(2 * n)
	last := orderedBits(math.Float64bits(math.MaxFloat64)) >> c.shift
	words.VisitElements(visitor, &c.bins, n, func(i int, b *bin) {
		visitor.Word(&b.key)
		visitor.Float(&b.count)
		if b.key > last || i > 0 && b.key <= c.bins[i-1].key || !isNonnegative(b.count) {
			visitor.Fail("a bin %d of %g at the shift %d", b.key, b.count, c.shift)
		}
	})
}

func isNonnegative(x float64) bool { return x >= 0 && isFinite(x) }
