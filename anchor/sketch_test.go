package anchor

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// sketched is the graph of the table whose G is estimated by sketches of the given number of rows, in blocks of the
// given height.
func (t table) sketched(tb testing.TB, a *Anchors, opt Options, rows, height int, seed uint64) *Graph {
	tb.Helper()
	by := gram.SketchOptions{Rows: rows, Seed: seed, Threads: opt.Threads}
	x, z := gram.NewSketch(len(t.Cols), by), gram.NewSketch(a.M, by)
	s, p := must.Get(NewStatistics(a, opt))(tb), gram.NewProfile(len(t.Cols))
	s.SketchWeights(z)
	t.AddRows(tb, s, 0, t.N(), height)
	t.AddRows(tb, x, 0, t.N(), height)
	t.AddRows(tb, p, 0, t.N(), 64)
	m := must.Get(p.Gram(t.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(tb)
	g := must.Get(s.Graph(m))(tb)
	std := must.Get(gram.NewStandardizer(p, t.Columns(), gram.ScaleCenter, gram.FillMean))(tb)
	std.Factor = g.Scale
	must.Do(tb, g.Estimate(opt.Threads, x, z, std))
	return g
}

// denseOf copies rows into a gonum matrix.
func denseOf(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// explicit is Π of [gram.Sketch], r×n, of rows of weight 1.
func explicit(n, r int, seed uint64) *mat.Dense {
	p := mat.NewDense(r, n, nil)
	for i := range n {
		group := splitmix.Hash(seed, uint64(i/64))
		at := int(group%uint64(r/64))*64 + int((uint64(i)+group>>32)%64)
		p.Set(at, i, 1-2*float64(splitmix.Hash(seed, ^uint64(i))&1))
	}
	return p
}

// near wants equal matrices but for a share of the largest entry.
func near(t *testing.T, what string, got, want mat.Matrix, share float64) {
	t.Helper()
	var off mat.Dense
	off.Sub(got, want)
	if size := mat.Max(absolute(&off)); !(size <= share*mat.Max(absolute(want))) {
		t.Errorf("%s is off by %g of %g", what, size, mat.Max(absolute(want)))
	}
}

func absolute(a mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, a)
	return &out
}

// The naive twin: with P = BB⁺ of the dense B and Π explicit, RᵀR is CᵀS⁺C and the products of Π(I−P)X̃, whose
// columns have the same lengths as the columns of (I−P)X̃; BᵀR = C, BᵀB = S.
func TestEstimateIsTheTwins(t *testing.T) {
	const n, m, k, r, seed = 400, 14, 3, 256, 9
	for _, missing := range []bool{false, true} {
		tab := clusters(n, 7, 1)
		if missing {
			tab = tab.holes()
		}
		tab.Cols = slices.Insert(tab.Cols, 4, slices.Repeat([]float64{2.5}, n)) // constant
		anchors := tab.own(t, m)
		for _, scale := range scales {
			t.Run(fmt.Sprintf("%v/missing=%v", scale, missing), func(t *testing.T) {
				g := tab.sketched(t, tab.random(t, m, scale), Options{Neighbors: k, Threads: 2}, r, 50, seed)
				w := tab.dense(scale, anchors, k)
				x := denseOf(w.x)
				b := denseOf(matrix(n, m, func(i, j int) float64 { return w.z[i][j] / math.Sqrt(w.delta[j]) }))
				var svd mat.SVD
				if !svd.Factorize(b, mat.SVDThin) {
					t.Fatal("no singular values")
				}
				var u, known, rest, sketch mat.Dense
				svd.UTo(&u)
				u2 := u.Slice(0, n, 0, svd.Rank(1e-10))
				known.Mul(u2.T(), x)
				rest.Mul(u2, &known)
				rest.Sub(x, &rest)
				sketch.Mul(explicit(n, r, seed), &rest)
				main := sketch.Slice(0, g.G.Rank-svd.Rank(1e-10), 0, 7).(*mat.Dense)
				for j := range 7 {
					whole, had := mat.Norm(rest.ColView(j), 2), mat.Norm(main.ColView(j), 2)
					for i := range main.RawMatrix().Rows {
						main.Set(i, j, main.At(i, j)*whole/had)
					}
				}
				var want, part, got mat.Dense
				want.Mul(known.T(), &known)
				part.Mul(main.T(), main)
				want.Add(&want, &part)
				rows := mat.NewDense(7, g.G.Rank, g.G.R)
				got.Mul(rows, rows.T())
				near(t, "RᵀR", &got, &want, 1e-8)
				own := mat.NewDense(g.G.Rank, m, g.B(2))
				var c, s, c2, s2 mat.Dense
				c.Mul(own.T(), rows.T())
				c2.Mul(b.T(), x)
				near(t, "BᵀR", &c, &c2, 1e-8)
				s.Mul(own.T(), own)
				s2.Mul(b.T(), b)
				near(t, "BᵀB", &s, &s2, 1e-8)
			})
		}
	}
}

// The diagonal is G's for any error of the sketch; all of G is exact if every row is an anchor of its own, because
// nothing is left to estimate.
func TestEstimateIsExactWhereItSaysSo(t *testing.T) {
	const n = 300
	dense, sparse := clusters(n, 40, 5).thinned(9)
	for i := range n { // columns of a single entry
		for j, at := range []int{7, 150, 299} {
			dense.Cols[j][i] = 0
			if i == at {
				dense.Cols[j][i] = 3
			}
			sparse.Cols[j] = dense.Cols[j]
		}
	}
	for name, tab := range map[string]table{"dense": dense, "sparse": sparse} {
		for seed := range uint64(5) {
			a := tab.random(t, 20, gram.ScaleStandard)
			want := tab.graph(t, tab.random(t, 20, gram.ScaleStandard), Options{})
			got := tab.sketched(t, a, Options{}, 128, 64, seed)
			for j, v := range want.G.Diagonal(1) {
				if math.Abs(got.G.At(j, j)-v) > 1e-9*v {
					t.Fatalf("%s, seed %d: feature %d has %g, want %g", name, seed, j, got.G.At(j, j), v)
				}
			}
		}
	}
	// One neighbour: every row has its own anchor alone, so that B is orthogonal.
	tab := clusters(n, 12, 6)
	a := tab.random(t, n, gram.ScaleStandard)
	want := tab.graph(t, tab.random(t, n, gram.ScaleStandard), Options{Neighbors: 1})
	got := tab.sketched(t, a, Options{Neighbors: 1}, 128, 64, 3)
	if len(got.knownB) != n*n {
		t.Fatalf("%d numbers of directions", len(got.knownB))
	}
	for i := range 12 {
		for j := range 12 {
			if v := want.G.At(i, j); math.Abs(got.G.At(i, j)-v) > 1e-9*n {
				t.Fatalf("%d, %d: %g, want %g", i, j, got.G.At(i, j), v)
			}
		}
	}
	if off := got.Deviation(2, []int{1, 5, 9}); off > 1e-9 {
		t.Errorf("cosines off by %g", off)
	}
}

// Neither workers nor cuts change a bit.
func TestEstimateHasTheSameBits(t *testing.T) {
	const n = 700
	tab := clusters(n, 300, 2).holes()
	one := tab.sketched(t, tab.random(t, 40, gram.ScaleStandard), Options{Threads: 1}, 192, 64, 4)
	for _, height := range []int{64, 13} {
		got := tab.sketched(t, tab.random(t, 40, gram.ScaleStandard), Options{Threads: 5}, 192, height, 4)
		if !slices.Equal(got.G.R, one.G.R) || !slices.Equal(got.Held.R, one.Held.R) || !slices.Equal(got.B(1), one.B(1)) {
			t.Errorf("blocks of %d rows: other bits", height)
		}
	}
}

// The error measured on the held-out rows is about the true error: both are a root mean square over the pairs of many
// features.
func TestEstimateKnowsItsError(t *testing.T) {
	const n, d = 3000, 60
	tab := clusters(n, d, 8)
	want := tab.graph(t, tab.random(t, 30, gram.ScaleStandard), Options{})
	list := make([]int, d)
	for j := range list {
		list[j] = j
	}
	said, is := 0.0, 0.0
	for seed := range uint64(6) {
		got := tab.sketched(t, tab.random(t, 30, gram.ScaleStandard), Options{}, 512, 64, seed)
		off := got.Deviation(2, list)
		said += off * off
		for i := range d {
			for j := range i {
				v := (got.G.At(i, j) - want.G.At(i, j)) / math.Sqrt(want.G.At(i, i)*want.G.At(j, j))
				is += v * v / float64(d*(d-1)/2)
			}
		}
	}
	// 64 rows held back in each of 6 sketches: their squares have a relative deviation of 1/√(6·64), 5 %, if
	// the rows were independent, and pairs that share a feature are not: within a factor of 1.5.
	if ratio := math.Sqrt(said / is); !(ratio > 1/1.5 && ratio < 1.5) {
		t.Errorf("the error is %g, said to be %g", math.Sqrt(is/6), math.Sqrt(said/6))
	}
}

// The memory equals EstimateBytes, up to a few small objects.
func TestEstimateHasNoMoreThanItSays(t *testing.T) {
	for _, shape := range [][3]int{{20, 900, 256}, {300, 900, 128}} { // in place, and not
		m, d, r := shape[0], shape[1], shape[2]
		tab := clusters(900, d, 4)
		by := gram.SketchOptions{Rows: r, Seed: 1, Threads: 2}
		x, z := gram.NewSketch(d, by), gram.NewSketch(m, by)
		s, p := must.Get(NewStatistics(tab.random(t, m, gram.ScaleStandard), Options{}))(t), gram.NewProfile(d)
		s.SketchWeights(z)
		tab.AddRows(t, s, 0, 900, 64)
		tab.AddRows(t, x, 0, 900, 64)
		tab.AddRows(t, p, 0, 900, 64)
		g := must.Get(s.Graph(must.Get(p.Gram(tab.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(t)))(t)
		std := must.Get(gram.NewStandardizer(p, tab.Columns(), gram.ScaleCenter, gram.FillMean))(t)
		std.Factor = g.Scale
		most, _ := EstimateBytes(m, d, r)
		before := totalAlloc()
		must.Do(t, g.Estimate(2, x, z, std))
		if took := totalAlloc() - before; took > most {
			t.Errorf("%d anchors: %d bytes, said %d", m, took, most)
		}
	}
}

// totalAlloc is the total memory ever allocated: at least the memory held at any time.
func totalAlloc() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// The error measured on the held-out rows is the error of the estimate's weights on the true rows, to the deviation
// of 64 held-out rows.
func TestHeldErrorsAreOfTheTruth(t *testing.T) {
	const n, d, m = 3000, 40, 30
	tab := clusters(n, d, 8)
	anchors := tab.own(t, m)
	x := denseOf(tab.dense(gram.ScaleStandard, anchors, DefaultNeighbors).x)
	order := []int{3, 30, 11, 22, 7}
	seeds := uint64(3)
	if !long.IsOn() {
		seeds = 1
	}
	for seed := range seeds {
		g := tab.sketched(t, tab.random(t, m, gram.ScaleStandard), Options{}, 512, 64, seed)
		got := g.HeldErrors(2, order)
		rows := mat.NewDense(d, g.G.Rank, g.G.R)
		for a := range order {
			chosen, truth := mat.NewDense(g.G.Rank, a+1, nil), mat.NewDense(n, a+1, nil)
			for b, j := range order[:a+1] {
				chosen.SetCol(b, slices.Clone(rows.RawRowView(j)))
				truth.SetCol(b, mat.Col(nil, j, x))
			}
			var w, left mat.Dense
			must.Do(t, w.Solve(chosen, rows.T()))
			left.Mul(truth, &w)
			left.Sub(x, &left)
			want := math.Pow(mat.Norm(&left, 2)/mat.Norm(x, 2), 2)
			// One feature by 64 rows is off by √(2/64) = 18 %; the mean of 40 that are alike in pairs by less.
			if off := got[a]/want - 1; math.Abs(off) > 0.18 {
				t.Errorf("seed %d, %d features: %g is left, by the rows held back %g", seed, a+1, want, got[a])
			}
		}
	}
}

// TestLayout: operations take the memory of their layouts, and no more.
func TestLayout(t *testing.T) {
	const n, m, d, k, r = 1100, 500, 400, 5, 256
	tab := clusters(n, d, 4)
	chunk := tab.Chunk(0, n)
	a := tab.random(t, m, gram.ScaleStandard)
	roomtest.CheckLayout(t, "statistics", Bytes(m, d, k, 1)-8*m*d-frameBytes*d-bufferBytes, func() {
		must.Do(t, must.Get(NewStatistics(a, Options{Neighbors: k, Threads: 1}))(t).Add(chunk))
	})
	g := tab.graph(t, a, Options{})
	roomtest.CheckLayout(t, "smoothing", SmoothBytes(m, d), func() { g.Smooth(1, 3) })

	x, z, p := gram.NewSketch(d, gram.SketchOptions{Rows: r}), gram.NewSketch(m, gram.SketchOptions{Rows: r}), gram.NewProfile(d)
	s := must.Get(NewStatistics(a, Options{}))(t)
	s.SketchWeights(z)
	must.Do(t, errors.Join(s.Add(chunk), x.Add(chunk), p.Add(chunk)))
	g = must.Get(s.Graph(must.Get(p.Gram(tab.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(t)))(t)
	std := must.Get(gram.NewStandardizer(p, tab.Columns(), gram.ScaleCenter, gram.FillMean))(t)
	std.Factor = g.Scale
	var estimated Graph
	peak, _ := EstimateBytes(m, d, r)
	roomtest.CheckLayout(t, "an estimate", peak-bufferBytes, func() {
		rows, weights := *x, *z // Estimate consumes them
		estimated = *g
		estimated.G = &gram.Matrix{D: d}
		must.Do(t, estimated.Estimate(1, &rows, &weights, std))
	})
	order := make([]int, 50)
	for a := range order {
		order[a] = 7 * a
	}
	roomtest.CheckLayout(t, "held errors", HeldBytes(m, len(order), r)-bufferBytes, func() { estimated.HeldErrors(1, order) })
}

// TestEstimateIgnoresOtherColumns: columns that are not features, whose sums the sketch contains too, change no bit of
// the estimate. Here the factor has more rows than the sketch has room for, but not more numbers.
func TestEstimateIgnoresOtherColumns(t *testing.T) {
	const n, m, d, r = 900, 300, 400, 128
	tab := clusters(n, d, 4)
	want := tab.sketched(t, tab.random(t, m, gram.ScaleStandard), Options{}, r, 64, 1)
	for range d {
		tab.Cols = append(tab.Cols, make([]float64, n))
	}
	got := tab.sketched(t, tab.random(t, m, gram.ScaleStandard), Options{}, r, 64, 1)
	if rank := got.G.Rank; rank <= 2*r || got.D != d || rank*d > 2*r*len(tab.Cols) {
		t.Fatalf("%d features of rank %d", got.D, rank)
	}
	if !slices.Equal(got.G.R, want.G.R) || !slices.Equal(got.Held.R, want.Held.R) {
		t.Error("another estimate")
	}
}
