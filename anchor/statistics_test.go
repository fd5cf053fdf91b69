package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

var scales = []gram.Scale{gram.ScaleNone, gram.ScaleCenter, gram.ScaleMinMax, gram.ScaleUnit, gram.ScaleStandard, gram.ScalePareto}

// own returns the raw rows of the table at the positions of a sample.
func (t table) own(tb testing.TB, m int) [][]float64 {
	c := t.sampler(tb, m).Draw(m)
	return matrix(m, len(t.Cols), func(i, j int) float64 { return c.Col(j)[i] })
}

// The graph equals the naive twin's, under every scale, with missing entries filled and a
// constant column left out. Weights divide by differences of distances: here at least 1e-3
// times the distances, which leaves 12 of 16 digits of Z.
func TestGraphIsTheTwins(t *testing.T) {
	const n, m, k = 120, 14, 3
	for _, missing := range []bool{false, true} {
		tab := clusters(n, 6, 1)
		if missing {
			tab = tab.holes()
		}
		tab.Cols = slices.Insert(tab.Cols, 4, slices.Repeat([]float64{2.5}, n)) // constant
		anchors := tab.own(t, m)
		for _, scale := range scales {
			t.Run(fmt.Sprintf("%v/missing=%v", scale, missing), func(t *testing.T) {
				g := tab.graph(t, tab.random(t, m, scale), Options{Neighbors: k})
				w := tab.dense(scale, anchors, k)
				if g.Rows != n || g.M != m || g.D != 6 {
					t.Fatalf("%d rows, %d anchors, %d features", g.Rows, g.M, g.D)
				}
				b := matrix(n, m, func(i, j int) float64 { return w.z[i][j] / math.Sqrt(w.delta[j]) })
				bt := transposed(b)
				checkNear(t, "Delta", g.Delta, [][]float64{w.delta}, 1e-11)
				checkNear(t, "G", g.G.Sym, times(transposed(w.x), w.x), 1e-12)
				checkNear(t, "C", g.C, times(bt, w.x), 1e-11)
				checkNear(t, "S", g.S, times(bt, b), 1e-11)
			})
		}
	}
}

// Neither workers nor cuts nor the storage of rows change a bit.
func TestWorkersAndCutsChangeNoBit(t *testing.T) {
	const n = 700
	tab := clusters(n, 19, 2).holes()
	a := tab.random(t, 40, gram.ScaleStandard)
	want := written(t, tab.statistics(t, a, Options{Threads: 1}, n))
	for _, workers := range []int{1, 2, 8} {
		for _, height := range []int{1, 100, 256, 257, n} {
			if got := written(t, tab.statistics(t, a, Options{Threads: workers}, height)); !bytes.Equal(got, want) {
				t.Fatalf("%d workers, chunks of %d rows: other bits", workers, height)
			}
		}
	}
	dense, sparse := clusters(n, 5, 3).thinned(2)
	a = dense.random(t, 12, gram.ScaleNone)
	if !bytes.Equal(written(t, dense.statistics(t, a, Options{}, 300)), written(t, sparse.statistics(t, a, Options{}, 300))) {
		t.Error("sparse rows give other bits")
	}
}

// Statistics that share their scratch and take rows in turns equal statistics that take the same rows alone, bit for
// bit, and take less memory together.
func TestAnotherChangesNoBit(t *testing.T) {
	const n, m = 600, 30
	tab := clusters(n, 8, 4).holes()
	a := tab.random(t, m, gram.ScaleStandard)
	first := must.Get(NewStatistics(a, Options{Threads: 2}))(t)
	second := must.Get(first.Another())(t)
	one, two := must.Get(NewStatistics(a, Options{Threads: 1}))(t), must.Get(NewStatistics(a, Options{Threads: 1}))(t)
	for i := 0; i < n; i += 150 {
		for _, s := range []*Statistics{first, one} {
			tab.AddRows(t, s, i, i+100, 100)
		}
		for _, s := range []*Statistics{second, two} {
			tab.AddRows(t, s, i+100, i+150, 50)
		}
	}
	if first.work != second.work || first.work == one.work {
		t.Error("the scratch is not shared")
	}
	if !bytes.Equal(written(t, first), written(t, one)) || !bytes.Equal(written(t, second), written(t, two)) {
		t.Error("other bits")
	}
	// Another works on statistics read without their anchors too, and returns empty ones.
	read := must.Get(NewStatistics(nil, Options{}))(t)
	must.Get(read.ReadFrom(bytes.NewReader(written(t, first))))(t)
	sum := must.Get(read.Another())(t)
	must.Do(t, sum.Merge(read))
	if !bytes.Equal(written(t, sum), written(t, first)) {
		t.Error("a sum of one state has other bits")
	}
	whole := Bytes(m, 8, 5, 2)
	if SharedBytes(m, 8, 5, 2, 1) != whole || SharedBytes(m, 8, 5, 2, 3) >= 3*whole {
		t.Errorf("%d bytes, %d of three that share", whole, SharedBytes(m, 8, 5, 2, 3))
	}
}

