package gram

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
)

// drawn is the histogram of n numbers.
func drawn(t *testing.T, n int, draw func() float64) *Histograms {
	col := make([]float64, n)
	for i := range col {
		col[i] = draw()
	}
	return histogramsOf(t, tabletest.Table{Cols: [][]float64{col}}, 1, n)
}

// A table has not moved from itself, and from one table to another is as far as back. Weights
// that are all multiplied by one number move nothing.
func TestPSISymmetry(t *testing.T) {
	a, b := histogramsOf(t, spreads(1, 400), 1, 400), histogramsOf(t, spreads(2, 900), 1, 900)
	for j := range a.columns {
		if own := a.PSI(j, a, j); own.Value != 0 {
			t.Errorf("column %d has moved by %g from itself", j, own.Value)
		}
		to, back := a.PSI(j, b, j), b.PSI(j, a, j)
		if math.Abs(to.Value-back.Value) > 1e-12 || to.Groups != back.Groups || !(to.Value >= 0) || to.Groups < 1 {
			t.Errorf("column %d: %+v there, %+v back", j, to, back)
		}
		third := histogramsOf(t, spreads(2, 900), 1, 900)
		must.Do(t, third.Discount(0.3))
		if less := a.PSI(j, third, j); math.Abs(less.Value-to.Value) > 1e-12 {
			t.Errorf("column %d: %g, and %g with other weights", j, to.Value, less.Value)
		}
	}
	if none := a.PSI(0, NewHistograms(1, 1), 0); !math.IsNaN(none.Value) {
		t.Errorf("%g from a table without rows", none.Value)
	}
}

// The index of a normal distribution against a shifted or widened one equals the theoretical index of its groups,
// which is never more than the divergence of the two distributions: δ² for a shift by δ deviations, and r/2 + 1/(2r)
// − 1 for r times the variance. Groups of a tenth keep four fifths of a shift and seven tenths of a wider spread if
// bins are fine enough to make them; about 0, where bins are octaves, two thirds and two fifths.
func TestPSIOfNormals(t *testing.T) {
	const n, m = 200_000, 100_000
	for _, c := range []struct{ mean, shift, ratio, keeps float64 }{
		{1000, 0, 1, 1}, {1000, 0.1, 1, 0.8}, {1000, 0.5, 1, 0.8}, {-1000, 1, 1, 0.8}, {1000, 0, 2, 0.7},
		{0, 0, 1, 1}, {0, 0.1, 1, 0.66}, {0, 0.5, 1, 0.66}, {0, 0, 2, 0.4},
	} {
		r := rand.New(rand.NewPCG(8, 8))
		a := drawn(t, n, func() float64 { return c.mean + r.NormFloat64() })
		b := drawn(t, m, func() float64 { return c.mean + c.shift + math.Sqrt(c.ratio)*r.NormFloat64() })
		x, y := a.columns[0].coarsenedCopy(b.columns[0].shift), b.columns[0].coarsenedCopy(a.columns[0].shift)
		below := func(x, mean, sd float64) float64 { return (1 + math.Erf((x-mean)/sd/math.Sqrt2)) / 2 }
		all := groupBins(&x, &y)
		var theory, variance, p0, q0 float64
		for i, g := range all {
			p1, q1 := 1.0, 1.0
			if i < len(all)-1 {
				edge := valueOf((g.last + 1) << x.shift)
				p1, q1 = below(edge, c.mean, 1), below(edge, c.mean+c.shift, math.Sqrt(c.ratio))
			}
			p, q := p1-p0, q1-q0
			p0, q0 = p1, q1
			theory += (p - q) * math.Log(p/q)
			// A share p is off by a variance of p/n at most, and a group's term changes with
			// it by ln(p/q) + 1 − q/p.
			dp, dq := math.Log(p/q)+1-q/p, math.Log(q/p)+1-p/q
			variance += dp*dp*p/n + dq*dq*q/m
		}
		got := a.PSI(0, b, 0)
		// Five deviations, and five times the mean index of equal distributions, about which the slope is 0.
		tol := 5*math.Sqrt(variance) + 5*float64(len(all))*(1.0/n+1.0/m)
		if got.Groups != len(all) || math.Abs(got.Value-theory) > tol {
			t.Errorf("%+v: index %g in %d groups, theory %g ± %g in %d", c, got.Value, got.Groups, theory, tol, len(all))
		}
		if whole := c.shift*c.shift + c.ratio/2 + 1/c.ratio/2 - 1; c.ratio == 1 || c.shift == 0 {
			if theory > whole*(1+1e-12)+1e-15 || theory < c.keeps*whole {
				t.Errorf("%+v: the groups' index %g, want %g to 1 of the distributions' %g", c, theory, c.keeps, whole)
			}
		}
	}
}

// valueOf is the inverse of orderedBits.
func valueOf(key uint64) float64 {
	if key>>63 == 1 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}

// Values that the first table has none of are seen, and so are missing entries: half of the
// rows leave a bin that had all.
func TestPSISeesWhatIsNew(t *testing.T) {
	ones := func() float64 { return 1 }
	for name, other := range map[string]float64{"another value": 2, "zero": 0, "missing": math.NaN(), "below": -3} {
		i := 0
		a, b := drawn(t, 100, ones), drawn(t, 100, func() float64 { i++; return []float64{1, other}[i%2] })
		want := 0.5*math.Log(2) + (0.5-emptyGroupShare)*math.Log(0.5/emptyGroupShare) // shares 1 and 1/2, then none and 1/2
		if got := a.PSI(0, b, 0); math.Abs(got.Value-want) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, got.Value, want)
		}
	}
}
