package gram

import (
	"io"
	"math"
	"slices"

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
	e := words.NewWriter(w)
	if h.maxBins == HistogramBins {
		e.Word(words.MagicWord(histogramsMagic))
	} else {
		e.Word(words.MagicWord(ranksMagic))
		e.Int(int64(h.maxBins))
	}
	e.Int(int64(len(h.columns)))
	for j := range h.columns {
		c := &h.columns[j]
		e.Word(uint64(c.shift))
		e.Int(int64(len(c.bins)))
		e.Float(c.zero)
		e.Float(c.missing)
		for _, b := range c.bins {
			e.Word(b.key)
			e.Float(b.count)
		}
	}
	return e.Finish()
}

// ReadFrom replaces h's state by one that WriteTo wrote, and reads no further. It keeps h's threads. If h has columns,
// the numbers of columns must agree. Memory grows with the bytes read, not with the sizes stated at the beginning. On
// error h is unchanged.
func (h *Histograms) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(h, r, h.decodeHistograms)
}

func (h *Histograms) decodeHistograms(r *words.Reader) *Histograms {
	if h.maxBins == HistogramBins {
		r.Magic(histogramsMagic, "histograms")
		r.Expect(1)
	} else {
		r.Magic(ranksMagic, "histograms for ranks")
		r.Expect(2)
		if most := r.Count("most bins", 1<<30); most != int64(h.maxBins) {
			r.Fail("bins for ranks: %d at most, want %d", most, h.maxBins)
		}
	}
	d, want := r.Count("number of columns", maxColumns), len(h.columns)
	if want > 0 && d != int64(want) {
		r.Fail("%d columns, want %d", d, want)
	}
	got := &Histograms{threads: h.threads, maxBins: h.maxBins, columns: make([]histogram, 0, min(d, 1024))}
	for range d {
		got.columns = append(got.columns, decodeHistogram(r, int64(h.maxBins)))
		if r.Err() != nil {
			return nil
		}
	}
	return got
}

func decodeHistogram(r *words.Reader, maxBins int64) histogram {
	r.Expect(4)
	c := histogram{shift: uint(r.Count("shift", 63))}
	n := r.Count("number of bins", maxBins)
	c.zero, c.missing = r.Float(), r.Float()
	if !isNonnegative(c.zero) || !isNonnegative(c.missing) {
		r.Fail("%g zeros, %g missing entries", c.zero, c.missing)
	}
	// With a shift smaller by one there are too many bins. Each bin now is the union of at most two of these.
	if c.shift > 0 && n <= maxBins/2 {
		r.Fail("%d bins at the shift %d", n, c.shift)
	}
	r.Expect(2 * n)
	last := orderedBits(math.Float64bits(math.MaxFloat64)) >> c.shift
	for range n {
		b := bin{r.Word(), r.Float()}
		if before := len(c.bins); b.key > last || before > 0 && b.key <= c.bins[before-1].key || !isNonnegative(b.count) {
			r.Fail("a bin %d of %g at the shift %d", b.key, b.count, c.shift)
		}
		if r.Err() != nil {
			return c
		}
		c.bins = append(c.bins, b)
	}
	c.bins = slices.Clip(c.bins)
	return c
}

func isNonnegative(x float64) bool { return x >= 0 && isFinite(x) }
