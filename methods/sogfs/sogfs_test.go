package sogfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// clusteredRows are n rows of d features about c centres, row i about centre i%c, whose noise grows with the feature.
func clusteredRows(n, d, c int, noise float64, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	centre := rowstest.ZeroRows(c, d)
	for _, row := range centre {
		for j := range row {
			row[j] = rng.NormFloat64()
		}
	}
	x := rowstest.ZeroRows(n, d)
	for i := range x {
		for j := range x[i] {
			x[i][j] = centre[i%c][j] + noise*rng.NormFloat64()*(1+0.3*float64(j%5))
		}
	}
	return x
}

func rank(t *testing.T, x [][]float64, opt Options) *Result {
	t.Helper()
	return must.Get(RankFeatures(t.Context(), slices.Concat(x...), len(x), len(x[0]), opt))(t)
}

// naiveSelect is SOGFS by the package comment on dense matrices: all distances, the simplex by bisection, and all
// eigenpairs.
func naiveSelect(x [][]float64, k, c, m int, gamma float64, rounds int) (norms, objective []float64, components int) {
	n, d := len(x), len(x[0])
	x = rowstest.CentreColumns(x)
	total := 0.0
	for _, v := range slices.Concat(x...) {
		total += v * v / float64(d)
	}
	data := mat.NewDense(n, d, slices.Concat(x...))
	data.Scale(1/math.Sqrt(total), data)
	distances := func(points mat.Matrix) *mat.Dense {
		_, cols := points.Dims()
		out := mat.NewDense(n, n, nil)
		out.Apply(func(i, j int, _ float64) (sum float64) {
			for f := range cols {
				sum += math.Pow(points.At(i, f)-points.At(j, f), 2)
			}
			return sum
		}, out)
		return out
	}
	sorted := func(dist *mat.Dense, i int) []int {
		others := slices.DeleteFunc(rowstest.Integers(n), func(j int) bool { return j == i })
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(dist.At(i, a), dist.At(i, b)) })
		return others
	}
	smallest := func(a *mat.Dense, count int) (*mat.Dense, []float64) {
		var eig mat.EigenSym
		rows, _ := a.Dims()
		sym := mat.NewSymDense(rows, nil)
		for i := range rows {
			for j := i; j < rows; j++ {
				sym.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
			}
		}
		if !eig.Factorize(sym, true) {
			panic("no eigenpairs")
		}
		var vectors mat.Dense
		eig.VectorsTo(&vectors)
		return mat.DenseCopyOf(vectors.Slice(0, rows, 0, count)), eig.Values(nil)
	}
	s, alpha := mat.NewDense(n, n, nil), 0.0
	dist := distances(data)
	for i := range n {
		others := sorted(dist, i)
		last, sum := dist.At(i, others[min(k, n-2)]), 0.0
		for _, j := range others[:k] {
			sum += last - dist.At(i, j)
		}
		alpha += sum / 2 / float64(n)
		for _, j := range others[:k] {
			s.Set(i, j, (last-dist.At(i, j))/sum)
		}
	}
	lambda, weights := alpha, slices.Repeat([]float64{1}, d)
	var w, f *mat.Dense
	var fixed, cut float64
	update := func() {
		l := mat.NewDense(n, n, nil)
		l.Apply(func(i, j int, _ float64) float64 { return -(s.At(i, j) + s.At(j, i)) / 2 }, l)
		for i := range n {
			l.Set(i, i, l.At(i, i)-mat.Sum(l.RowView(i)))
		}
		var lx, scatter mat.Dense
		lx.Mul(l, data)
		scatter.Mul(data.T(), &lx)
		for range projectionUpdates {
			a := mat.DenseCopyOf(&scatter)
			for j, v := range weights {
				a.Set(j, j, a.At(j, j)+gamma/2*v)
			}
			w, _ = smallest(a, m)
			var mw, wmw mat.Dense
			mw.Mul(&scatter, w)
			wmw.Mul(w.T(), &mw)
			fixed, norms = 2*mat.Trace(&wmw), make([]float64, d)
			for j := range d {
				norms[j] = mat.Norm(w.RowView(j), 2)
				root := math.Sqrt(norms[j]*norms[j] + 1e-8)
				fixed += gamma * root
				weights[j] = 1 / (2 * root)
			}
		}
		for i := range n {
			for j := range n {
				fixed += alpha * s.At(i, j) * s.At(i, j)
			}
			fixed -= alpha / float64(k)
		}
		var values []float64
		f, values = smallest(l, c)
		cut, components = 0, 0
		for i, v := range values {
			if v < 1e-10 {
				components++
			}
			if i < c {
				cut += 2 * max(v, 0)
			}
		}
	}
	update()
	objective = append(objective, fixed+lambda*cut)
	for range rounds {
		if components > c {
			panic("F is not unique")
		}
		var xw mat.Dense
		xw.Mul(data, w)
		df := distances(f)
		df.Scale(lambda, df)
		dist = distances(&xw)
		dist.Add(dist, df)
		s.Zero()
		for i := range n {
			near := sorted(dist, i)[:k]
			low, high := 0.0, dist.At(i, near[k-1])+2*alpha // the level between which and d the entries of 2α·sᵢ lie
			for range 200 {
				level, sum := (low+high)/2, 0.0
				for _, j := range near {
					sum += max(level-dist.At(i, j), 0) / (2 * alpha)
				}
				if sum > 1 {
					high = level
				} else {
					low = level
				}
			}
			for _, j := range near {
				s.Set(i, j, max(low-dist.At(i, j), 0)/(2*alpha))
			}
		}
		update()
		objective = append(objective, fixed+lambda*cut)
		if components < c {
			lambda *= 2
		}
	}
	return norms, objective, components
}

