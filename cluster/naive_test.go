package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func naiveSquare(x, y []float64) (sum float64) {
	for l, v := range x {
		sum += (v - y[l]) * (v - y[l])
	}
	return sum
}

// naive is Lloyd's iteration in plain loops, until nothing changes; no cluster may
// become empty.
func naive(x matrix, centers [][]float64) (labels []int32, inertia float64) {
	labels = make([]int32, x.Rows)
	for {
		inertia = 0
		changed := false
		for i := range labels {
			best, at := math.Inf(1), 0
			for j, c := range centers {
				if d := naiveSquare(row(x, i), c); d < best {
					best, at = d, j
				}
			}
			changed = changed || labels[i] != int32(at)
			labels[i] = int32(at)
			inertia += best
		}
		if !changed {
			return labels, inertia
		}
		for j := range centers {
			sum, n := make([]float64, x.Cols), 0.0
			for i, l := range labels {
				if int(l) == j {
					kernel.Axpy(1, row(x, i), sum)
					n++
				}
			}
			for l := range sum {
				centers[j][l] = sum[l] / n
			}
		}
	}
}

func TestRefineIsTheNaiveIteration(t *testing.T) {
	for seed := range uint64(12) {
		n, k, c := 300+int(seed), 1+int(seed)%9, 2+int(seed)%7
		x, _ := blobs(seed, n, k, c, 1)
		start := take(x, sequence(c))
		var plain [][]float64
		for j := range c {
			plain = append(plain, row(start, j))
		}
		labels, inertia := naive(x, plain)
		got := mustRefine(t, x, 64, start, Options{})
		if !got.Converged {
			t.Errorf("seed %d: did not converge", seed)
		}
		// Centres differ by the rounding of sums of n terms about 1, which changes an
		// inertia about its least value by the square of that; n·k terms are added up.
		if tol := float64(n*k) * 0x1p-52 * inertia; !(math.Abs(got.Inertia-inertia) <= tol) {
			t.Errorf("seed %d: inertia %v, want %v", seed, got.Inertia, inertia)
		}
		p := NewPass(1, got.Centers, false)
		found := make([]int32, n)
		must.Do(t, p.Add(found, Matrix(x)))
		if !slices.Equal(found, labels) {
			t.Errorf("seed %d: labels differ", seed)
		}
	}
}

// TestPermutation: the rows' order does not matter, given the same start and no ties.
func TestPermutation(t *testing.T) {
	x, _ := blobs(5, 800, 4, 5, 2)
	order := rand.New(rand.NewPCG(1, 9)).Perm(800)
	start := take(x, sequence(5))
	a := mustRefine(t, x, 100, start, Options{})
	b := mustRefine(t, take(x, order), 100, start, Options{})
	if !slices.Equal(a.Sizes, b.Sizes) || len(a.Trace) != len(b.Trace) {
		t.Errorf("sizes %v in %d passes, permuted %v in %d", a.Sizes, len(a.Trace), b.Sizes, len(b.Trace))
	}
	labels := func(x matrix, r *Result) []int32 {
		out := make([]int32, x.Rows)
		must.Do(t, NewPass(1, r.Centers, false).Add(out, Matrix(x)))
		return out
	}
	la, lb := labels(x, a), labels(take(x, order), b)
	for to, i := range order {
		if la[i] != lb[to] {
			t.Fatalf("row %d is in cluster %d, permuted in %d", i, la[i], lb[to])
		}
	}
}

// TestScaling: powers of two scale distances exactly, so nothing else changes.
func TestScaling(t *testing.T) {
	x, _ := blobs(6, 500, 5, 4, 1)
	opt := Options{Clusters: 4, Restarts: 3, Seed: 2}
	want := mustKMeans(t, x, opt)
	for _, scale := range []float64{0x1p-300, 0x1p-20, 0x1p30, 0x1p300} {
		y := rowMajor(x)
		for i := range y.Data {
			y.Data[i] *= scale
		}
		got := mustKMeans(t, y, opt)
		if !slices.Equal(got.Labels, want.Labels) || got.Inertia != want.Inertia*scale*scale {
			t.Errorf("scale %v: inertia %v, want %v", scale, got.Inertia, want.Inertia*scale*scale)
		}
	}
}
