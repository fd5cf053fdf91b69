package gram

import (
	"math"
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestKeep: the Gram matrix of some columns is a part of the whole one.
func TestKeep(t *testing.T) {
	const d = 5
	of := func(mask int) (g *Gram, wanted []bool) {
		g = &Gram{Matrix: Matrix{Sym: []float64{}}, Columns: []int{}, Mean: []float64{}, Std: []float64{}, Offset: []float64{}, Filled: []int64{}, Missing: []stream.MissingCount{}}
		wanted = make([]bool, d)
		for i := range d {
			if wanted[i] = mask>>i&1 == 1; !wanted[i] {
				continue
			}
			for j := range d {
				if mask>>j&1 == 1 {
					g.Sym = append(g.Sym, float64(10*i+j))
				}
			}
			g.D++
			g.Columns, g.Mean, g.Std = append(g.Columns, i), append(g.Mean, float64(i)), append(g.Std, float64(-i))
			g.Offset = append(g.Offset, float64(2*i))
			g.Filled, g.Missing = append(g.Filled, int64(i)), append(g.Missing, stream.MissingCount{Nulls: int64(i)})
		}
		return g, wanted
	}
	for mask := range 1 << d {
		g, _ := of(1<<d - 1)
		want, wanted := of(mask)
		if g.Keep(wanted); !reflect.DeepEqual(g, want) {
			t.Errorf("mask %05b: %+v, want %+v", mask, g, want)
		}
	}
}

// TestOffset: G less Σw·Offset·Offsetᵀ is the Gram matrix of the centred columns: its correlations are the same as
// for any other scale.
func TestOffset(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		standard := NewMoments(len(tab.Cols), Options{})
		tab.add(t, standard, 13)
		want := finish(t, standard, tab, ScaleStandard, fill)
		m := NewMoments(len(tab.Cols), Options{})
		tab.add(t, m, 13)
		g := finish(t, m, tab, scale, fill)
		centred := func(i, j int) float64 { return g.Sym[i*g.D+j] - g.Weight*g.Offset[i]*g.Offset[j] }
		for i := range g.D {
			for j := range g.D {
				if math.Abs(g.Mean[i]) > 1e3*g.Std[i] || math.Abs(g.Mean[j]) > 1e3*g.Std[j] {
					continue // the squares of the means have the digits
				}
				length := math.Sqrt(centred(i, i)) * math.Sqrt(centred(j, j))
				// Squares of up to 1e6 variances are taken off, each rounded to 2⁻⁵³: 1e-10.
				if got, want := centred(i, j)/length, want.Sym[i*g.D+j]/g.Weight; math.Abs(got-want) > 1e-9 {
					t.Fatalf("correlation of %d and %d: %v, want %v", i, j, got, want)
				}
			}
		}
	})
}
