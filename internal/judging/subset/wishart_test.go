package subset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

func topEigenvalue(g []float64, d int) float64 {
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(d, g), false)
	return e.Values(nil)[d-1]
}

// TestPermutedTwin: draws have the lengths to rounding, squared cosines of mean 1/dims, and
// largest eigenvalues like data whose columns are really permuted, with fewer and more
// columns than dimensions; the edge of noise is near these.
func TestPermutedTwin(t *testing.T) {
	const copies = 60
	team := kernel.NewTeam(2)
	for _, s := range []set{{"groups", 200, 60, 3, 0.4, 1}, {"mixtures", 40, 90, 4, 0.3, 2}} {
		x := s.data()
		x.Apply(func(_, j int, v float64) float64 { return v * (1 + float64(j%3)) }, x)
		g := gramOf(x)
		squares, keys := make([]float64, s.d), make([]uint64, s.d)
		for i := range squares {
			squares[i], keys[i] = g[i*s.d+i], uint64(i)
		}
		random := rand.New(rand.NewPCG(5, 5))
		var drawn, shuffles, cosines []float64
		for range copies {
			p := drawPermutedGram(team, squares, keys, s.n-1, random)
			for i := range s.d {
				if math.Abs(p[i*s.d+i]-squares[i]) > 1e-12*squares[i] {
					t.Fatalf("column %d has the square %v, want %v", i, p[i*s.d+i], squares[i])
				}
				for j := range i {
					if p[i*s.d+j] != p[j*s.d+i] {
						t.Fatal("not symmetric")
					}
					cosines = append(cosines, p[i*s.d+j]*p[i*s.d+j]/squares[i]/squares[j])
				}
			}
			drawn, shuffles = append(drawn, topEigenvalue(p, s.d)), append(shuffles, topEigenvalue(gramOf(shuffled(x, random)), s.d))
		}
		mean, deviation := meanAndDeviation(cosines)
		// Pairs are independent of each other two by two.
		if want := 1 / float64(s.n-1); math.Abs(mean-want) > 4*deviation/math.Sqrt(float64(len(cosines))) {
			t.Errorf("%+v: squared cosines of mean %v, want %v", s, mean, want)
		}
		a, sa := meanAndDeviation(drawn)
		b, sb := meanAndDeviation(shuffles)
		if math.Abs(a-b) > 4*math.Hypot(sa, sb)/math.Sqrt(copies) {
			t.Errorf("%+v: the largest eigenvalue is %v ± %v, of really permuted columns %v ± %v", s, a, sa, b, sb)
		}
		// The edge is for infinitely many columns; the law of Tracy and Widom lies below it by some d^(−2/3) of
		// it on average, or dims^(−2/3) if there are fewer dimensions.
		if e := noiseEdge(squares, float64(s.n-1)); b < e*(1-3*math.Pow(float64(min(s.d, s.n)), -2.0/3)) || b > e {
			t.Errorf("%+v: the edge of noise is %v, the largest eigenvalue %v", s, e, b)
		}
	}
}

// TestPermutedMoves: permuting the columns permutes the draw.
func TestPermutedMoves(t *testing.T) {
	const d = 300 // across two blocks
	random := rand.New(rand.NewPCG(1, 2))
	squares, keys := make([]float64, d), make([]uint64, d)
	for i := range squares {
		squares[i], keys[i] = float64(1+random.IntN(4)), random.Uint64()
	}
	perm := random.Perm(d)
	moved, movedKeys := make([]float64, d), make([]uint64, d)
	for to, from := range perm {
		moved[to], movedKeys[to] = squares[from], keys[from]
	}
	draw := func(s []float64, k []uint64, threads int) []float64 {
		return drawPermutedGram(kernel.NewTeam(threads), s, k, 500, rand.New(rand.NewPCG(9, 9)))
	}
	a, b := draw(squares, keys, 1), draw(moved, movedKeys, 8)
	for i := range d {
		for j := range d {
			if b[i*d+j] != a[perm[i]*d+perm[j]] {
				t.Fatalf("entry %d, %d moved to other bits", i, j)
			}
		}
	}
}

// TestEdgeEqual: of equal variances the edge is that of Marchenko and Pastur.
func TestEdgeEqual(t *testing.T) {
	for _, c := range []struct {
		d    int
		dims float64
	}{{1, 10}, {100, 100}, {50, 2000}, {3000, 60}} {
		root := 1 + math.Sqrt(float64(c.d)/c.dims)
		if got, want := noiseEdge(slices.Repeat([]float64{3}, c.d), c.dims), 3*root*root; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
	if got := noiseEdge([]float64{0, 0}, 5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// TestChiSquared: mean ν and variance 2ν, to four standard errors.
func TestChiSquared(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, degrees := range []float64{1, 2, 7, 400} {
		const n = 20000
		x := make([]float64, n)
		for i := range x {
			x[i] = drawChiSquared(random, degrees)
		}
		mean, deviation := meanAndDeviation(x)
		if math.Abs(mean-degrees) > 4*math.Sqrt(2*degrees/n) {
			t.Errorf("%v degrees: mean %v", degrees, mean)
		}
		// The fourth central moment of χ² is 12ν(ν+4).
		if v := deviation * deviation; math.Abs(v-2*degrees) > 4*math.Sqrt((12*degrees*(degrees+4)-4*degrees*degrees)/n) {
			t.Errorf("%v degrees: variance %v", degrees, v)
		}
	}
}