func TestRankFeaturesIsTheDenseForm(t *testing.T) {
	for _, c := range []struct {
		n, d, k, clusters, dimensions int
		gamma, noise                  float64
	}{{40, 9, 5, 3, 2, 0.1, 0.3}, {60, 14, 4, 3, 5, 0.01, 0.6}, {30, 6, 3, 4, 1, 2, 0.5}, {25, 7, 24, 2, 3, 0.05, 0.4}, {45, 12, 5, 1, 4, 0.1, 0.5}} {
		x := clusteredRows(c.n, c.d, c.clusters, c.noise, uint64(c.n))
		for _, rounds := range []int{1, 4} {
			norms, objective, components := naiveSelect(x, c.k, c.clusters, c.dimensions, c.gamma, rounds)
			r := rank(t, x, Options{Gamma: c.gamma, Neighbors: c.k, Clusters: c.clusters, Dimensions: c.dimensions, MaxIter: rounds, Tol: -1})
			if r.Rose != nil || r.Components != components {
				t.Errorf("%+v, %d rounds: got %d components and rise %v, want %d and none", c, rounds, r.Components, r.Rose, components)
			}
			// M is known to 1e-14, and a gap of 1e-4 magnifies that in each update of W.
			if off := rowstest.RelativeDistance(r.Scores, norms); !(off <= 1e-7) {
				t.Errorf("%+v, %d rounds: norms are off by %.2g: got %v, want %v", c, rounds, off, r.Scores, norms)
			}
			if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-8) {
				t.Errorf("%+v, %d rounds: the objective is off by %.2g: got %v, want %v", c, rounds, off, r.Objective, objective)
			}
		}
	}
}

// TestSimplexPointIsBest: no exchange between two entries lowers Σ(d_j s_j + α s_j²).
func TestSimplexPointIsBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for trial := range 200 {
		d := make([]rows.Neighbour, 1+trial%7)
		for j := range d {
			d[j].Square = math.Floor(4*rng.Float64()) + 1e6*float64(trial%2)
		}
		slices.SortFunc(d, func(a, b rows.Neighbour) int { return cmp.Compare(a.Square, b.Square) })
		alpha := math.Pow(10, 4*rng.Float64()-2)
		s, sum := make([]float64, len(d)), 0.0
		writeSimplexPoint(s, d, alpha)
		for i := range s {
			sum += s[i]
			for j := range s {
				// The derivative of the cost along e_j − e_i must not be negative if s_i can fall.
				if slope := d[j].Square - d[i].Square + 2*alpha*(s[j]-s[i]); s[i] > 0 && slope < -1e-12*(d[j].Square+alpha) {
					t.Errorf("d %v, α %v: got %v, want no gain from moving %d to %d: %v", d, alpha, s, i, j, slope)
				}
			}
		}
		if math.Abs(sum-1) > 1e-12 || slices.Min(s) < 0 {
			t.Errorf("d %v, α %v: got %v, want entries of at least 0 with the sum 1, not %v", d, alpha, s, sum)
		}
	}
}