// Merging is concatenation, up to the rounding of sums of 7 for sums of n.
func TestMergeIsConcatenation(t *testing.T) {
	const n = 600
	tab := clusters(n, 8, 4).holes()
	a := tab.random(t, 30, gram.ScaleStandard)
	whole := tab.statistics(t, a, Options{}, n)
	var parts *Statistics
	for p := range 7 {
		s := withoutRows(t, a)
		tab.AddRows(t, s, p*n/7, (p+1)*n/7, 50)
		if parts == nil {
			parts = s
			continue
		}
		before := written(t, s)
		must.Do(t, parts.Merge(s))
		if !bytes.Equal(before, written(t, s)) {
			t.Fatal("merging changed the other statistics")
		}
	}
	checkNear(t, "delta", parts.delta, [][]float64{whole.delta}, 1e-12)
	checkNear(t, "zx", parts.zx, [][]float64{whole.zx}, 1e-12)
	checkNear(t, "zz", parts.zz, [][]float64{whole.zz}, 1e-12)
	if parts.Rows != n {
		t.Errorf("%d rows", parts.Rows)
	}
}

func TestRefuses(t *testing.T) {
	tab := clusters(50, 3, 5)
	a := tab.random(t, 9, gram.ScaleStandard)
	s := tab.statistics(t, a, Options{}, 50)
	before := written(t, s)
	var usage *stream.UsageError
	for name, o := range map[string]*Statistics{
		"neighbours": must.Get(NewStatistics(a, Options{Neighbors: 4}))(t),
		"anchors":    withoutRows(t, tab.random(t, 10, gram.ScaleStandard)),
		"scaling":    withoutRows(t, tab.random(t, 9, gram.ScaleNone)),
	} {
		if err := s.Merge(o); !errors.As(err, &usage) {
			t.Errorf("other %s: %v", name, err)
		}
	}
	weighted := tab.Chunk(0, 5)
	weighted.Weight = []float64{1, 1, 1, 1, 1}
	if err := s.Add(weighted); !errors.As(err, &usage) {
		t.Errorf("weights: %v", err)
	}
	if err := s.Add(clusters(5, 4, 1).Chunk(0, 5)); err == nil {
		t.Error("other columns are added")
	}
	if !bytes.Equal(before, written(t, s)) {
		t.Error("an error changed the statistics")
	}
	if _, err := NewStatistics(a, Options{Neighbors: 9}); !errors.As(err, &usage) {
		t.Errorf("as many neighbours as anchors: %v", err)
	}
	var tight *stream.MemoryError
	if _, err := NewStatistics(a, Options{Limit: 1000}); !errors.As(err, &tight) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := emptyStatistics(t, Options{}).Add(tab.Chunk(0, 5)); err == nil {
		t.Error("rows are added without anchors")
	}
	if _, err := Random(tab.sampler(t, 5), 6, tab.standardizer(t, gram.ScaleNone), 2); !errors.As(err, &usage) {
		t.Errorf("more anchors than rows: %v", err)
	}
}

// Overflow is an error, before or at the row, and no wrong numbers can be read afterwards.
func TestOverflow(t *testing.T) {
	tab := clusters(40, 2, 6)
	var bad *stream.DataError
	s := tab.statistics(t, tab.random(t, 9, gram.ScaleNone), Options{}, 40)
	far := tab.Chunk(0, 40)
	far.Data[7] = 1e200
	if err := s.Add(far); !errors.As(err, &bad) {
		t.Fatalf("err = %v", err)
	}
	if _, err := s.WriteTo(&bytes.Buffer{}); !errors.As(err, &bad) {
		t.Errorf("written: %v", err)
	}
	large := table{tab.MapEntries(func(i, j int, _ float64) float64 { return 2e152 * float64(i%(2+j)) })}
	if _, err := Random(large.sampler(t, 39), 39, large.standardizer(t, gram.ScaleNone), 2); !errors.As(err, &bad) {
		t.Errorf("distances that overflow: %v", err)
	}
	if _, err := Random(large.sampler(t, 39), 39, large.standardizer(t, gram.ScaleStandard), 2); err != nil {
		t.Errorf("scaled: %v", err)
	}
}

