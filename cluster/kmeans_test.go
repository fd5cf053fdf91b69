package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

func mustKMeans(t *testing.T, x matrix, opt Options) *Result {
	t.Helper()
	r, err := KMeans(t.Context(), x, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !fell(r.Trace, x.Rows, x.Cols) {
		t.Errorf("the inertia rises: %v", r.Trace)
	}
	return r
}

func mustRefine(t *testing.T, x matrix, rows int, centers matrix, opt Options) *Result {
	t.Helper()
	r, err := Refine(t.Context(), chunks(x, rows), centers, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !fell(r.Trace, x.Rows, x.Cols) {
		t.Errorf("the inertia rises: %v", r.Trace)
	}
	return r
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
				if d := squaredDistance(row(x, i), c); d < best {
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
		p := NewPass(kernel.NewTeam(1), got.Centers, false)
		found := make([]int32, n)
		if err := p.Add(found, x); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found, labels) {
			t.Errorf("seed %d: labels differ", seed)
		}
	}
}

// TestBits: workers, layout and chunks change nothing, and KMeans is Refine from its seeds.
func TestBits(t *testing.T) {
	x, _ := blobs(3, 1500, 7, 6, 0.7)
	for _, spherical := range []bool{false, true} {
		opt := Options{Clusters: 8, Restarts: 3, Seed: 4, Spherical: spherical, Workers: 1}
		want := mustKMeans(t, x, opt)
		for _, workers := range []int{2, 3, 8} {
			opt.Workers = workers
			if !same(mustKMeans(t, x, opt), want) {
				t.Errorf("spherical %v: other bits from %d workers", spherical, workers)
			}
		}
		if !same(mustKMeans(t, rowMajor(x), opt), want) {
			t.Errorf("spherical %v: other bits from another layout", spherical)
		}
		opt.Restarts = 1
		want = mustKMeans(t, x, opt)
		team := kernel.NewTeam(1)
		var unit *directions
		if spherical {
			unit = newDirections(team, blockRows(team, x.Cols), x.Cols)
		}
		start, err := seeds(team, x, unit, 8, rand.NewPCG(4, 0))
		if err != nil {
			t.Fatal(err)
		}
		r, err := lloyd(t.Context(), team, start, opt.withDefaults(), func(p *Pass) error {
			for chunk := range chunks(x, 77) {
				if err := p.Add(nil, chunk); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !same(r, want) {
			t.Errorf("spherical %v: other bits from chunks", spherical)
		}
		if !spherical { // Refine normalizes its centres once more
			for _, rows := range []int{1, 100, 5000} {
				if !same(mustRefine(t, x, rows, start, opt), want) {
					t.Errorf("other bits from Refine in chunks of %d rows", rows)
				}
			}
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
		if err := NewPass(kernel.NewTeam(1), r.Centers, false).Add(out, x); err != nil {
			t.Fatal(err)
		}
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

func TestFindsBlobs(t *testing.T) {
	x, labels := blobs(7, 2000, 6, 9, 30)
	r := mustKMeans(t, x, Options{Clusters: 9, Restarts: 10})
	s, err := Compare(r.Labels, labels)
	if err != nil {
		t.Fatal(err)
	}
	if s.ACC != 1 {
		t.Errorf("accuracy %v of blobs that are far apart", s.ACC)
	}
	one := mustKMeans(t, x, Options{Clusters: 9})
	if one.Inertia < r.Inertia {
		t.Errorf("one restart has inertia %v, ten have %v", one.Inertia, r.Inertia)
	}
}

func TestEdgeSizes(t *testing.T) {
	x, _ := blobs(8, 40, 3, 2, 1)
	one := mustKMeans(t, x, Options{Clusters: 1})
	for j := range 3 {
		mean := 0.0
		for i := range 40 {
			mean += row(x, i)[j] / 40
		}
		if math.Abs(one.Centers.Data[j]-mean) > 80*0x1p-52 { // two sums of 40 terms about 1
			t.Errorf("centre %v, want the mean %v", one.Centers.Data[j], mean)
		}
	}
	if all := mustKMeans(t, x, Options{Clusters: 40}); all.Inertia != 0 || slices.Max(all.Sizes) != 1 || !all.Converged {
		t.Errorf("as many clusters as rows: inertia %v, sizes %v", all.Inertia, all.Sizes)
	}
	if r := mustKMeans(t, x.Sub(0, 0, 1, 3), Options{Clusters: 1}); r.Inertia != 0 {
		t.Errorf("one row: inertia %v", r.Inertia)
	}
	// Three distinct rows, five clusters.
	few := take(x, []int{0, 1, 2, 0, 1, 2, 0, 0, 0})
	r := mustKMeans(t, few, Options{Clusters: 5, Restarts: 3})
	used := 0
	for _, n := range r.Sizes {
		if n > 0 {
			used++
		}
	}
	if r.Inertia != 0 || used != 3 || !r.Converged {
		t.Errorf("three distinct rows: inertia %v, sizes %v", r.Inertia, r.Sizes)
	}
	constant := kernel.ColMajor([]float64{2, 2, 2, 2, 5, 5, 5, 5}, 4, 2, 4)
	if r := mustKMeans(t, constant, Options{Clusters: 2}); r.Inertia != 0 || r.Sizes[0] != 4 {
		t.Errorf("constant rows: inertia %v, sizes %v", r.Inertia, r.Sizes)
	}
	bounded := mustKMeans(t, x, Options{Clusters: 10, MaxIter: 1})
	if len(bounded.Trace) != 2 || bounded.Converged {
		t.Errorf("one move: %d passes, converged %v", len(bounded.Trace), bounded.Converged)
	}
}

// TestEmptyClustersAreSeededAnew: centres that start where no row is get rows.
func TestEmptyClustersAreSeededAnew(t *testing.T) {
	x, _ := blobs(9, 600, 4, 3, 40)
	lost := kernel.RowMajor(make([]float64, 3*4), 3, 4, 4)
	for i := range lost.Data {
		lost.Data[i] = 1e4 * float64(1+i/4) // the first is nearest to every row
	}
	r := mustRefine(t, x, 100, lost, Options{})
	if slices.Min(r.Sizes) == 0 || !r.Converged {
		t.Errorf("sizes %v", r.Sizes)
	}
	// The two rows farthest from the first centre became the others, and it the mean of the rest.
	p := NewPass(kernel.NewTeam(1), lost, false)
	if err := p.Add(nil, x); err != nil {
		t.Fatal(err)
	}
	next, moved, reseeded, err := p.next()
	if err != nil || !moved || reseeded != 2 {
		t.Fatalf("moved %v, %d seeded anew, %v", moved, reseeded, err)
	}
	order := sequence(600)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(squaredDistance(row(x, b), row(lost, 0)), squaredDistance(row(x, a), row(lost, 0)))
	})
	for j := 1; j < 3; j++ {
		if !slices.Equal(row(next, j), row(x, order[j-1])) {
			t.Errorf("centre %d is %v, want row %v", j, row(next, j), row(x, order[j-1]))
		}
	}
	for l := range 4 {
		mean := 0.0
		for _, i := range order[2:] {
			mean += row(x, i)[l] / 598
		}
		if math.Abs(next.Data[l]-mean) > 1200*100*0x1p-52 { // two sums of 600 terms below 100
			t.Errorf("centre 0 is %v, want the mean %v of the rest", next.Data[l], mean)
		}
	}
	// More than can be seeded anew after one pass.
	many := kernel.RowMajor(make([]float64, 40*4), 40, 4, 4)
	for i := range many.Data {
		many.Data[i] = 1e4
	}
	if r := mustRefine(t, x, 100, many, Options{}); slices.Min(r.Sizes) == 0 {
		t.Errorf("sizes %v", r.Sizes)
	}
}

// TestSeedsHaveTheirDistribution: which of five points is left out of four centres, against
// the probabilities of k-means++ by enumeration. Two draws are made in one batch.
func TestSeedsHaveTheirDistribution(t *testing.T) {
	points := []float64{0, 1, 1.5, 4, 6}
	x := kernel.ColMajor(points, 5, 1, 5)
	want := make([]float64, 5)
	var enumerate func(chosen []int, p float64)
	enumerate = func(chosen []int, p float64) {
		if len(chosen) == 4 {
			want[10-chosen[0]-chosen[1]-chosen[2]-chosen[3]] += p
			return
		}
		square, total := make([]float64, 5), 0.0
		for i := range points {
			square[i] = 1
			if len(chosen) > 0 {
				square[i] = math.Inf(1)
			}
			for _, j := range chosen {
				square[i] = min(square[i], (points[i]-points[j])*(points[i]-points[j]))
			}
			total += square[i]
		}
		for i, s := range square {
			if s > 0 {
				enumerate(append(slices.Clone(chosen), i), p*s/total)
			}
		}
	}
	enumerate(nil, 1)
	const draws = 20000
	got := make([]float64, 5)
	team := kernel.NewTeam(1)
	for seed := range uint64(draws) {
		c, err := seeds(team, x, nil, 4, rand.NewPCG(seed, 0))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range points {
			if !slices.Contains(c.Data, v) {
				got[i]++
			}
		}
	}
	for i, p := range want {
		if sigma := math.Sqrt(p * (1 - p) / draws); math.Abs(got[i]/draws-p) > 5*sigma {
			t.Errorf("point %d is left out with probability %v, want %v ± %v", i, got[i]/draws, p, sigma)
		}
	}
}

func TestSpherical(t *testing.T) {
	x, _ := blobs(10, 400, 5, 4, 3)
	opt := Options{Clusters: 4, Restarts: 3, Spherical: true}
	want := mustKMeans(t, x, opt)
	r := rand.New(rand.NewPCG(10, 2))
	y := rowMajor(x)
	for i := range 400 {
		scale := math.Ldexp(1, r.IntN(600)-300)
		for j := range 5 {
			y.Data[i*y.RowStride+j] *= scale
		}
	}
	if !same(mustKMeans(t, y, opt), want) {
		t.Error("the lengths of rows matter")
	}
	// The inertia is 2·Σ(1 − cosine), and every centre a direction; 5 products a row.
	inertia := 0.0
	for i, l := range want.Labels {
		c := row(want.Centers, int(l))
		if math.Abs(length(c)-1) > 8*0x1p-52 {
			t.Fatalf("centre of length %v", length(c))
		}
		inertia += 2 * (1 - kernel.Dot(row(x, i), c)/length(row(x, i)))
	}
	if math.Abs(inertia-want.Inertia) > 400*16*0x1p-52 {
		t.Errorf("inertia %v, want %v", want.Inertia, inertia)
	}
	zeros := kernel.ColMajor([]float64{0, 1, 2, 0, 0, 0, 0, 0, 3, 0}, 5, 2, 5)
	got := mustKMeans(t, zeros, Options{Clusters: 2, Spherical: true})
	if got.Inertia != 2 || got.Labels[0] != 0 || got.Labels[4] != 0 || got.Labels[1] != got.Labels[2] || got.Labels[1] == got.Labels[3] {
		t.Errorf("two rows of zeros: inertia %v, labels %v", got.Inertia, got.Labels)
	}
	if _, err := KMeans(t.Context(), kernel.ColMajor(make([]float64, 6), 3, 2, 3), opt.with(2)); !errors.Is(err, ErrNoDirection) {
		t.Errorf("zeros only: %v", err)
	}
}

func (o Options) with(clusters int) Options {
	o.Clusters = clusters
	return o
}

func TestBadInput(t *testing.T) {
	x, _ := blobs(11, 9000, 3, 2, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x.Data[7003+2*9000] = bad
		for _, spherical := range []bool{false, true} {
			opt := Options{Clusters: 2, Spherical: spherical}
			_, err := KMeans(t.Context(), x, opt)
			_, streamed := Refine(t.Context(), chunks(x, 1000), take(x, []int{0, 1}), opt)
			for _, err := range []error{err, streamed} {
				if !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "row 7004, column 3") {
					t.Errorf("%v in row 7004, column 3: %v", bad, err)
				}
			}
		}
	}
	x.Data[7003+2*9000] = 1e200
	if _, err := KMeans(t.Context(), x, Options{Clusters: 2}); !errors.Is(err, ErrOverflow) {
		t.Errorf("1e200: %v", err)
	}
	if _, err := Refine(t.Context(), chunks(x, 1000), take(x, []int{0, 1}), Options{}); !errors.Is(err, ErrOverflow) {
		t.Errorf("1e200, streamed: %v", err)
	}
}

func TestUsageErrors(t *testing.T) {
	x, _ := blobs(12, 10, 2, 2, 1)
	var usage *stream.UsageError
	_, err := KMeans(t.Context(), x, Options{Clusters: 11, Restarts: -1, MaxIter: -2, Tolerance: math.NaN(), Workers: -3})
	if !errors.As(err, &usage) {
		t.Fatalf("error %v, want one of usage", err)
	}
	for _, fault := range []string{"clusters = 11", "restarts = -1", "iterations = -2", "tolerance = NaN", "workers = -3"} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("%q does not name %q", err, fault)
		}
	}
	for _, opt := range []Options{{}, {Clusters: -1}} {
		if _, err := KMeans(t.Context(), x, opt); !errors.As(err, &usage) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	if _, err := KMeans(t.Context(), matrix{}, Options{Clusters: 1}); !errors.As(err, &usage) {
		t.Errorf("no rows: %v", err)
	}
	for _, opt := range []Options{{Clusters: 3}, {Workers: -1}} {
		if _, err := Refine(t.Context(), chunks(x, 5), take(x, []int{0, 1}), opt); !errors.As(err, &usage) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	if _, err := Refine(t.Context(), chunks(x, 5), matrix{}, Options{}); !errors.As(err, &usage) {
		t.Errorf("no centres: %v", err)
	}
}

func TestStops(t *testing.T) {
	x, _ := blobs(13, 100, 2, 2, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := KMeans(ctx, x, Options{Clusters: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := fmt.Errorf("the disk is gone")
	rows := func(yield func(matrix, error) bool) {
		_ = yield(x, nil) && yield(matrix{}, broken)
	}
	if _, err := Refine(t.Context(), rows, take(x, []int{0, 1}), Options{}); !errors.Is(err, broken) {
		t.Errorf("broken source: %v", err)
	}
}