func TestObjectiveFalls(t *testing.T) {
	for seed := range uint64(long.CountCases(1, 3)) {
		for _, shape := range [][2]int{{60, 20}, {30, 70}} {
			for _, noise := range []float64{0.1, 1} {
				x := clusteredRows(shape[0], shape[1], 5, noise, seed)
				for _, opt := range []Options{{}, {Gamma: -1}, {Gamma: 1e3}, {Neighbors: 1}, {Neighbors: 20}, {Clusters: 1}, {Clusters: 20}, {Dimensions: 1}} {
					opt.Clusters, opt.MaxIter, opt.Tol = cmp.Or(opt.Clusters, 4), 12, -1
					if r := rank(t, x, opt); r.Rose != nil {
						t.Errorf("seed %d, shape %v, noise %v, %+v: got a rise %+v, want none", seed, shape, noise, opt, *r.Rose)
					}
				}
			}
		}
	}
}

// TestFindsClusters: the graph of clear clusters gets as many components, and a feature that alone separates them by
// far does not change that.
func TestFindsClusters(t *testing.T) {
	r := rank(t, clusteredRows(80, 12, 4, 0.1, 2), Options{Clusters: 4})
	if r.Components != 4 || !r.Converged {
		t.Errorf("80 rows about 4 centres: got %d components, converged %t, want 4, converged", r.Components, r.Converged)
	}
}

// TestLaws: threads change no bit, permuted columns have permuted scores, and neither a shift nor a factor of the rows
// changes anything but rounding.
func TestLaws(t *testing.T) {
	for _, shape := range [][2]int{{300, 24}, {40, 100}} {
		n, d := shape[0], shape[1]
		x := clusteredRows(n, d, 4, 0.5, 5)
		opt := Options{Clusters: 4, MaxIter: 3, Tol: -1, Threads: 1}
		want := rank(t, x, opt)
		for _, opt.Threads = range []int{2, 8} {
			if got := rank(t, x, opt); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
				t.Errorf("shape %v: got other bits from %d threads than from 1", shape, opt.Threads)
			}
		}
		if d > n {
			continue // the start depends on M's rounding errors, see package udfs
		}
		columns := rand.New(rand.NewPCG(1, 1)).Perm(d)
		turned := rowstest.ZeroRows(n, d)
		for i := range turned {
			for j, f := range columns {
				turned[i][j] = 1000 + 8*x[i][f]
			}
		}
		got := rank(t, turned, opt)
		for j, f := range columns {
			if math.Abs(got.Scores[j]-want.Scores[f]) > 1e-6 {
				t.Errorf("shape %v: feature %d as column %d has norm %v, want %v", shape, f, j, got.Scores[j], want.Scores[f])
			}
		}
	}
}

