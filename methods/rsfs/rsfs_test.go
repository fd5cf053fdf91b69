package rsfs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// clusteredRows are n rows of d features about c far centres, row i about centre i%c, with columns of mean 0.
func clusteredRows(n, d, c int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	centre := rowstest.ZeroRows(c, d)
	for _, row := range centre {
		for j := range row {
			row[j] = 3 * rng.NormFloat64()
		}
	}
	x := rowstest.ZeroRows(n, d)
	for i := range x {
		for j := range x[i] {
			x[i][j] = centre[i%c][j] + rng.NormFloat64()*(0.5+0.2*float64(j%4))
		}
	}
	return rowstest.CentreColumns(x)
}

func rank(t *testing.T, x [][]float64, opt Options) *Result {
	t.Helper()
	return must.Get(RankFeatures(t.Context(), slices.Concat(x...), len(x), len(x[0]), opt))(t)
}

// naiveLaplacian is D − S − Sᵀ, see the package comment.
func naiveLaplacian(x [][]float64, k int) *mat.Dense {
	n := len(x)
	square := func(i, j int) (sum float64) {
		for f := range x[i] {
			sum += (x[i][f] - x[j][f]) * (x[i][f] - x[j][f])
		}
		return sum
	}
	near, sigma := make([][]int, n), 0.0
	for i := range x {
		near[i] = slices.DeleteFunc(rowstest.Integers(n), func(j int) bool { return j == i })
		slices.SortStableFunc(near[i], func(a, b int) int { return slices.Compare([]float64{square(i, a)}, []float64{square(i, b)}) })
		near[i] = near[i][:k]
		for _, j := range near[i] {
			sigma += square(i, j) / float64(n*k)
		}
	}
	s := mat.NewDense(n, n, nil)
	for i := range x {
		sum := 0.0
		for _, j := range near[i] {
			s.Set(i, j, math.Exp(-square(i, j)/sigma))
			sum += s.At(i, j)
		}
		for _, j := range near[i] {
			s.Set(i, j, s.At(i, j)/sum)
		}
	}
	var both mat.Dense
	both.Add(s, s.T())
	l := mat.NewDense(n, n, nil)
	l.Sub(l, &both)
	for i := range n {
		l.Set(i, i, l.At(i, i)+mat.Sum(both.RowView(i)))
	}
	return l
}

// naiveSelect runs rounds of the paper's updates on dense matrices, from the true clusters of clusteredRows.
func naiveSelect(x [][]float64, k, c int, alpha, betaShare, nuShare, gamma float64, rounds int) (norms, objective []float64) {
	n, d := len(x), len(x[0])
	l, data := naiveLaplacian(x, k), mat.NewDense(n, d, slices.Concat(x...))
	plus := func(m mat.Matrix, sign float64) *mat.Dense {
		out := mat.DenseCopyOf(m)
		out.Apply(func(_, _ int, v float64) float64 { return max(sign*v, 0) }, out)
		return out
	}
	lengths := func(m *mat.Dense) []float64 {
		rows, _ := m.Dims()
		out := make([]float64, rows)
		for i := range out {
			out[i] = mat.Norm(m.RowView(i), 2)
		}
		return out
	}
	scale := func(y *mat.Dense) {
		for j := range c {
			length := mat.Norm(y.ColView(j), 2)
			for i := range n {
				y.Set(i, j, y.At(i, j)/length)
			}
		}
	}
	y := mat.NewDense(n, c, nil)
	y.Apply(func(i, j int, _ float64) float64 {
		if i%c == j {
			return 1.2
		}
		return 0.2
	}, y)
	scale(y)
	z, weights := mat.NewDense(n, c, nil), slices.Repeat([]float64{1}, d)
	var xy mat.Dense
	xy.Mul(data.T(), y)
	beta, nu := betaShare*2*alpha*slices.Max(lengths(&xy)), nuShare*2*alpha*mat.Max(y)
	for range rounds {
		var gram, target, w, xw, miss mat.Dense
		gram.Mul(data.T(), data)
		for j, v := range weights {
			gram.Set(j, j, gram.At(j, j)+beta/alpha*v)
		}
		target.Sub(y, z)
		xy.Mul(data.T(), &target)
		if err := w.Solve(&gram, &xy); err != nil {
			panic(err)
		}
		norms = lengths(&w)
		for j, v := range norms {
			weights[j] = 1 / (2 * v)
		}
		xw.Mul(data, &w)
		z.Sub(y, &xw)
		z.Apply(func(_, _ int, v float64) float64 {
			return math.Copysign(max(math.Abs(v)-nu/(2*alpha), 0), v)
		}, z)
		value := func(y *mat.Dense) float64 {
			var ly, yly, yy mat.Dense
			ly.Mul(l, y)
			yly.Mul(y.T(), &ly)
			miss.Sub(y, &xw)
			miss.Sub(&miss, z)
			yy.Mul(y.T(), y)
			for j := range c {
				yy.Set(j, j, yy.At(j, j)-1)
			}
			sum := mat.Trace(&yly) + alpha*math.Pow(mat.Norm(&miss, 2), 2) + gamma/2*math.Pow(mat.Norm(&yy, 2), 2)
			for _, v := range norms {
				sum += beta * v
			}
			for _, v := range z.RawMatrix().Data {
				sum += nu * math.Abs(v)
			}
			return sum
		}
		var a, up, down, yy, cubic mat.Dense
		a.Add(&xw, z)
		up.Mul(plus(l, -1), y)
		down.Mul(plus(l, 1), y)
		yy.Mul(y.T(), y)
		cubic.Mul(y, &yy)
		factors := mat.NewDense(n, c, nil)
		factors.Apply(func(i, j int, _ float64) float64 {
			v := y.At(i, j)
			return (up.At(i, j) + gamma*v + alpha*max(a.At(i, j), 0)) /
				(down.At(i, j) + alpha*v + gamma*cubic.At(i, j) + alpha*max(-a.At(i, j), 0))
		}, factors)
		before := value(y)
		for power := 0.5; power > 0.01; power /= 2 {
			next := mat.NewDense(n, c, nil)
			next.Apply(func(i, j int, _ float64) float64 { return y.At(i, j) * math.Pow(factors.At(i, j), power) }, next)
			scale(next)
			if value(next) <= before {
				y = next
				break
			}
		}
		objective = append(objective, value(y))
	}
	return norms, objective
}

