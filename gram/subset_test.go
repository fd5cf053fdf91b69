package gram

import (
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestKeep: the Gram matrix of some columns is a part of the whole one.
func TestKeep(t *testing.T) {
	const d = 5
	of := func(mask int) (g *Gram, wanted []bool) {
		g = &Gram{Sym: []float64{}, Columns: []int{}, Mean: []float64{}, Std: []float64{}, Filled: []int64{}, Missing: []stream.MissingCount{}}
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