// TestEdges: few rows, few features, fewer rows than neighbours or clusters, one cluster, as many dimensions as
// features, equal rows, constant and repeated columns.
func TestEdges(t *testing.T) {
	for _, c := range [][4]int{{2, 1, 10, 0}, {3, 30, 2, 0}, {4, 2, 1, 2}, {11, 2, 11, 1}, {5, 5, 3, 5}, {9, 4, 1, 0}} {
		for _, neighbors := range []int{1, 5, 100} {
			r := rank(t, clusteredRows(c[0], c[1], 2, 0.5, 6), Options{Clusters: c[2], Neighbors: neighbors, Dimensions: c[3]})
			if len(r.Order) != c[1] || r.Rose != nil {
				t.Errorf("%d rows, %d features, %d clusters, %d neighbours: got %+v, want all features ranked and no rise", c[0], c[1], c[2], neighbors, r)
			}
			for _, v := range r.Scores {
				if !(v >= 0 && v <= 1+1e-9) {
					t.Errorf("%v: got norm %v, want a number from 0 to 1", c, v)
				}
			}
		}
	}
	x := clusteredRows(60, 8, 3, 0.5, 7)
	for i := range x {
		x[i][5] = x[i][1]
		x[i] = x[i/2*2] // every row twice
	}
	for i := range x {
		x[i] = append(slices.Clone(x[i]), 4) // a constant column, which costs nothing
	}
	if r := rank(t, x, Options{Clusters: 3}); len(r.Order) != 9 || r.Rose != nil {
		t.Errorf("60 rows in pairs, with a constant and a repeated column: got %+v, want 9 ranked features and no rise", r)
	}
	for what, row := range map[string][]float64{"equal rows": {1, 2, 1, 2, 1, 2}, "pairs of equal rows": {1, 2, 1, 2, 5, 6, 5, 6}} {
		if _, err := RankFeatures(t.Context(), row, len(row)/2, 2, Options{Neighbors: 1}); err == nil && what == "equal rows" {
			t.Errorf("%s: got no error, want one", what)
		}
	}
	if _, err := RankFeatures(t.Context(), []float64{1, 2}, 1, 2, Options{}); err == nil {
		t.Error("a single row: got no error, want one")
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e300} {
		if _, err := RankFeatures(t.Context(), []float64{1, v, 3, 4, 5, 6}, 3, 2, Options{}); err == nil {
			t.Errorf("rows with %v: got no error, want one", v)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RankFeatures(ctx, slices.Concat(x...), 60, 9, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want the context's error", err)
	}
	_, err := RankFeatures(t.Context(), []float64{1, 2}, 2, 1, Options{Gamma: math.Inf(1), Tol: math.NaN(), Neighbors: -1, Clusters: -2, Dimensions: -5, MaxIter: -3, Threads: -4})
	rowstest.CheckRefusal(t, err, "gamma = +Inf", "tol = NaN", "neighbors = -1", "clusters = -2", "dimensions = -5", "max-iter = -3", "threads = -4")
}

// TestGoesOnToTheSameBits: a run that was interrupted continues to the same bits, in both forms of the scatter.
func TestGoesOnToTheSameBits(t *testing.T) {
	for _, d := range []int{7, 64} {
		x := slices.Concat(clusteredRows(30, d, 3, 0.7, 3)...)
		resumetest.CheckResume(t, func(at resumetest.Storage) (*Result, error) {
			return RankFeatures(t.Context(), slices.Clone(x), 30, d, Options{Clusters: 3, MaxIter: 4, Tol: 1e-14, Threads: 2, Stages: at.Stages})
		}, func(what string, got, want *Result) {
			if !slices.Equal(got.Objective, want.Objective) || !slices.Equal(got.Scores, want.Scores) || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) {
				t.Errorf("%d features, %s: got objective %v and %v, want %v and %v", d, what, got.Objective, got.Warnings, want.Objective, want.Warnings)
			}
		})
	}
}

// TestLayout: the problem and its scatter take the memory of their layouts.
func TestLayout(t *testing.T) {
	for _, shape := range [][2]int{{900, 200}, {150, 900}} {
		n, d := shape[0], shape[1]
		x := kernel.RowMajor(slices.Concat(clusteredRows(n, d, 3, 0.5, 8)...), n, d, d)
		p := &problem{n: n, d: d, c: 4, k: 5}
		declared := room.Measure(func(l *room.Layout) {
			(&problem{n: n, d: d, c: 4, k: 5}).layOut(l, 6)
			new(scatterMatrix).layOut(l, n, d)
		})
		roomtest.CheckLayout(t, fmt.Sprintf("sogfs, shape %v", shape), declared, func() {
			p.layOut(nil, 6)
			p.scatter.layOut(nil, n, d)
			kernel.Copy(p.points.Sub(0, 0, n, 6), x.Sub(0, 0, n, 6))
		})
	}
}

// TestBytes: a run stays within RankBytes.
func TestBytes(t *testing.T) {
	for _, shape := range [][2]int{{150, 60}, {60, 2000}} {
		x := slices.Concat(clusteredRows(shape[0], shape[1], 4, 0.5, 1)...)
		opt := Options{Clusters: 5, MaxIter: 3, Threads: 2}
		before, most := rowstest.HeapBytes(), int64(0)
		opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
		must.Get(RankFeatures(t.Context(), x, shape[0], shape[1], opt))(t)
		if says := RankBytes(int64(shape[0]), shape[1], opt); most == 0 || most > says {
			t.Errorf("shape %v: %d bytes held, want at most the %d of RankBytes", shape, most, says)
		}
	}
}
