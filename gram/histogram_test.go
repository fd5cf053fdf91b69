package gram

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// spreads are columns that are hard for bins in different ways: few values, values of both signs and all sizes,
// denormals, zeros of both signs, missing entries.
func spreads(seed uint64, n int) tabletest.Table {
	r := rand.New(rand.NewPCG(seed, 3))
	var t tabletest.Table
	for _, f := range []func() float64{
		r.NormFloat64,
		func() float64 { return 1000 + r.NormFloat64() },
		func() float64 { return float64(r.IntN(256)) },
		func() float64 { return float64(r.IntN(3)) },
		func() float64 { return math.Copysign(0, float64(r.IntN(2))-0.5) },
		func() float64 { return math.Float64frombits(r.Uint64() &^ (1 << 62)) }, // all sizes below 2
		func() float64 { return math.Copysign(math.Ldexp(1, r.IntN(2046)-1022), float64(r.IntN(2))-0.5) },
		func() float64 { return math.SmallestNonzeroFloat64 * float64(r.IntN(9)-4) },
		func() float64 { return []float64{math.NaN(), 0, 1, -1, math.MaxFloat64, -math.MaxFloat64}[r.IntN(6)] },
		math.NaN,
	} {
		col := make([]float64, n)
		for i := range col {
			col[i] = f()
		}
		t.Cols = append(t.Cols, col)
	}
	return t
}

func histogramsOf(tb testing.TB, t tabletest.Table, threads, height int) *Histograms {
	h := NewHistograms(len(t.Cols), threads)
	t.AddRows(tb, h, 0, t.N(), height)
	return h
}

// twin is the histogram of a column by its definition: the smallest shift is tried out.
func twin(col, weight []float64) histogram {
	for s := uint(0); ; s++ {
		c, at := histogram{shift: s}, map[uint64]float64{}
		for i, x := range col {
			w := 1.0
			if weight != nil {
				w = weight[i]
			}
			switch {
			case x != x:
				c.missing += w
			case x == 0:
				c.zero += w
			case x > 0:
				at[(math.Float64bits(x)|1<<63)>>s] += w
			default:
				at[^math.Float64bits(x)>>s] += w
			}
		}
		if len(at) <= HistogramBins {
			for key, count := range at {
				c.bins = append(c.bins, bin{key, count})
			}
			slices.SortFunc(c.bins, func(a, b bin) int {
				if a.key < b.key {
					return -1
				}
				return 1
			})
			return c
		}
	}
}

// The state follows the definition for any chunks, threads, form of the rows and order of merging: the same bytes.
func TestHistogramsAreOfTheValues(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 700} {
		for _, weighted := range []bool{false, true} {
			tab := spreads(uint64(n), n)
			if weighted {
				for i := range n { // sums of sixteenths are exact
					tab.Weight = append(tab.Weight, float64(1+i%7)/16)
				}
			}
			twins := &Histograms{maxBins: HistogramBins}
			for _, col := range tab.Cols {
				twins.columns = append(twins.columns, twin(col, tab.Weight))
			}
			want := wordstest.EncodeState(t, twins)
			part := func(from, to int) *Histograms {
				h := NewHistograms(len(tab.Cols), 1)
				tab.AddRows(t, h, from, to, 11)
				return h
			}
			merged := func(a, b *Histograms) *Histograms {
				before := wordstest.EncodeState(t, b)
				must.Do(t, a.Merge(b))
				if !bytes.Equal(before, wordstest.EncodeState(t, b)) {
					t.Fatal("Merge changed its argument")
				}
				return a
			}
			resumed := NewHistograms(0, 2)
			must.Get(resumed.ReadFrom(bytes.NewReader(wordstest.EncodeState(t, part(0, n/2)))))(t)
			tab.AddRows(t, resumed, n/2, n, 9)
			for name, h := range map[string]*Histograms{
				"whole":      histogramsOf(t, tab, 1, n),
				"rows":       histogramsOf(t, tab, 1, 1),
				"8 threads":  histogramsOf(t, tab, 8, 13),
				"two halves": merged(part(n/2, n), part(0, n/2)),
				"thirds":     merged(part(n/3, 2*n/3), merged(part(2*n/3, n), part(0, n/3))),
				"empty":      merged(part(0, 0), merged(part(0, n), part(0, 0))),
				"resumed":    resumed,
			} {
				if got := wordstest.EncodeState(t, h); !bytes.Equal(got, want) {
					t.Fatalf("%d rows, weighted %v, %s: other bytes than the definition's", n, weighted, name)
				}
			}
		}
	}
}

