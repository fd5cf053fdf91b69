package gram

import (
	"bytes"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// without is the table without the rows [from, to).
func (t table) without(from, to int) (rest table) {
	cut := func(x []float64) []float64 { return append(append([]float64(nil), x[:from]...), x[to:]...) }
	for _, col := range t.Cols {
		rest.Cols = append(rest.Cols, cut(col))
	}
	if t.Weight != nil {
		rest.Weight = cut(t.Weight)
	}
	return rest
}

func (t table) partOf(tb testing.TB, from, to int) (*Moments, *Histograms) {
	m, h := NewMoments(len(t.Cols), Options{}), NewHistograms(len(t.Cols), 1)
	t.AddRows(tb, m, from, to, 8)
	t.AddRows(tb, h, from, to, 8)
	return m, h
}

// The whole without some rows is the statistics of the others, can be written and read, and goes on.
func TestSubtract(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		if scale == ScaleMinMax { // minima and maxima cannot be subtracted
			return
		}
		n := tab.N()
		for _, cut := range [][2]int{{20, 45}, {0, 13}, {40, n}, {7, 7}} {
			m, h := tab.partOf(t, 0, n)
			lost, lostCounts := tab.partOf(t, cut[0], cut[1])
			must.Do(t, m.Subtract(lost))
			must.Do(t, h.Subtract(lostCounts))
			rest := tab.without(cut[0], cut[1])
			again := NewMoments(len(tab.Cols), Options{})
			must.Get(again.ReadFrom(bytes.NewReader(encode(t, m))))(t)
			ref := rest.reference(scale, fill)
			// As in TestMerge: the pilots are values of the whole, and so are the sums that cancel.
			ref.near(t, 64*n, finish(t, again, rest, scale, fill).Sym)
			want, counts := rest.partOf(t, 0, rest.N())
			for j := range tab.Cols {
				a, b := &m.Profile.Columns[j], &want.Profile.Columns[j]
				if a.Observed != b.Observed || a.Missing != b.Missing || a.Min > b.Min || a.Max < b.Max {
					t.Errorf("column %d without %v: got %+v, want %+v", j, cut, a, b)
				}
				if psi := counts.PSI(j, h, j); psi.Value > 1e-20 {
					t.Errorf("histogram %d without %v is off: %g", j, cut, psi.Value)
				}
			}
			must.Get(NewHistograms(len(tab.Cols), 1).ReadFrom(bytes.NewReader(wordstest.EncodeState(t, h))))(t)
			// Rows that come back.
			more, moreCounts := tab.partOf(t, cut[0], cut[1])
			must.Do(t, m.Merge(more))
			must.Do(t, h.Merge(moreCounts))
			tab.reference(scale, fill).near(t, 64*n, finish(t, m, tab, scale, fill).Sym)
		}
	})
}

// A column that is constant or empty in the rest is no feature, though its sums before leave rounding errors.
func TestSubtractToConstant(t *testing.T) {
	const n = 40
	var tab table
	tab.Cols = make([][]float64, 4)
	for i := range n {
		tab.Weight = append(tab.Weight, 1.1+math.Cos(float64(3*i)))
		x := 1e3 * math.Sin(float64(i*i))
		constant, gap := 1e5/3+x, x/3
		if i >= 25 {
			constant, gap = 1e5/3, math.NaN()
		}
		for j, v := range []float64{x, constant, gap, math.Cos(float64(i))} {
			tab.Cols[j] = append(tab.Cols[j], v)
		}
	}
	m, _ := tab.partOf(t, 0, n)
	for _, cut := range [][2]int{{9, 25}, {0, 9}} {
		lost, _ := tab.partOf(t, cut[0], cut[1])
		must.Do(t, m.Subtract(lost))
	}
	copied := NewMoments(4, Options{}) // finishing uses up the matrix
	must.Get(copied.ReadFrom(bytes.NewReader(encode(t, m))))(t)
	g := finish(t, copied, tab, ScaleStandard, FillMean)
	if len(g.Columns) != 2 || g.Columns[0] != 0 || g.Columns[1] != 3 {
		t.Errorf("features %v, want 0 and 3", g.Columns)
	}
	rest, _ := tab.partOf(t, 25, n)
	must.Do(t, m.Subtract(rest))
	if p := &m.Profile; p.Rows != 0 || p.Seen != 0 || p.Weight != 0 {
		t.Errorf("%d rows of weight %v are left of none", p.Rows, p.Weight)
	}
	all, _ := tab.partOf(t, 0, n)
	must.Do(t, m.Merge(all))
	tab.reference(ScaleCenter, FillMean).near(t, 16*n, finish(t, m, tab, ScaleCenter, FillMean).Sym)
}

// Rows that were not added cannot be subtracted.
func TestSubtractRefused(t *testing.T) {
	tab := sample(3, 40, true, false)
	for _, other := range []table{sample(3, 41, true, false), sample(4, 20, true, false)} {
		m, h := tab.partOf(t, 0, 40)
		lost, lostCounts := other.partOf(t, 0, other.N())
		if m.Subtract(lost) == nil || h.Subtract(lostCounts) == nil {
			t.Errorf("%d other rows were subtracted from 40", other.N())
		}
	}
}
