package align

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// makeSensors makes n rows of factors that three to five columns repeat each, and columns of noise, all centred; a is larger
// for the first factors, and 0 of the noise.
func makeSensors(seed uint64, n, factors, noise int) (x [][]float64, a []float64, group []int) {
	r := rand.New(rand.NewPCG(seed, 5))
	column := func(of []float64, share float64, g int, weight float64) {
		c, mean := make([]float64, n), 0.0
		for i := range c {
			c[i] = math.Sqrt(1-share) * r.NormFloat64()
			if of != nil {
				c[i] += math.Sqrt(share) * of[i]
			}
			mean += c[i] / float64(n)
		}
		for i := range c {
			c[i] -= mean
		}
		x, a, group = append(x, c), append(a, weight), append(group, g)
	}
	for f := range factors {
		own := make([]float64, n)
		for i := range own {
			own[i] = r.NormFloat64()
		}
		for range 3 + r.IntN(3) {
			column(own, 0.9, f, float64(n)*(0.2+0.8/float64(1+f)+0.01*r.Float64()))
		}
	}
	for range noise {
		column(nil, 0, -1, 0)
	}
	return x, a, group
}

func innerProduct(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func problemOf(x [][]float64, a []float64) Problem {
	p := Problem{A: a, Norm: 1}
	for _, c := range x {
		p.Squares = append(p.Squares, innerProduct(c, c))
	}
	p.Column = func(j int) []float64 {
		out := make([]float64, len(x))
		for i, c := range x {
			out[i] = innerProduct(c, x[j])
		}
		return out
	}
	return p
}

// naiveChoice makes the choice by its definition: every turn finds what each column keeps by projecting it on those chosen.
func naiveChoice(x [][]float64, a []float64, k int, floor float64, keep, forbid []int) (order []int) {
	d := len(x)
	for len(order) < k {
		if len(order) < len(keep) {
			order = append(order, keep[len(order)])
			continue
		}
		var basis [][]float64
		for _, j := range order {
			basis = appendDirection(basis, x[j])
		}
		best, bestTier, bestGain := -1, 0, 0.0
		for i := range d {
			if slices.Contains(order, i) || slices.Contains(forbid, i) {
				continue
			}
			tier := 0
			if rest := residualOf(basis, x[i]); a[i] == 0 {
				tier = 2
			} else if innerProduct(rest, rest) <= floor*innerProduct(x[i], x[i]) {
				tier = 1
			}
			n, d2 := 0.0, 0.0
			for _, p := range append(slices.Clone(order), i) {
				n += a[p]
				for _, q := range append(slices.Clone(order), i) {
					d2 += innerProduct(x[p], x[q]) * innerProduct(x[p], x[q])
				}
			}
			if gain := math.Log(n) - defaultPower/2*math.Log(d2); best < 0 || tier < bestTier || tier == bestTier && gain > bestGain {
				best, bestTier, bestGain = i, tier, gain
			}
		}
		order = append(order, best)
	}
	return order
}

func residualOf(basis [][]float64, c []float64) []float64 {
	rest := slices.Clone(c)
	for range 2 {
		for _, q := range basis {
			v := innerProduct(q, rest)
			for i := range rest {
				rest[i] -= v * q[i]
			}
		}
	}
	return rest
}

func appendDirection(basis [][]float64, c []float64) [][]float64 {
	rest := residualOf(basis, c)
	length := math.Sqrt(innerProduct(rest, rest))
	for i := range rest {
		rest[i] /= length
	}
	return append(basis, rest)
}

// TestFloorIsItsDefinition: with kept and forbidden features too.
func TestFloorIsItsDefinition(t *testing.T) {
	for seed := range uint64(4) {
		x, a, _ := makeSensors(seed, 60, 5, 6)
		for _, floor := range []float64{0.1, 0.3, 0.6} {
			for _, opt := range []Options{{}, {Keep: []int{3, 4}}, {Forbid: []int{0, 7}}} {
				opt.K, opt.Floor = len(x)-2, floor
				got := must.Get(Choose(t.Context(), problemOf(x, a), opt))(t)
				if want := naiveChoice(x, a, opt.K, floor, opt.Keep, opt.Forbid); !slices.Equal(got.Order, want) {
					t.Errorf("seed %d, floor %v, keep %v, forbid %v:\ngot  %v\nwant %v", seed, floor, opt.Keep, opt.Forbid, got.Order, want)
				}
			}
		}
	}
}

// TestFloorFindsEveryFactor: the first choices have one column of each, which they have not without the floor.
func TestFloorFindsEveryFactor(t *testing.T) {
	x, a, group := makeSensors(3, 400, 9, 10)
	found := func(floor float64) int {
		r := must.Get(Choose(t.Context(), problemOf(x, a), Options{K: 9, Floor: floor}))(t)
		factors := make(map[int]bool)
		for _, j := range r.Order {
			factors[group[j]] = true
		}
		return len(factors)
	}
	if got := found(0.3); got != 9 {
		t.Errorf("%d of 9 factors", got)
	}
	if got := found(0); got == 9 {
		t.Error("all factors without the floor: the test shows nothing")
	}
}

// TestNoFloorIsTheSameChoice: a floor that no feature falls below changes nothing.
func TestNoFloorIsTheSameChoice(t *testing.T) {
	x, a, _ := makeSensors(5, 50, 6, 0)
	want := must.Get(Choose(t.Context(), problemOf(x, a), Options{K: 20}))(t)
	got := must.Get(Choose(t.Context(), problemOf(x, a), Options{K: 20, Floor: math.SmallestNonzeroFloat64}))(t)
	if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Alignment, want.Alignment) {
		t.Errorf("got %v %v, want %v %v", got.Order, got.Alignment, want.Order, want.Alignment)
	}
}

