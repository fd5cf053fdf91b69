package alike

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestVIFIsLeastSquares: 1/(1 − R²) on all other columns, by QR of the raw rows.
func TestVIFIsLeastSquares(t *testing.T) {
	for _, alone := range []int{0, 1, 7, 40} { // around the leaves of the recursion
		tab := factors(6, 300, []int{5, 3}, 0.3, alone)
		m, x := tab.matrix(2), tab.centred()
		d := must.Get(m.FindDependence())(t)
		if d.Rank != m.D || len(d.Copies)+len(d.Combinations)+d.Longer > 0 {
			t.Errorf("%d columns: %+v", m.D, d)
		}
		for j := range m.D {
			var others []int
			for i := range m.D {
				if i != j {
					others = append(others, i)
				}
			}
			_, r2 := leastSquares(t, x, j, others)
			if want := 1 / (1 - r2); math.Abs(d.VIF[j]-want) > 1e-9*want {
				t.Errorf("%s: VIF %v, want %v", m.Names[j], d.VIF[j], want)
			}
		}
	}
}

// text writes combinations for comparison: own units, to six digits.
func (m *Matrix) text(t *testing.T, tab table, c Combination) string {
	t.Helper()
	x := tab.centred()
	scale := func(name string) float64 { return sd(x, slices.Index(tab.names, name)) }
	s := m.Names[c.Column] + " ="
	for _, term := range c.Terms {
		s += fmt.Sprintf(" %+.5g %s", term.Weight*scale(m.Names[c.Column])/scale(m.Names[term.Column]), m.Names[term.Column])
	}
	return s
}

// planted is a table with combinations to find, and the expected combinations.
func plantedTable(seed uint64) (table, []string) {
	// Parts of falling spread, so that the order of the terms is known.
	r := rand.New(rand.NewPCG(seed, 9))
	const n = 400
	x := mat.NewDense(n, 6, nil)
	for i := range n {
		for j := range 6 {
			x.Set(i, j, 1e3+float64(6-j)*r.NormFloat64())
		}
	}
	tab := table{[]string{"p1", "p2", "p3", "p4", "p5", "p6"}, x}.
		with("total", func(row map[string]float64) float64 { return row["p1"] + row["p2"] + row["p3"] }).
		with("mean", func(row map[string]float64) float64 { return row["p4"]/2 - row["p5"]*2 + 40 }).
		with("z_copy", func(row map[string]float64) float64 { return 3 - row["p6"]/4 })
	level := 0
	for _, name := range []string{"is_a", "is_b", "is_c", "is_d"} {
		own := level
		level++
		at := -1
		tab = tab.with(name, func(map[string]float64) float64 {
			at++
			share := rand.New(rand.NewPCG(seed, uint64(at))).Float64() // 0.4, 0.3, 0.2, 0.1
			in := []float64{0.4, 0.7, 0.9, 1}
			if share < in[own] && (own == 0 || share >= in[own-1]) {
				return 1
			}
			return 0
		})
	}
	return tab, []string{"mean = -2 p5 +0.5 p4", "total = +1 p1 +1 p2 +1 p3", "is_a = -1 is_b -1 is_c -1 is_d"}
}

// TestPlantedCombinations: copies and combinations are found, with few terms and solved for the total, in
// whatever order the columns come, and what takes no part in any has a finite VIF.
func TestPlantedCombinations(t *testing.T) {
	for seed := range uint64(6) {
		tab, want := plantedTable(20)
		if seed > 0 {
			tab = tab.permuted(seed)
		}
		tab = tab.with("q1", func(row map[string]float64) float64 { return row["p1"] + math.Sin(1e3*row["p2"]) })
		m := tab.matrix(1)
		d := must.Get(m.FindDependence())(t)
		var got []string
		for _, c := range d.Combinations {
			got = append(got, m.text(t, tab, c))
			if c.Residual > c.Bound || c.Bound > 1e-9 {
				t.Errorf("%s leaves %v of %v", m.Names[c.Column], c.Residual, c.Bound)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || d.Longer > 0 || d.Rank != m.D-4 {
			t.Errorf("seed %d: rank %d, %d longer, %q", seed, d.Rank, d.Longer, got)
		}
		if len(d.Copies) != 1 || m.Names[d.Copies[0].Column] != "p6" || m.Names[d.Copies[0].Of[0].Column] != "z_copy" || d.Copies[0].Of[0].Correlation > -1+1e-12 {
			t.Errorf("copies %+v", d.Copies)
		}
		for j, v := range d.VIF {
			if finite := m.Names[j] == "q1"; math.IsInf(v, 1) == finite || v < 1 {
				t.Errorf("VIF of %s is %v", m.Names[j], v)
			}
		}
	}
}

// TestNearCombinations: a column that is off a sum by far more than the tolerance, and still by little, is
// no combination.
func TestNearCombinations(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	base := factors(7, 300, nil, 0, 6)
	for _, c := range []struct {
		off   float64
		exact bool
	}{{0, true}, {1e-9, true}, {1e-4, false}, {1e-2, false}} {
		tab := base.with("sum", func(row map[string]float64) float64 { return row["z00"] - row["z01"] + c.off*r.NormFloat64() })
		d := must.Get(tab.matrix(1).FindDependence())(t)
		if (len(d.Combinations) == 1) != c.exact || (d.Rank == 6) != c.exact {
			t.Errorf("off by %v: rank %d, %d combinations", c.off, d.Rank, len(d.Combinations))
		}
	}
}

// TestFewerRowsThanColumns: the rank is that of the centred rows, every VIF is infinite, and no short combination
// is made up.
func TestFewerRowsThanColumns(t *testing.T) {
	m := factors(9, 30, nil, 0, 80).matrix(2)
	d := must.Get(m.FindDependence())(t)
	if d.Rank != 29 || len(d.Combinations) != 0 || d.Longer != 80-29 {
		t.Errorf("rank %d, %d combinations, %d longer", d.Rank, len(d.Combinations), d.Longer)
	}
	for j, v := range d.VIF {
		if !math.IsInf(v, 1) {
			t.Errorf("VIF of %s is %v", m.Names[j], v)
		}
	}
}

// TestDependenceOfFew: no column, one, and only copies.
func TestDependenceOfFew(t *testing.T) {
	if d := must.Get(New(kernel.NewTeam(1), Data{}).FindDependence())(t); d.Rank != 0 {
		t.Errorf("no column: got %+v, want rank 0", d)
	}
	if d := must.Get(factors(1, 20, nil, 0, 1).matrix(1).FindDependence())(t); d.Rank != 1 || d.VIF[0] != 1 {
		t.Errorf("one column: got %+v, want rank 1 and a VIF of 1", d)
	}
	same := factors(1, 20, nil, 0, 1)
	for _, name := range []string{"a", "b", "c"} {
		same = same.with(name, func(row map[string]float64) float64 { return row["z00"] })
	}
	if d := must.Get(same.matrix(1).FindDependence())(t); d.Rank != 1 || len(d.Copies) != 1 || len(d.Copies[0].Of) != 3 || len(d.Combinations) > 0 {
		t.Errorf("four copies: got %+v, want rank 1 and one set of 3 copies without combinations", d)
	}
}