func TestSelectIsTheDenseForm(t *testing.T) {
	for _, c := range []struct {
		n, d, k, clusters      int
		alpha, beta, nu, gamma float64
	}{{60, 9, 5, 3, 1, 0.1, 0.1, 1e8}, {48, 30, 4, 4, 0.3, 0.02, 0.5, 100}, {20, 90, 3, 2, 2, 0.1, 0.05, 10}, {36, 72, 35, 3, 1, 0.3, 2, 1e4}} {
		x := clusteredRows(c.n, c.d, c.clusters, uint64(c.n))
		for _, rounds := range []int{1, 6} {
			norms, objective := naiveSelect(x, c.k, c.clusters, c.alpha, c.beta, c.nu, c.gamma, rounds)
			share := func(v float64) method.Weight { return method.Weight{Value: v, Share: true} }
			r := rank(t, x, Options{Alpha: c.alpha, Beta: share(c.beta), Nu: share(c.nu), Gamma: c.gamma, Neighbors: c.k, Clusters: c.clusters, MaxIter: rounds, Tol: -1})
			if r.Rose != nil {
				t.Errorf("%+v: the objective rose: %+v, want it to fall", c, *r.Rose)
			}
			// The condition of the regressions is below 1e5, and γ magnifies rounding in YᵀY by less than its own size.
			if off := rowstest.RelativeDistance(r.Scores, norms); !(off <= 1e-8) {
				t.Errorf("%+v, %d rounds: norms are off by %.2g: got %v, want %v", c, rounds, off, r.Scores, norms)
			}
			if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-8) {
				t.Errorf("%+v, %d rounds: the objective is off by %.2g: got %v, want %v", c, rounds, off, r.Objective, objective)
			}
		}
	}
}

// TestLaplacianIsOfRobustLearning: for clusters of entries 0 and 1, Tr(YᵀLY) is the error in the l1 norm of predictions
// by weighted means of neighbours.
func TestLaplacianIsOfRobustLearning(t *testing.T) {
	const n, k, c = 40, 4, 3
	x := clusteredRows(n, 6, c, 3)
	x[8], x[9] = slices.Clone(x[7]), slices.Clone(x[7]) // duplicates
	for f := range x[11] {
		x[11][f] += 1e3 // its weights would underflow by themselves
	}
	near := must.Get(rows.FindNearest(t.Context(), kernel.NewTeam(2), n, 6, k, 1<<20, rows.PassInMemory(kernel.RowMajor(slices.Concat(x...), n, 6, 6))))(t)
	l := kernel.NewMatrix[float64](nil, n, n)
	newLocalGraph(near, n).WriteLaplacian(l)
	mean := 0.0
	for _, o := range near {
		mean += o.Square / float64(len(near))
	}
	label := func(i, j int) float64 {
		if (i*7+i/5)%c == j {
			return 1
		}
		return 0
	}
	var trace, want float64
	for j := range c {
		for i := range n {
			for other := range n {
				trace += label(i, j) * l.Data[i*n+other] * label(other, j)
			}
			predicted, sum := 0.0, 0.0
			for _, o := range near[i*k:][:k] {
				v := math.Exp((near[i*k].Square - o.Square) / mean)
				predicted += v * label(int(o.Index), j)
				sum += v
			}
			want += math.Abs(label(i, j) - predicted/sum)
		}
	}
	if math.Abs(trace-want) > 1e-12*want {
		t.Errorf("Tr(YᵀLY) of %d rows in %d clusters: got %v, want the error of predictions %v", n, c, trace, want)
	}
}