// TestFloorOfMultiples: multiples come last all the same, columns of other sizes change nothing, and threads neither.
func TestFloorOfMultiples(t *testing.T) {
	x, a, _ := makeSensors(7, 50, 6, 3)
	d := len(x)
	for _, c := range slices.Clone(x[:4]) {
		double := make([]float64, len(c))
		for i, v := range c {
			double[i] = 2 * v
		}
		x, a = append(x, double), append(a, 0)
	}
	for j := range 4 { // the larger one of each pair is the better by its a
		a[d+j] = 4 * a[j]
	}
	want := must.Get(Choose(t.Context(), problemOf(x, a), Options{K: d + 4, Floor: 0.3, Threads: 1}))(t)
	for _, j := range want.Order[d:] {
		if j >= 4 && j < d {
			t.Errorf("feature %d, which has no multiple, is among the last: %v", j, want.Order)
		}
	}
	if got := must.Get(Choose(t.Context(), problemOf(x, a), Options{K: d + 4, Floor: 0.3, Threads: 4}))(t); !slices.Equal(got.Order, want.Order) || got.Copies != 4 {
		t.Errorf("4 threads: %v with %d copies, want %v", got.Order, got.Copies, want.Order)
	}
}

func TestRefusedFloor(t *testing.T) {
	x, a, _ := makeSensors(1, 20, 3, 0)
	for _, opt := range []Options{{Floor: -0.1}, {Floor: 1}, {Floor: math.NaN()}, {Power: 2}, {Power: math.NaN()}} {
		if _, err := Choose(t.Context(), problemOf(x, a), opt); err == nil {
			t.Errorf("%+v is taken", opt)
		}
	}
}

// TestLayout: a choice takes the memory of its layout, and no more.
func TestLayout(t *testing.T) {
	const d, k = 30_000, 80
	p := Problem{A: make([]float64, d), Norm: 1, Squares: slices.Repeat([]float64{1}, d)}
	for i := range p.A {
		p.A[i] = float64(i)
	}
	column, last := make([]float64, d), 0
	p.Column = func(j int) []float64 { // of features without correlation
		column[last], column[j], last = 0, 1, j
		return column
	}
	for _, floor := range []float64{0, 0.1} {
		roomtest.CheckLayout(t, fmt.Sprintf("floor %v", floor), ChooseBytes(d, k, floor > 0), func() {
			must.Get(Choose(t.Context(), p, Options{K: k, Floor: floor, Threads: 1}))(t)
		})
	}
}
