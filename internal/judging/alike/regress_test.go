package alike

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// leastSquares is the regression of a column on others by QR of the centred rows: weights in the columns' own
// units, and R².
func leastSquares(t *testing.T, x *mat.Dense, j int, others []int) (weights []float64, r2 float64) {
	t.Helper()
	n, _ := x.Dims()
	y := mat.NewVecDense(n, mat.Col(nil, j, x))
	if len(others) == 0 {
		return nil, 0
	}
	a := mat.NewDense(n, len(others), nil)
	for k, i := range others {
		a.SetCol(k, mat.Col(nil, i, x))
	}
	var qr mat.QR
	qr.Factorize(a)
	var w mat.VecDense
	if err := qr.SolveVecTo(&w, false, y); err != nil {
		t.Fatalf("solving least squares by QR: %v", err)
	}
	var rest mat.VecDense
	rest.MulVec(a, &w)
	rest.SubVec(y, &rest)
	return w.RawVector().Data, 1 - mat.Dot(&rest, &rest)/mat.Dot(y, y)
}

// sd is the standard deviation of a centred column.
func sd(x *mat.Dense, j int) float64 {
	n, _ := x.Dims()
	return mat.Norm(x.ColView(j), 2) / math.Sqrt(float64(n))
}

// TestRegressionIsLeastSquares: weights and R² are those of the raw rows, for columns in and out of the
// chosen ones.
func TestRegressionIsLeastSquares(t *testing.T) {
	tab := factors(3, 200, []int{5, 4}, 0.4, 4)
	m, x := tab.matrix(2), tab.centred()
	for _, chosen := range [][]int{{}, {0}, {2, 0, 7}, {1, 3, 5, 7, 9, 11}} {
		for j := range m.D {
			if slices.Contains(chosen, j) {
				continue
			}
			reg := m.RegressOn(chosen)
			e := reg.ExplainColumn(j)
			if len(reg.Redundant) > 0 || !slices.Equal(reg.Basis, chosen) && len(chosen) > 0 {
				t.Fatalf("basis %v of %v", reg.Basis, chosen)
			}
			// The names of the table are in order, so that places are the same.
			w, r2 := leastSquares(t, x, j, chosen)
			// Rounding of 200 terms times a condition of some 100.
			if math.Abs(e.R2-max(r2, 0)) > 1e-11 || e.Exact {
				t.Errorf("%d by %v: R² %v, want %v", j, chosen, e.R2, r2)
			}
			for k, i := range chosen {
				if own := e.Weights[k] * sd(x, j) / sd(x, i); math.Abs(own-w[k]) > 1e-10*(1+math.Abs(w[k])) {
					t.Errorf("%d by %v: weight of %d is %v, want %v", j, chosen, i, own, w[k])
				}
			}
		}
	}
}

// TestRegressionOnCopies: a chosen column that those before it determine is named and not used.
func TestRegressionOnCopies(t *testing.T) {
	tab := factors(4, 100, []int{3}, 0.5, 2).
		with("b_copy", func(row map[string]float64) float64 { return 7 - 2*row["a00"] }).
		with("c_sum", func(row map[string]float64) float64 { return row["a01"] + row["z00"] })
	m := tab.matrix(1)
	at := func(name string) int { return m.find(t, name) }
	r := m.RegressOn([]int{at("a00"), at("a01"), at("b_copy"), at("z00"), at("c_sum")})
	if got := m.named(r.Redundant); !slices.Equal(got, []string{"b_copy", "c_sum"}) {
		t.Errorf("redundant: %v", got)
	}
	if e := r.ExplainColumn(at("c_sum")); !e.Exact || e.R2 != 1 {
		t.Errorf("the sum: %+v", e)
	}
}

// TestNearest: the correlations are those of the rows, by size and then by name.
func TestNearest(t *testing.T) {
	tab := factors(5, 150, []int{4}, 0.3, 3).with("zz", func(row map[string]float64) float64 { return -row["z01"] })
	m, x := tab.matrix(1), tab.centred()
	for j := range m.D {
		near := m.NearestColumns(j, m.D+1)
		if len(near) != m.D-1 {
			t.Fatalf("%d of all others", len(near))
		}
		for k, n := range near {
			cosine := mat.Dot(x.ColView(j), x.ColView(n.Column)) / (mat.Norm(x.ColView(j), 2) * mat.Norm(x.ColView(n.Column), 2))
			if math.Abs(cosine-n.Correlation) > 1e-13 {
				t.Errorf("%s: %s has %v, want %v", m.Names[j], m.Names[n.Column], n.Correlation, cosine)
			}
			if k > 0 && math.Abs(n.Correlation) > math.Abs(near[k-1].Correlation) {
				t.Errorf("%s: %v is out of order", m.Names[j], near)
			}
		}
	}
	if n := m.NearestColumns(m.find(t, "z01"), 1)[0]; m.Names[n.Column] != "zz" || n.Correlation > -1+1e-12 {
		t.Errorf("nearest to z01: %+v", n)
	}
}