// Sparse rows have the histograms of the same rows when dense.
func TestHistogramsOfSparseRows(t *testing.T) {
	tab := spreads(5, 200)
	want := wordstest.EncodeState(t, histogramsOf(t, tab, 1, 200))
	tab.Sparse = true
	if !bytes.Equal(want, wordstest.EncodeState(t, histogramsOf(t, tab, 1, 33))) {
		t.Error("other bytes")
	}
}

// The order of the columns is the caller's, and other columns are refused without a change.
func TestHistogramsRefuseOtherColumns(t *testing.T) {
	h := histogramsOf(t, spreads(1, 50), 1, 50)
	before := wordstest.EncodeState(t, h)
	other := NewHistograms(3, 1)
	if h.Merge(other) == nil || h.Add(&stream.Chunk{Cols: 3}) == nil {
		t.Error("other columns were accepted")
	}
	if _, err := h.ReadFrom(bytes.NewReader(wordstest.EncodeState(t, other))); err == nil {
		t.Error("a state of other columns was read")
	}
	if !bytes.Equal(before, wordstest.EncodeState(t, h)) {
		t.Error("changed by an error")
	}
}

func TestHistogramsEncode(t *testing.T) {
	for _, h := range []*Histograms{histogramsOf(t, spreads(2, 300), 1, 300), NewHistograms(3, 1), NewHistograms(0, 1)} {
		wordstest.CheckState(t, h, func() wordstest.State { return NewHistograms(0, 1) })
	}
}

// Everything that decodes is a state: it encodes to the same bytes, takes rows and merges.
func FuzzHistograms(f *testing.F) {
	for _, n := range []int{0, 3, 200} {
		f.Add(wordstest.EncodeState(f, histogramsOf(f, spreads(uint64(n), n), 1, 64)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h := NewHistograms(0, 1)
		if _, err := h.ReadFrom(bytes.NewReader(b)); err != nil {
			return
		}
		again := wordstest.EncodeState(t, h)
		o := NewHistograms(0, 1)
		wordstest.CheckReread(t, again, o)
		must.Do(t, h.Merge(o))
		tab := tabletest.Table{}
		for range o.columns {
			tab.Cols = append(tab.Cols, []float64{1, -2, 0, math.NaN(), 1e300})
		}
		if len(tab.Cols) > 0 {
			tab.AddRows(t, h, 0, 5, 2)
		}
		for j := range h.columns {
			if n := len(h.columns[j].bins); n > HistogramBins {
				t.Fatalf("column %d has %d bins", j, n)
			}
			if psi := h.PSI(j, o, j).Value; psi < 0 {
				t.Fatalf("column %d: PSI %g", j, psi)
			}
		}
	})
}

// BenchmarkHistograms measures the cost of a value, for comparison with BenchmarkAdd.
func BenchmarkHistograms(b *testing.B) {
	const d, rows = 784, 2048
	r := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []struct {
		name string
		draw func() float64
	}{
		{"pixels", func() float64 { return max(float64(r.IntN(1275))-1020, 0) }}, // four of five are 0
		{"normals", r.NormFloat64},
		{"far normals", func() float64 { return 1000 + r.NormFloat64() }},
	} {
		tab := tabletest.Table{Cols: make([][]float64, d)}
		for j := range tab.Cols {
			tab.Cols[j] = make([]float64, rows)
			for i := range rows {
				tab.Cols[j][i] = kind.draw()
			}
		}
		c := tab.Chunk(0, rows)
		c.Missing = nil
		for _, state := range []string{"histograms", "moments"} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/threads=%d", kind.name, state, threads), func(b *testing.B) {
					var adder stream.Adder = NewHistograms(d, threads)
					if state == "moments" {
						adder = NewMoments(d, Options{Threads: threads})
					}
					for b.Loop() {
						must.Do(b, adder.Add(c))
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(d*rows), "ns/value")
				})
			}
		}
	}
}
