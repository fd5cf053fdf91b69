package linalg

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFilter: the pairs of a solver with a filter fit the definition and have the same bits for any team;
// no wrong filter changes them but by rounding.
func TestFilter(t *testing.T) {
	const l = 10
	for _, name := range names() {
		n := 150
		if name == "clustered" {
			n = 200 // where a wrong filter makes the iterations fail
		}
		a := seeded(name, n)
		all := dense(t, a, n)
		top := all[n-1] + 1e-12*(all[n-1]-all[0])
		solve := func(t *testing.T, workers int, f Filter, start kernel.Matrix[float64]) Eigen {
			team := kernel.NewTeam(workers)
			change := f.Product
			f.Product = func(dst, x kernel.Matrix[float64]) {
				clear(dst.Data)
				kernel.Gemm(team, 1, square(a, n), x, dst)
				if change != nil {
					change(dst, x)
				}
			}
			return must.Get(NewSmallest(team, n, l, EigenOptions{Filter: &f}).Solve(square(a, n), start))(t)
		}
		for _, c := range []struct {
			name   string
			wrong  bool
			filter Filter
		}{
			{"right", false, Filter{Top: top}},
			{"top too high", false, Filter{Top: top + (all[n-1] - all[0])}},
			{"top in the spectrum", true, Filter{Top: all[n/2]}},
			{"top below the spectrum", true, Filter{Top: all[0] - 1}},
			{"no product", true, Filter{Top: top, Product: func(dst, _ kernel.Matrix[float64]) { clear(dst.Data) }}},
			{"another sign", true, Filter{Top: top, Product: func(dst, _ kernel.Matrix[float64]) {
				for i := range dst.Data {
					dst.Data[i] = -dst.Data[i]
				}
			}}},
		} {
			if !long.IsOn() && name != "clustered" && c.name != "right" && c.name != "no product" {
				continue // with all spectra in the tests of the README
			}
			t.Run(fmt.Sprintf("%s/%s", name, c.name), func(t *testing.T) {
				e := solve(t, 2, c.filter, cold)
				checkEigen(t, a, n, l, all, e)
				if e.Dense && !c.wrong {
					t.Errorf("dense after %d steps, %d factors", e.Steps, e.Factors)
				}
				checkEigen(t, a, n, l, all, solve(t, 1, c.filter, e.Basis))
				for _, workers := range []int{1, 8} {
					if again := solve(t, workers, c.filter, cold); !slices.Equal(again.Basis.Data, e.Basis.Data) || !slices.Equal(again.Values, e.Values) {
						t.Errorf("%d workers: other bits than with 2", workers)
					}
				}
			})
		}
	}
}

// TestFilterSparesFactors: where the wanted values stand apart, one factor, the proof, is all.
func TestFilterSparesFactors(t *testing.T) {
	const n, l = 400, 10
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = min(float64(i), 20+float64(i)/n)
	}
	f := &Filter{Top: 21, Product: func(dst, x kernel.Matrix[float64]) {
		for i := range n {
			for j := range x.Cols {
				dst.Data[i*x.Cols+j] = a[i*n+i] * x.Data[i*x.Cols+j]
			}
		}
	}}
	e := must.Get(NewSmallest(kernel.NewTeam(1), n, l, EigenOptions{Filter: f}).Solve(square(a, n), cold))(t)
	checkEigen(t, a, n, l, dense(t, a, n), e)
	if e.Factors != 1 || e.Dense {
		t.Errorf("%d factors, dense: %t; want one", e.Factors, e.Dense)
	}
}
