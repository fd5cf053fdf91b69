package elbow

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naiveElbow takes the geometric distance to the chord in the unit square.
func naiveElbow(x, y []float64) int {
	n := len(x)
	if n < 3 {
		return -1
	}
	best, far := -1, 1e-9
	for i := range x {
		u, v := (x[i]-x[0])/(x[n-1]-x[0]), (y[i]-y[n-1])/(y[0]-y[n-1])
		if d := (1 - u - v) / math.Sqrt2; d > far {
			best, far = i, d
		}
	}
	return best
}

// TestElbow: the point furthest below the chord; scaling either axis, shifting it, or
// turning the curve upside down moves nothing.
func TestElbow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + r.IntN(30)
		x, y := make([]float64, n), make([]float64, n)
		at, level := 0.0, 100.0
		for i := range x {
			x[i], y[i] = at, level
			at += 0.5 + r.Float64()
			level -= 0.1 + r.ExpFloat64()*10/float64(i+1)
		}
		want := naiveElbow(x, y)
		if got := FindElbow(x, y); got != want {
			t.Fatalf("%v %v: %d, want %d", x, y, got, want)
		}
		u, v, w := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			u[i], v[i], w[i] = 8*x[i]+3, 0.25*y[i]-7, -y[i]
		}
		if FindElbow(u, v) != want || FindElbow(x, w) != want {
			t.Fatalf("%v %v: not the same when scaled, or upside down", x, y)
		}
	}
	nan := math.NaN()
	for _, c := range []struct {
		x, y []float64
		want int
	}{
		{[]float64{0, 1, 2, 3, 4}, []float64{10, 2, 1, .5, 0}, 1},         // a corner
		{[]float64{0, 1, 2, 3}, []float64{3, 2, 1, 0}, -1},                // a straight line
		{[]float64{0, 1, 2, 3}, []float64{3, 3, 3, 3}, -1},                // flat
		{[]float64{0, 1, 2, 3}, []float64{3, 2.9, 2.5, 0}, -1},            // above its chord
		{[]float64{0, 1}, []float64{1, 0}, -1},                            // no point between
		{[]float64{0, 1, 2}, []float64{nan, 1, 0}, -1},                    //
		{[]float64{0, 1, 2, 3}, []float64{1, nan, 0.1, 0}, 2},             // a gap
		{[]float64{0, 1, 2, 3, 4}, []float64{1, 0.5, 0.25, 0.25, 0.2}, 2}, //
	} {
		if got := FindElbow(c.x, c.y); got != c.want {
			t.Errorf("%v %v: %d, want %d", c.x, c.y, got, c.want)
		}
	}
	// The paper's own example: y = −1/(x + 0.1) + 5 has its knee at 0.22 on [0, 1].
	var x, y []float64
	for i := range 1001 {
		x = append(x, float64(i)/1000)
		y = append(y, 5-1/(x[i]+0.1))
	}
	// By calculus: in the unit square the chord has slope 1, and y' = 1/(x+0.1)² equals
	// y(1) − y(0) = 10 − 1/1.1 where x = sqrt(0.11) − 0.1 = 0.2317.
	if got := x[FindElbow(x, y)]; math.Abs(got-0.2317) > 0.001 {
		t.Errorf("knee at %v, want 0.2317", got)
	}
}
