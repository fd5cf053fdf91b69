package gram

import (
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// TestKeep: the Gram matrix of some columns is a part of the whole one.
func TestKeep(t *testing.T) {
	const d = 5
	names := []string{"a", "b", "c", "d", "e"}
	for mask := range 1 << d {
		g := &Gram{D: d}
		for i := range d {
			for j := range d {
				g.Sym = append(g.Sym, float64(10*i+j))
			}
			g.Columns = append(g.Columns, i)
			g.Mean = append(g.Mean, float64(i))
			g.Std = append(g.Std, float64(-i))
			g.Filled = append(g.Filled, int64(i))
			g.Missing = append(g.Missing, stream.MissingCount{Nulls: int64(i)})
		}
		wanted := make([]bool, d)
		want := &Gram{Sym: []float64{}, Columns: []int{}, Mean: []float64{}, Std: []float64{}, Filled: []int64{}, Missing: []stream.MissingCount{}}
		for i := range names {
			if wanted[i] = mask>>i&1 == 1; !wanted[i] {
				continue
			}
			want.D++
			for j := range names {
				if mask>>j&1 == 1 {
					want.Sym = append(want.Sym, float64(10*i+j))
				}
			}
			want.Columns = append(want.Columns, i)
			want.Mean = append(want.Mean, float64(i))
			want.Std = append(want.Std, float64(-i))
			want.Filled = append(want.Filled, int64(i))
			want.Missing = append(want.Missing, stream.MissingCount{Nulls: int64(i)})
		}
		if g.Keep(wanted); !reflect.DeepEqual(g, want) {
			t.Errorf("mask %05b: %+v, want %+v", mask, g, want)
		}
	}
}