// A shift of all columns changes nothing but the digits that the input itself loses:
// with x + s rounded to s·1e-16, weights move by s·1e-16 over differences of distances.
func TestShift(t *testing.T) {
	// Multiples of 2⁻²⁰: x + 1e6 is exact, and so the shifted table is the same table.
	tab := table{clusters(200, 6, 7).MapEntries(func(_, _ int, x float64) float64 { return math.Round(x*0x1p20) * 0x1p-20 })}
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		want := tab.graph(t, tab.random(t, 20, scale), Options{})
		for _, shift := range []float64{1e4, -1e6} {
			moved := tab.shifted(shift)
			got := moved.graph(t, moved.random(t, 20, scale), Options{})
			for _, x := range []struct {
				name      string
				got, want []float64
			}{{"Delta", got.Delta, want.Delta}, {"S", got.S, want.S}, {"C", got.C, want.C}, {"G", got.G.Sym, want.G.Sym}} {
				checkNear(t, fmt.Sprintf("%v%+g: %s", scale, shift, x.name), x.got, [][]float64{x.want}, 1e-11)
			}
		}
	}
}

// L1 = 0: rows of A = BBᵀ sum to 1, so B's own share of the constant vector, Δ^(1/2), is
// an eigenvector of S for 1, and Cᵀ of it, the sums of centred columns, is 0.
func TestConstantVector(t *testing.T) {
	tab := clusters(150, 5, 8).shifted(1e5)
	g := tab.graph(t, tab.random(t, 20, gram.ScaleStandard), Options{})
	root := make([]float64, g.M)
	for j, v := range g.Delta {
		root[j] = math.Sqrt(v)
	}
	for i := range g.M {
		sum := 0.0
		for j, v := range root {
			sum += g.S[i*g.M+j] * v
		}
		if math.Abs(sum-root[i]) > 1e-13*math.Sqrt(float64(g.Rows)) {
			t.Errorf("S·Δ^½ is %v at %d, want %v", sum, i, root[i])
		}
	}
	for k := range g.D {
		sum := 0.0
		for j, v := range root {
			sum += g.C[j*g.D+k] * v
		}
		if norm := math.Sqrt(g.G.Sym[k*g.D+k] * float64(g.Rows)); math.Abs(sum) > 1e-14*norm {
			t.Errorf("CᵀΔ^½ is %v at %d, %v of the column", sum, k, sum/norm)
		}
	}
}

// Permuting columns permutes the graph. Distances add up in another order, so weights
// move by rounding.
func TestPermutation(t *testing.T) {
	tab := clusters(100, 9, 9)
	order := rand.New(rand.NewPCG(1, 2)).Perm(9)
	permuted := table{tab.PermuteColumns(order)}
	g := tab.graph(t, tab.random(t, 15, gram.ScaleStandard), Options{})
	p := permuted.graph(t, permuted.random(t, 15, gram.ScaleStandard), Options{})
	back := matrix(g.M, g.D, func(i, j int) float64 { return p.C[i*g.D+order[j]] })
	checkNear(t, "S", p.S, [][]float64{g.S}, 1e-11)
	checkNear(t, "C", g.C, back, 1e-11)
}

