package gram

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// This is the binary form of Histograms, in 8-byte little-endian words. Equal states have equal bytes: "ufshist1", d,
// then d times: shift, number of bins, Σw of zeros, Σw of missing entries, and for each bin its key and Σw. Histograms
// for ranks begin instead with "ufsranks" and the largest number of bins of a column.
const (
	histogramsMagic = "ufshist1"
	ranksMagic      = "ufsranks"
)

// WriteTo writes the binary form of h. It implements io.WriterTo.
func (h *Histograms) WriteTo(w io.Writer) (int64, error) {
	return words.Write(w, func(v *words.Visitor) { h.visit(v, h) })
}

// ReadFrom replaces h's state by one that WriteTo wrote, and reads no further. It keeps h's threads. If h has columns,
// the numbers of columns must agree. Memory grows with the bytes read, not with the sizes stated at the beginning. On
// error h is unchanged.
func (h *Histograms) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(h, r, (*Histograms).visit)
}

func (h *Histograms) visit(v *words.Visitor, old *Histograms) {
	h.threads, h.maxBins = old.threads, old.maxBins
	if h.maxBins == HistogramBins {
		v.Magic(histogramsMagic, "histograms")
	} else {
		v.Magic(ranksMagic, "histograms for ranks")
		if most := v.Length("most bins", h.maxBins, 1<<30); most != h.maxBins {
			v.Fail("bins for ranks: %d at most, want %d", most, h.maxBins)
		}
	}
	d := v.Length("number of columns", len(h.columns), maxColumns)
	checkColumns(v, d, len(old.columns))
	words.Each(v, &h.columns, d, func(_ int, c *histogram) { c.visit(v, h.maxBins) })
}

func (c *histogram) visit(v *words.Visitor, maxBins int) {
	v.Expect(4)
	words.Count(v, "shift", &c.shift, 63)
	n := v.Length("number of bins", len(c.bins), maxBins)
	v.FloatFields(&c.zero, &c.missing)
	if !isNonnegative(c.zero) || !isNonnegative(c.missing) {
		v.Fail("%g zeros, %g missing entries", c.zero, c.missing)
	}
	// With a shift smaller by one there are too many bins. Each bin now is the union of at most two of these.
	if c.shift > 0 && n <= maxBins/2 {
		v.Fail("%d bins at the shift %d", n, c.shift)
	}
	v.Expect(2 * n)
	last := orderedBits(math.Float64bits(math.MaxFloat64)) >> c.shift
	words.Each(v, &c.bins, n, func(i int, b *bin) {
		v.Word(&b.key)
		v.Float(&b.count)
		if b.key > last || i > 0 && b.key <= c.bins[i-1].key || !isNonnegative(b.count) {
			v.Fail("a bin %d of %g at the shift %d", b.key, b.count, c.shift)
		}
	})
}

func isNonnegative(x float64) bool { return x >= 0 && isFinite(x) }
