package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// kinds are rows of every kind that a store treats differently.
func kinds(seed uint64, n, k, c int) map[string]matrix {
	x, _ := blobs(seed, n, k, c, 1.5)
	r := rand.New(rand.NewPCG(seed, 5))
	from := func(f func(v float64, j int) float64) matrix {
		y := kernel.ColMajor(make([]float64, n*k), n, k, n)
		for j := range k {
			for i := range n {
				y.Data[i+j*n] = f(x.Data[i+j*n], j)
			}
		}
		return y
	}
	few := r.Perm(n)[:min(n, 3*c)]
	repeated := make([]int, n)
	for i := range repeated {
		repeated[i] = few[r.IntN(len(few))]
	}
	return map[string]matrix{
		"doubles":   x,
		"rows":      rowMajor(x),
		"floats":    from(func(v float64, _ int) float64 { return float64(float32(v)) }),
		"integers":  from(func(v float64, _ int) float64 { return math.Round(20 * v) }),
		"ties":      from(func(v float64, _ int) float64 { return math.Round(v / 2) }),
		"repeated":  take(x, repeated),
		"far":       from(func(v float64, _ int) float64 { return 1e6 + v }),
		"very far":  from(func(v float64, _ int) float64 { return math.Round(1e12 + 10*v) }),
		"uneven":    from(func(v float64, j int) float64 { return v * math.Pow(10, float64(j%9-4)) }),
		"tiny":      from(func(v float64, _ int) float64 { return v * 0x1p-350 }),
		"too tiny":  from(func(v float64, _ int) float64 { return v * 0x1p-450 }),
		"huge":      from(func(v float64, _ int) float64 { return v * 0x1p350 }),
		"constants": from(func(v float64, j int) float64 { return v * float64(j%2) }),
	}
}

// TestStoreChangesNothing: bounds, narrow copies and updated sums lead to the same bits as
// passes over all rows, from the same seeds.
func TestStoreChangesNothing(t *testing.T) {
	shapes := []struct{ n, k, c int }{{400, 1, 3}, {700, 9, 1}, {1100, 8, 7}, {500, 33, 40}, {300, 260, 2*maxGroups + 5}, {2, 3, 2}}
	for at, shape := range shapes {
		for name, x := range kinds(uint64(at), shape.n, shape.k, max(shape.c/2, 2)) {
			for _, tolerance := range []float64{0, 1e-3} {
				if tolerance > 0 && name != "doubles" && name != "integers" && name != "far" {
					continue // ending early does not depend on the rows
				}
				opt := Options{Clusters: shape.c, Seed: 7, Threads: 1 + at%3, Tol: tolerance}
				if !isDescentFaster(opt.Clusters, x.Cols) {
					t.Fatalf("%+v is left to passes", shape)
				}
				got := must.Get(KMeans(t.Context(), Matrix(x), opt))(t)
				want := must.Get(plainRestart(t.Context(), kernel.NewTeam(1), x, nil, nil, opt.withDefaults(), 0))(t)
				// An estimated trace is off by the rounding of n + 4k terms as large as the mean.
				if offset := map[string]float64{"far": 1e6, "very far": 1e12}[name]; !same(got, want, (1+offset)*0x1p-52*float64(shape.n+4*shape.k)*8) {
					t.Errorf("%s, %+v, tolerance %v: inertia %v in %d moves, by passes %v in %d", name, shape, tolerance,
						got.Inertia, len(got.Trace)-1, want.Inertia, len(want.Trace)-1)
				}
			}
		}
	}
}

// TestBoundsHold: however centres move, bounds keep no row in a wrong cluster, and labels
// and sums are the same as by a plain search.
func TestBoundsHold(t *testing.T) {
	for name, x := range kinds(21, 500, 12, 6) {
		for _, c := range []int{5, 2 * maxGroups} {
			st := newStore(2, x)
			if st == nil {
				continue
			}
			r := rand.New(rand.NewPCG(1, uint64(c)))
			d := newDescent(st, kernel.NewTeam(2), []*worker{newWorker(st), newWorker(st)}, compact(take(x, r.Perm(500)[:c])), nil)
			kept := 0
			for step := range 12 {
				for i, l := range d.labels {
					if step > 0 && d.bounds.isOwnCenterStillNearest(i, l) {
						kept++
					}
				}
				d.assignRows()
				p := newPass(kernel.NewTeam(1), d.centers, false)
				want := make([]int32, 500)
				must.Do(t, p.Add(want, Matrix(x)))
				if !slices.Equal(d.labels, want) || !slices.Equal(d.sizes, p.Sizes) || !slices.Equal(d.sums, p.sums) {
					t.Fatalf("%s, %d centres, step %d: other clusters than by a pass", name, c, step)
				}
				if got := d.exactInertia(d.centers, d.labels); got != p.Inertia {
					t.Errorf("%s: inertia %v, by a pass %v", name, got, p.Inertia)
				}
				if got, off := d.estimateInertia(); !(math.Abs(got-p.Inertia) <= off) {
					t.Errorf("%s: estimate %v of %v is off by more than %v", name, got, p.Inertia, off)
				}
				for i, l := range want {
					own := math.Sqrt(naiveSquare(row(x, i), row(d.centers, int(l)))) * st.scale
					if bound := float64(d.bounds.own[i] + d.bounds.path[l]); !(own <= bound) {
						t.Fatalf("%s, row %d: %v from its centre, bound %v", name, i, own, bound)
					}
				}
				// Some centres stay, some move a little, one sometimes far.
				next := compact(d.centers)
				moves := make([]float64, c)
				for j := range c {
					share := []float64{0, 1e-3, 1e-2, 1e-9}[r.IntN(4)]
					if j == 0 && step%4 == 3 {
						share = 1
					}
					square := 0.0
					for l := range 12 {
						v := &next.Data[j*12+l]
						to := *v + share*(x.Data[r.IntN(500)*x.RowStride+l*x.ColStride]-*v)
						square += (to - *v) * st.scale * (to - *v) * st.scale
						*v = to
					}
					moves[j] = math.Sqrt(square)
				}
				d.bounds.addMovesToPaths(moves)
				d.centers = next
			}
			if c == 5 && name == "doubles" && kept < 500 {
				t.Errorf("bounds spare %d of %d searches", kept, 11*500)
			}
		}
	}
}

// impatient is cancelled after Err was called a number of times.
type impatient struct {
	context.Context
	left int
}

func (c *impatient) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestStopsBetweenMoves(t *testing.T) {
	x, _ := blobs(24, 500, 3, 4, 0.5)
	if _, err := KMeans(&impatient{t.Context(), 7 + 3}, Matrix(x), Options{Clusters: 8, Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after three passes: %v", err)
	}
	if _, err := KMeans(&impatient{t.Context(), 3}, Matrix(x), Options{Clusters: 8, Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled at the fourth seed: %v", err)
	}
}
