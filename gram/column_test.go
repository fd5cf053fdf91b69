package gram

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Columns that cannot be features are left out with their reason, and change no bit of the
// others.
func TestLeftOut(t *testing.T) {
	tab := sample(6, 50, true, false)
	n := tab.N()
	column := func(f func(i int) float64) []float64 {
		col := make([]float64, n)
		for i := range col {
			col[i] = f(i)
		}
		return col
	}
	bad := []struct {
		col []float64
		why string
	}{
		{column(func(int) float64 { return 7 }), "constant (7 in every row)"},
		{column(func(i int) float64 { return [2]float64{-0.1, math.NaN()}[i%2] }), "constant (-0.1 wherever observed) (25 null)"},
		{column(func(int) float64 { return math.NaN() }), "no value observed (50 null)"},
		{column(func(i int) float64 { return [2]float64{1e300, 1}[i%2] }), "its centred sum of squares overflows"},
		{column(func(i int) float64 { return [2]float64{math.MaxFloat64, -math.MaxFloat64}[i%2] }), "its centred sum of squares overflows"},
		{column(func(i int) float64 { return 1e-200 * float64(i) }), "its centred sum of squares underflows"},
	}
	mixed, names := table{}, table{}.Columns()
	var want []stream.LeftOut
	for j := range max(len(tab.Cols), len(bad)) {
		if j < len(bad) {
			mixed.Cols = append(mixed.Cols, bad[j].col)
			names = append(names, stream.Column{Name: fmt.Sprint("bad", j)})
			want = append(want, stream.LeftOut{Name: fmt.Sprint("bad", j), Why: bad[j].why})
		}
		if j < len(tab.Cols) {
			mixed.Cols = append(mixed.Cols, tab.Cols[j])
			names = append(names, stream.Column{Name: fmt.Sprint("good", j)})
		}
	}
	for _, parts := range []int{1, 2} {
		state := func(tab table) *Moments {
			m := tab.moments(t, Options{}, n)
			if parts == 2 {
				m = NewMoments(len(tab.Cols), Options{})
				tab.AddRows(t, m, 0, n/2, n)
				o := NewMoments(len(tab.Cols), Options{})
				tab.AddRows(t, o, n/2, n, n)
				must.Do(t, m.Merge(o))
			}
			return m
		}
		for _, scale := range scales {
			for _, fill := range []Fill{FillMean, FillZero} {
				m := state(mixed)
				if got := m.Profile.LeftOut(names); !reflect.DeepEqual(got, want) {
					t.Fatalf("left out %v, want %v", got, want)
				}
				got := must.Get(m.Finish(names, FinishOptions{Scale: scale, Fill: fill}))(t)
				if !reflect.DeepEqual(got.LeftOut, want) {
					t.Fatalf("left out %v, want %v", got.LeftOut, want)
				}
				alone := finish(t, state(tab), tab, scale, fill)
				if !slices.Equal(got.Sym, alone.Sym) || !slices.Equal(got.Filled, alone.Filled) || !slices.Equal(got.Missing, alone.Missing) {
					t.Fatalf("%v: columns left out changed the others", scale)
				}
			}
		}
	}
}

func TestRising(t *testing.T) {
	tab := table{tabletest.Table{Cols: [][]float64{make([]float64, 30), make([]float64, 30), make([]float64, 30)}}}
	for i := range 30 {
		tab.Cols[0][i] = float64(3*i - 7)
		tab.Cols[1][i] = float64(i) + 0.5
		tab.Cols[2][i] = float64(i / 2)
	}
	for _, height := range []int{1, 7, 30} {
		m := tab.moments(t, Options{}, height)
		later := table{tab.MapEntries(func(_, j int, x float64) float64 { return x + [3]float64{100, 0, 0}[j] })}
		must.Do(t, m.Merge(later.moments(t, Options{}, height)))
		for j, want := range []bool{true, false, false} {
			if m.Profile.Columns[j].Rising != want {
				t.Errorf("height %d, column %d: rising %v", height, j, !want)
			}
		}
	}
}