func TestObjectiveFalls(t *testing.T) {
	for seed := range uint64(3) {
		for _, shape := range [][2]int{{60, 20}, {30, 70}} {
			x := clusteredRows(shape[0], shape[1], 5, seed)
			for _, w := range []float64{1e-6, 1, 1e4} {
				for _, opt := range []Options{{Alpha: w}, {Gamma: w}, {Beta: method.Weight{Value: w}}, {Nu: method.Weight{Value: w}}} {
					opt.Clusters, opt.MaxIter, opt.Tol = 3, 12, -1
					if r := rank(t, x, opt); r.Rose != nil {
						t.Errorf("seed %d, shape %v, %+v: got a rise %+v, want none", seed, shape, opt, *r.Rose)
					}
				}
			}
		}
	}
}

// TestLaws: threads change no bit, permuted columns have permuted scores, and k-means's seed changes nothing if the
// clusters are clear.
func TestLaws(t *testing.T) {
	for _, shape := range [][2]int{{300, 24}, {40, 120}} {
		n, d := shape[0], shape[1]
		x := clusteredRows(n, d, 4, 5)
		opt := Options{Clusters: 4, MaxIter: 8, Threads: 1}
		want := rank(t, x, opt)
		for _, opt.Threads = range []int{2, 8} {
			if got := rank(t, x, opt); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
				t.Errorf("shape %v: got other bits from %d threads than from 1", shape, opt.Threads)
			}
		}
		columns := rand.New(rand.NewPCG(1, 1)).Perm(d)
		turned := rowstest.ZeroRows(n, d)
		for i := range turned {
			for j, f := range columns {
				turned[i][j] = x[i][f]
			}
		}
		opt.Seed = 9
		got := rank(t, turned, opt)
		for j, f := range columns {
			if math.Abs(got.Scores[j]-want.Scores[f]) > 1e-8*slices.Max(want.Scores) {
				t.Errorf("shape %v: feature %d as column %d has norm %v, want %v", shape, f, j, got.Scores[j], want.Scores[f])
			}
		}
	}
}

// TestEdges: few rows, few features, fewer rows than neighbours or clusters, one cluster, equal rows, constant and
// repeated columns.
func TestEdges(t *testing.T) {
	for _, c := range [][3]int{{2, 1, 10}, {3, 30, 2}, {4, 2, 1}, {11, 2, 11}, {5, 5, 3}} {
		for _, neighbors := range []int{1, 5, 100} {
			r := rank(t, clusteredRows(c[0], c[1], 2, 6), Options{Clusters: c[2], Neighbors: neighbors})
			if len(r.Order) != c[1] || r.Rose != nil {
				t.Errorf("%d rows, %d features, %d clusters, %d neighbours: got %+v, want all features ranked and no rise", c[0], c[1], c[2], neighbors, r)
			}
			for _, v := range r.Scores {
				if !(v >= 0 && v < 1e9) {
					t.Errorf("%v: got norm %v, want a finite number", c, v)
				}
			}
		}
	}
	x := clusteredRows(60, 8, 3, 7)
	for i := range x {
		x[i][2], x[i][5] = 0, x[i][1]
		x[i] = x[i/2*2] // every row twice
	}
	r := rank(t, x, Options{Clusters: 3})
	if r.Scores[2] != 0 || r.Scores[1] != r.Scores[5] && math.Abs(r.Scores[1]-r.Scores[5]) > 1e-9*r.Scores[1] {
		t.Errorf("60 rows in pairs: got norms %v, want 0 for constant column 2 and equal ones for columns 1 and 5", r.Scores)
	}
	if at := slices.Index(r.Order, 1); at < 0 || slices.Index(r.Order, 5) < at {
		t.Errorf("equal columns 1 and 5: got order %v, want 1 first", r.Order)
	}
	if _, err := RankFeatures(t.Context(), make([]float64, 6), 3, 2, Options{}); err == nil {
		t.Error("rows of zeros: got no error, want one")
	}
	if _, err := RankFeatures(t.Context(), []float64{1, 2}, 1, 2, Options{}); err == nil {
		t.Error("a single row: got no error, want one")
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := RankFeatures(t.Context(), []float64{1, v, 3, 4, 5, 6}, 3, 2, Options{}); err == nil {
			t.Errorf("rows with %v: got no error, want one", v)
		}
	}
	_, err := RankFeatures(t.Context(), []float64{1, 2}, 2, 1, Options{Alpha: -1, Beta: method.Weight{Value: math.NaN()}, Nu: method.Weight{Value: -2}, Gamma: math.Inf(1), Tol: math.NaN(), Neighbors: -1, Clusters: -2, MaxIter: -3, Threads: -4})
	rowstest.CheckRefusal(t, err, "alpha = -1", "beta = NaN", "errors = -2", "gamma = +Inf", "tol = NaN", "neighbors = -1", "clusters = -2", "max-iter = -3", "threads = -4")
}

