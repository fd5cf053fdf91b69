package pca

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// factorRows returns n×d standardized rows of a few factors of different weights, with noise. No two components have
// nearly the same variance.
func factorRows(n, d int) *mat.Dense {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	x := mat.NewDense(n, d, nil)
	for j := range d {
		for i := range n {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	for f := range 4 {
		factor := make([]float64, n)
		for i := range factor {
			factor[i] = rng.NormFloat64()
		}
		for j := f; j < d; j += f + 2 {
			for i := range n {
				x.Set(i, j, x.At(i, j)+factor[i]*float64(j%3-1)*1.5)
			}
		}
	}
	return standardize(x)
}

// standardize centres the columns of x and divides them by their standard deviations, unless they are constant.
func standardize(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	for j := range d {
		column := mat.Col(nil, j, x)
		mean, sd := stat.PopMeanStdDev(column, nil)
		for i := range n {
			x.Set(i, j, (column[i]-mean)/cmp.Or(sd, 1))
		}
	}
	return x
}

// gramForms returns the Gram matrix of x in full and as a factor.
func gramForms(x *mat.Dense) map[string]*gram.Matrix {
	n, d := x.Dims()
	var g mat.Dense
	g.Mul(x.T(), x)
	return map[string]*gram.Matrix{
		"full":   gram.Full(g.RawMatrix().Data, d),
		"factor": gram.FromFactor(mat.DenseCopyOf(x.T()).RawMatrix().Data, d, n),
	}
}

// naiveLoadings returns the d×q absolute loadings of the components of the centred rows x, and their variances, by
// gonum's principal components of the rows, without a Gram matrix.
func naiveLoadings(t *testing.T, x *mat.Dense) (loadings *mat.Dense, variances []float64) {
	t.Helper()
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		t.Fatal("gonum found no principal components, want those of the rows")
	}
	loadings = new(mat.Dense)
	pc.VectorsTo(loadings)
	loadings.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, loadings)
	variances = pc.VarsTo(nil)
	for len(variances) > 0 && variances[len(variances)-1] < 1e-10*variances[0] {
		variances = variances[:len(variances)-1]
	}
	return loadings, variances
}

// chooseLargestNaively is pcalrg by its definition.
func chooseLargestNaively(loadings *mat.Dense, components, k int) (order []int, turns []float64) {
	d, _ := loadings.Dims()
	for turn := range k {
		best := -1
		for j := range d {
			if v := loadings.At(j, turn%components); !slices.Contains(order, j) && (best < 0 || v > loadings.At(best, turn%components)*(1+1e-9)) {
				best = j
			}
		}
		order, turns = append(order, best), append(turns, loadings.At(best, turn%components))
	}
	return order, turns
}

// checkLargest fails unless SelectLargest chooses as the naive twin, in every form of G and with the same bits by any
// number of workers.
func checkLargest(t *testing.T, name string, x *mat.Dense, k int) {
	t.Helper()
	loadings, variances := naiveLoadings(t, x)
	order, turns := chooseLargestNaively(loadings, len(variances), k)
	for form, g := range gramForms(x) {
		r := must.Get(SelectLargest(g, Options{K: k, Threads: 1}))(t)
		// Vectors are exact to 1e-14 over the gap between eigenvalues, which is above 1e-7 of λ₁ in these data.
		if off := rowstest.RelativeDistance(r.Turns, turns); !slices.Equal(r.Order, order) || off > 1e-6 || r.Components != min(k, len(variances)) {
			t.Errorf("%s, %s: chose %v of %d components with loadings off by %g, want %v of %d", name, form, r.Order, r.Components, off, order, min(k, len(variances)))
		}
		if again := must.Get(SelectLargest(g, Options{K: k, Threads: 8}))(t); !slices.Equal(again.Turns, r.Turns) || !slices.Equal(again.Order, r.Order) {
			t.Errorf("%s, %s: 8 workers chose %v with %v, want %v with the bits %v of 1", name, form, again.Order, again.Turns, r.Order, r.Turns)
		}
	}
}

func TestLargestIsTheNaiveTwin(t *testing.T) {
	for _, s := range []struct{ n, d, k int }{{60, 12, 5}, {60, 12, 12}, {25, 60, 10}, {300, 150, 7}, {8, 20, 20}, {40, 1, 1}} {
		checkLargest(t, fmt.Sprint(s), factorRows(s.n, s.d), s.k)
	}
}