// The graph has only columns of the Gram matrix, and stays parallel to it; a matrix that is
// not centred or of other rows is refused.
func TestGraphFollowsTheGramMatrix(t *testing.T) {
	tab := clusters(80, 6, 10)
	a := tab.random(t, 12, gram.ScaleStandard)
	all := tab.graph(t, a, Options{})
	few := tab.gram(t, gram.ScaleCenter)
	few.Keep([]bool{true, false, true, true, false, true})
	g := must.Get(tab.statistics(t, a, Options{}, 80).Graph(few))(t)
	for k, j := range []int{0, 2, 3, 5} {
		for i := range g.M {
			if g.C[i*g.D+k] != all.C[i*all.D+j] {
				t.Fatalf("C[%d,%d] differs", i, k)
			}
		}
		for l, i := range []int{0, 2, 3, 5} {
			if g.G.Sym[k*g.D+l] != all.G.Sym[j*all.D+i] {
				t.Fatalf("G[%d,%d] differs", k, l)
			}
		}
	}
	// One that is absent leaves the rest as it is, with the scale that its rows have.
	p := gram.NewProfile(6)
	must.Do(t, p.Add(tab.Chunk(0, tab.N())))
	absent := must.Get(p.Gram(tab.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(t)
	absent.Keep([]bool{true, false, true, true, false, true})
	alone := must.Get(tab.statistics(t, a, Options{}, 80).Graph(absent))(t)
	if !alone.G.Absent() || !slices.Equal(alone.C, g.C) || !slices.Equal(alone.S, g.S) {
		t.Error("C and S are others without G")
	}
	std := tab.standardizer(t, gram.ScaleStandard)
	for k, j := range []int{0, 2, 3, 5} {
		if alone.Scale[k] != std.Factor[j] {
			t.Errorf("feature %d is scaled by %v, want %v", j, alone.Scale[k], std.Factor[j])
		}
	}
	raw := tab.gram(t, gram.ScaleStandard)
	if _, err := tab.statistics(t, a, Options{}, 80).Graph(raw); err == nil {
		t.Error("a scaled Gram matrix is taken")
	}
	if _, err := withoutRows(t, a).Graph(tab.gram(t, gram.ScaleCenter)); err == nil {
		t.Error("a Gram matrix of other rows is taken")
	}
	s := tab.statistics(t, a, Options{}, 80)
	must.Get(s.Graph(tab.gram(t, gram.ScaleCenter)))(t)
	if err := s.Add(tab.Chunk(0, 4)); err == nil {
		t.Error("statistics are used after they became a graph")
	}
}

// Anchors of k-means are the same for any workers; those of FromSource are rows in the frame.
func TestAnchors(t *testing.T) {
	tab := clusters(300, 4, 11).holes()
	std := tab.standardizer(t, gram.ScaleStandard)
	first := must.Get(KMeans(t.Context(), tab.sampler(t, 200), 20, std, KMeansOptions{Seed: 3, Threads: 1}))(t)
	again, err := KMeans(t.Context(), tab.sampler(t, 200), 20, std, KMeansOptions{Seed: 3, Threads: 8})
	if err != nil || first.Digest != again.Digest || first.M != 20 || len(first.Points) != 80 {
		t.Errorf("%d anchors, %d coordinates, the same %v, err = %v", first.M, len(first.Points), first.Digest == again.Digest, err)
	}
	random := tab.random(t, 20, gram.ScaleStandard)
	fromSource, err := FromSource(t.Context(), fromRows(tab.own(t, 20)), 20, std)
	if err != nil || fromSource.Digest != random.Digest {
		t.Errorf("anchors from the drawn rows differ from the drawn anchors: %v", err)
	}
	var usage *stream.UsageError
	if _, err := FromSource(t.Context(), tab, 299, std); !errors.As(err, &usage) {
		t.Errorf("too many anchors: %v", err)
	}
	if _, err := KMeans(t.Context(), tab.sampler(t, 19), 20, std, KMeansOptions{}); !errors.As(err, &usage) {
		t.Errorf("too few rows: %v", err)
	}
	if first.Digest == random.Digest || random.Digest == tab.random(t, 19, gram.ScaleStandard).Digest {
		t.Error("other anchors have one digest")
	}
}

// Garbage is collected before points, and the sums over them, are allocated, if both do not fit.
func TestRoomIsMade(t *testing.T) {
	const m, d = 4000, 500
	std := clusters(3, d, 12).standardizer(t, gram.ScaleStandard)
	roomtest.CheckCollects(t, 8*m*d, func() { newAnchors(m, std) })
	s := &Statistics{m: m / 4, k: 5, opt: Options{Threads: 1, Limit: 1 << 30}}
	s.frame.columns = make([]int, 4*d)
	roomtest.CheckCollects(t, 8*m*d, func() { must.Do(t, s.allocateSums()) })
}

// Ten times the rows take no more bytes: a pass allocates with its first chunk, within
// Bytes.
func TestMemoryDoesNotGrowWithRows(t *testing.T) {
	tab := clusters(512, 40, 12)
	a := tab.random(t, 100, gram.ScaleStandard)
	c := tab.Chunk(0, 512)
	opt := Options{Threads: 1, Limit: Bytes(100, 40, 5, 1)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := must.Get(NewStatistics(a, opt))(t)
	sampler := NewSampler(40, SamplerOptions{Rows: 50})
	add := func() {
		must.Do(t, errors.Join(s.Add(c), sampler.Add(c)))
		c.Start += 512
	}
	add()
	runtime.ReadMemStats(&after)
	if used := int64(after.TotalAlloc - before.TotalAlloc); used > opt.Limit+SamplerBytes(50, 40) {
		t.Errorf("the first chunk took %d bytes, Bytes says %d", used, opt.Limit)
	}
	runtime.ReadMemStats(&before)
	const chunks = 40
	for range chunks {
		add()
	}
	runtime.ReadMemStats(&after)
	// Views, closures and lists of the rows that a sample of 50 still takes.
	if each := int64(after.TotalAlloc-before.TotalAlloc) / chunks; each > 4096 {
		t.Errorf("each further chunk allocates %d bytes", each)
	}
}