// TestGoesOnToTheSameBits: a run that was interrupted continues to the same bits.
func TestGoesOnToTheSameBits(t *testing.T) {
	x := clusteredRows(40, 6, 3, 3)
	resumetest.CheckResume(t, func(at resumetest.Storage) (*Result, error) {
		return RankFeatures(t.Context(), slices.Concat(x...), len(x), len(x[0]), Options{Clusters: 3, MaxIter: 4, Tol: 1e-12, Seed: 1, Threads: 2, Stages: at.Stages})
	}, func(what string, got, want *Result) {
		if !slices.Equal(got.Objective, want.Objective) || !slices.Equal(got.Scores, want.Scores) || got.Clusters != want.Clusters || got.Beta != want.Beta {
			t.Errorf("%s: got objective %v, want %v", what, got.Objective, want.Objective)
		}
	})
}

// TestLayout: rounds take the memory of their layout, in both forms of the regression.
func TestLayout(t *testing.T) {
	for _, shape := range [][2]int{{900, 300}, {200, 900}} {
		n, d := shape[0], shape[1]
		const c = 12
		x := kernel.RowMajor(slices.Concat(clusteredRows(n, d, c, 8)...), n, d, d)
		first := &problem{n: n, d: d, c: c, team: kernel.NewTeam(1), alpha: 1, beta: 0.1, nu: 0.01, gamma: 1e4, x: x}
		near := must.Get(rows.FindNearest(t.Context(), first.team, n, d, 5, 1<<24, rows.PassInMemory(x)))(t)
		first.graph = newLocalGraph(near, n)
		start := must.Get(RankFeatures(t.Context(), x.Data, n, d, Options{Clusters: c, MaxIter: 1, Threads: 1}))(t)
		declared := room.Measure(func(l *room.Layout) {
			p := *first
			p.layOut(l)
			ridge.LayOut(l, d, rankOfGramFactor(n, d), c)
			kernel.NewMatrix[float64](l, d, max(rankOfGramFactor(n, d), d*(1-min(rankOfGramFactor(n, d), 1))))
		})
		roomtest.CheckLayout(t, fmt.Sprintf("rsfs, shape %v", shape), declared, func() {
			p := *first
			p.layOut(nil)
			for i := range n {
				p.current.y.Data[i*c+i%c] = 1
			}
			scaleColumns(p.current.y)
			copy(p.norms, start.Scores)
			p.prepareRegression()
			p.updateProducts(p.current)
			must.Do(t, p.updateRegression())
			p.updateErrors()
			p.updateClusters()
		})
	}
}

// TestBytes: a run stays within Bytes.
func TestBytes(t *testing.T) {
	for _, shape := range [][2]int{{150, 60}, {60, 2000}} {
		x := slices.Concat(clusteredRows(shape[0], shape[1], 4, 1)...)
		opt := Options{Clusters: 5, MaxIter: 3, Threads: 2}
		before, most := rowstest.HeapBytes(), int64(0)
		opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
		must.Get(RankFeatures(t.Context(), x, shape[0], shape[1], opt))(t)
		if says := RankBytes(int64(shape[0]), shape[1], opt); most == 0 || most > says {
			t.Errorf("shape %v: %d bytes held, want at most the %d of Bytes", shape, most, says)
		}
	}
}