// checkPrincipal fails unless the result of SelectPrincipal agrees with the definition: the number of components has the
// share, clusters are those of a converged k-means that no start of a naive k-means improves, and each chosen feature is
// the nearest to the mean of its cluster.
func checkPrincipal(t *testing.T, name string, x *mat.Dense, k int, components method.ComponentCount) {
	t.Helper()
	loadings, variances := naiveLoadings(t, x)
	q := components.Count
	if q == 0 {
		total, sum := 0.0, 0.0
		for _, v := range variances {
			total += v
		}
		for sum < components.Share*total {
			sum += variances[q]
			q++
		}
	}
	d, _ := loadings.Dims()
	rows := make([][]float64, d)
	for j := range rows {
		rows[j] = loadings.RawRowView(j)[:q]
	}
	best := math.Inf(1)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		best = min(best, inertia(rows, clusterNaively(rng, rows, k)))
	}
	var first *Result
	for form, g := range gramForms(x) {
		opt := Options{K: k, Components: components, Seed: 1, Threads: 1}
		r := must.Get(SelectPrincipal(t.Context(), g, opt))(t)
		if r.Components != q || len(r.Order) != k {
			t.Fatalf("%s, %s: %d components and %d features, want %d and %d", name, form, r.Components, len(r.Order), q, k)
		}
		labels := make([]int, d)
		for j, c := range r.Clusters {
			labels[j] = int(c)
		}
		// Our k-means makes fewer starts than the naive one, but better ones.
		if got := inertia(rows, labels); got > best*1.03+1e-12 {
			t.Errorf("%s, %s: inertia %v, want at most 3 %% above %v, the best of 30 naive starts", name, form, got, best)
		}
		checkNearest(t, name+", "+form, rows, labels, r)
		opt.Threads = 8
		if again := must.Get(SelectPrincipal(t.Context(), g, opt))(t); !slices.Equal(again.Order, r.Order) || !slices.Equal(again.Clusters, r.Clusters) {
			t.Errorf("%s, %s: 8 workers chose %v, want %v as 1", name, form, again.Order, r.Order)
		}
		if first == nil {
			first = r
		} else if !slices.Equal(first.Order, r.Order) || !slices.Equal(first.Turns, r.Turns) {
			t.Errorf("%s: the forms chose %v and %v, want the same", name, first.Order, r.Order)
		}
	}
}

// checkNearest fails unless r has, for each cluster, its first feature nearest to the mean, and large clusters first.
func checkNearest(t *testing.T, name string, rows [][]float64, labels []int, r *Result) {
	t.Helper()
	means := meansOf(rows, labels, slices.Max(labels)+1)
	sizes := make([]int, len(means))
	for _, c := range labels {
		sizes[c]++
	}
	// Of equally near features the one with the smaller loadings is taken, wherever its column is, and the first copy.
	byLoadings := make([]int, len(rows))
	for j := range byLoadings {
		byLoadings[j] = j
	}
	slices.SortStableFunc(byLoadings, func(a, b int) int { return slices.Compare(rows[a], rows[b]) })
	var want []int
	for c, mean := range means {
		nearest := -1
		for _, j := range byLoadings {
			if row := rows[j]; labels[j] == c && (nearest < 0 || distance(row, mean) < distance(rows[nearest], mean)*(1-1e-9)-1e-11) {
				nearest = j
			}
		}
		if nearest >= 0 {
			want = append(want, nearest)
		}
	}
	// Of equally large clusters the one whose feature has the smaller loadings is first, wherever the columns are.
	slices.SortFunc(want, func(a, b int) int {
		return cmp.Or(sizes[labels[b]]-sizes[labels[a]], slices.Compare(rows[a], rows[b]), a-b)
	})
	if !slices.Equal(r.Order, want) {
		t.Errorf("%s: chose %v, want %v, the nearest to the means of clusters of %v", name, r.Order, want, sizes)
	}
	for i, j := range r.Order {
		if r.Turns[i] != float64(sizes[labels[j]]) {
			t.Errorf("%s: score %v of feature %d, want the size %d of its cluster", name, r.Turns[i], j, sizes[labels[j]])
		}
	}
}

func distance(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum)
}

func meansOf(rows [][]float64, labels []int, k int) [][]float64 {
	means, sizes := rowstest.ZeroRows(k, len(rows[0])), make([]float64, k)
	for j, c := range labels {
		sizes[c]++
		for i, v := range rows[j] {
			means[c][i] += v
		}
	}
	for c := range means {
		for i := range means[c] {
			means[c][i] /= max(sizes[c], 1)
		}
	}
	return means
}

func inertia(rows [][]float64, labels []int) (sum float64) {
	means := meansOf(rows, labels, slices.Max(labels)+1)
	for j, row := range rows {
		d := distance(row, means[labels[j]])
		sum += d * d
	}
	return sum
}

// clusterNaively is Lloyd's iteration from random rows.
func clusterNaively(rng *rand.Rand, rows [][]float64, k int) []int {
	labels := make([]int, len(rows))
	var centres [][]float64
	for _, j := range rng.Perm(len(rows))[:k] {
		centres = append(centres, rows[j])
	}
	for last := math.Inf(1); ; {
		for j, row := range rows {
			for c := range centres {
				if distance(row, centres[c]) < distance(row, centres[labels[j]]) {
					labels[j] = c
				}
			}
		}
		centres = meansOf(rows, labels, k)
		now := inertia(rows, labels)
		if now >= last*(1-1e-9) {
			return labels
		}
		last = now
	}
}

func TestPrincipalIsTheNaiveTwin(t *testing.T) {
	for _, s := range []struct{ n, d, k int }{{60, 12, 4}, {60, 12, 12}, {25, 60, 6}, {300, 120, 8}, {40, 1, 1}} {
		for _, c := range []method.ComponentCount{{Share: 0.9}, {Share: 0.4}, {Count: 1}, {Count: 3}} {
			if c.Count > s.d {
				continue
			}
			checkPrincipal(t, fmt.Sprintf("%+v, components %s", s, c.ToText()), factorRows(s.n, s.d), s.k, c)
		}
	}
}

// TestPlantedGroups: of groups of features that repeat one another but for the sign and little noise, pfa takes one each,
// and pcalrg takes one for each component that a group makes.
func TestPlantedGroups(t *testing.T) {
	const n, groups = 500, 4
	rng := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(n, 20, nil)
	group := make([]int, 20)
	for j := range group {
		group[j] = min(j/2, 3) // of 2, 2, 2 and 14
		if j%5 == 4 {
			group[j] = 2
		}
	}
	for i := range n {
		var f [groups]float64
		for k := range f {
			f[k] = rng.NormFloat64()
		}
		for j, k := range group {
			x.Set(i, j, (f[k]+0.05*rng.NormFloat64())*float64(1-2*(j%2)))
		}
	}
	standardize(x)
	for form, g := range gramForms(x) {
		r := must.Get(SelectPrincipal(t.Context(), g, Options{K: groups, Seed: 7}))(t)
		seen := map[int]bool{}
		for _, j := range r.Order {
			seen[group[j]] = true
		}
		if len(seen) != groups || group[r.Order[0]] != 3 {
			t.Errorf("%s: pfa took %v of the groups %v, want one each and the largest first", form, r.Order, group)
		}
		if j := must.Get(SelectLargest(g, Options{K: 1}))(t).Order[0]; group[j] != 3 {
			t.Errorf("%s: pcalrg took %d of group %d first, want one of the largest group", form, j, group[j])
		}
	}
}

// TestCopies: copies have equal loadings, so the first of them is taken, and pfa gives fewer features with a warning.
func TestCopies(t *testing.T) {
	x := factorRows(50, 6)
	wide := mat.NewDense(50, 13, nil)
	for j := range 12 {
		wide.SetCol(j, mat.Col(nil, j%6, x)) // and column 12 is constant
	}
	for form, g := range gramForms(wide) {
		r := must.Get(SelectLargest(g, Options{K: 6}))(t)
		if slices.Max(r.Order) >= 12 || r.Order[0] >= 6 {
			t.Errorf("%s: pcalrg took %v, want the first of copies first and no constant column", form, r.Order)
		}
		all := must.Get(SelectLargest(g, Options{K: 13}))(t)
		if got := slices.Sorted(slices.Values(all.Order)); !slices.Equal(got, rowstest.Integers(13)) || len(all.Warnings) == 0 {
			t.Errorf("%s: pcalrg took %v of 13 with the warnings %v, want all 13 and a warning of 6 components", form, all.Order, all.Warnings)
		}
		p := must.Get(SelectPrincipal(t.Context(), g, Options{K: 10}))(t)
		if got := slices.Sorted(slices.Values(p.Order)); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 12}) || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].String(), "only 7 clusters") {
			t.Errorf("%s: pfa took %v with the warnings %v, want the first of copies, the constant one and a warning of 7 clusters", form, p.Order, p.Warnings)
		}
	}
}

// TestPermutedColumns: the same features are taken if the columns have another order.
func TestPermutedColumns(t *testing.T) {
	x := factorRows(80, 15)
	order := rand.New(rand.NewPCG(9, 9)).Perm(15)
	moved := mat.NewDense(80, 15, nil)
	for to, from := range order {
		moved.SetCol(to, mat.Col(nil, from, x))
	}
	for form, g := range gramForms(x) {
		want := must.Get(SelectLargest(g, Options{K: 6}))(t).Order
		got := must.Get(SelectLargest(gramForms(moved)[form], Options{K: 6}))(t).Order
		for i := range got {
			got[i] = order[got[i]]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: of permuted columns %v, want %v", form, got, want)
		}
	}
}

// TestFaults: wrong options, constant and infinite data give errors, never a panic, and K = 0 gives nothing.
func TestFaults(t *testing.T) {
	g := gramForms(factorRows(20, 5))["full"]
	_, err := SelectLargest(g, Options{K: 6, Threads: -1})
	rowstest.CheckRefusal(t, err, "k = 6", "threads = -1")
	_, err = SelectPrincipal(t.Context(), g, Options{K: -1, Components: method.ComponentCount{Share: 2}})
	rowstest.CheckRefusal(t, err, "k = -1", "components 200%")
	if r := must.Get(SelectLargest(g, Options{}))(t); len(r.Order) != 0 {
		t.Errorf("no features wanted: got %v, want none", r.Order)
	}
	nan := factorRows(20, 5)
	nan.Set(3, 3, math.Inf(1))
	for name, x := range map[string]*mat.Dense{"constant": mat.NewDense(4, 5, nil), "infinite": nan} {
		for form, g := range gramForms(x) {
			_, largest := SelectLargest(g, Options{K: 2})
			_, principal := SelectPrincipal(t.Context(), g, Options{K: 2})
			for _, err := range []error{largest, principal} {
				if !errors.As(err, new(*stream.DataError)) && !errors.Is(err, linalg.ErrNotFinite) {
					t.Errorf("%s, %s: error %v, want one about the data", name, form, err)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := SelectPrincipal(ctx, g, Options{K: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("pfa, cancelled: error %v, want %v", err, context.Canceled)
	}
}

// watched is a context that calls look whenever its error is asked for.
type watched struct {
	context.Context
	look func()
}

func (w watched) Err() error { w.look(); return w.Context.Err() }

// TestBytes: what pcalrg allocates in all, and what pfa holds during k-means, is within their bounds.
func TestBytes(t *testing.T) {
	for _, s := range long.TakeCases(2, []struct{ n, d, k int }{{250, 200, 20}, {60, 1500, 20}, {250, 200, 150}}) {
		x := factorRows(s.n, s.d)
		g := gram.FromFactor(mat.DenseCopyOf(x.T()).RawMatrix().Data, s.d, s.n)
		if s.d <= s.n {
			g = gramForms(x)["full"]
		}
		before := rowstest.HeapBytes()
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		must.Get(SelectLargest(g, Options{K: s.k, Threads: 1}))(t)
		runtime.ReadMemStats(&end)
		held, bound := int64(end.TotalAlloc-start.TotalAlloc), LargestBytes(s.d, g.Rank, s.k)
		held -= kernel.TeamBytes(s.d, s.d) // the team's scratch grows, and leaves garbage
		if g.IsFactor() {                  // and Dual and AddUps have teams of their own
			held -= 2 * kernel.TeamBytes(s.n, s.d)
		}
		if held > bound {
			t.Errorf("pcalrg, %+v: about %d bytes held, want at most %d", s, held, bound)
		}
		c, most, calls := method.ComponentCount{Count: 10}, int64(0), 0
		ctx := watched{t.Context(), func() {
			if calls++; calls%64 == 0 { // a look takes a collection
				most = max(most, rowstest.HeapBytes()-before)
			}
		}}
		must.Get(SelectPrincipal(ctx, g, Options{K: s.k, Components: c, Threads: 1}))(t)
		if bound := PrincipalBytes(s.d, g.Rank, s.k, 2, c); most > bound || most < 8*int64(s.d)*10 {
			t.Errorf("pfa, %+v: %d bytes held, want at most %d and the loadings", s, most, bound)
		}
	}
}
