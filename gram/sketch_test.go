package gram

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sketch is a sketch of the rows [from, to) of a table, added in blocks of the given height.
func (t table) sketch(tb testing.TB, opt SketchOptions, from, to, height int) *Sketch {
	s := NewSketch(len(t.Cols), opt)
	t.AddRows(tb, s, from, to, height)
	return s
}

func (t table) profile(tb testing.TB) *Profile {
	p := NewProfile(len(t.Cols))
	t.add(tb, p, 50)
	return p
}

// The naive twin: S·A of the filled and scaled rows, S one ±1 a row.
func TestSketchIsOfTheScaledRows(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		const r, seed = 192, 5
		opt := FinishOptions{Scale: scale, Fill: fill}
		p := tab.profile(t)
		std := must.Get(NewStandardizer(p, tab.Columns(), scale, fill))(t)
		n, d := tab.N(), len(std.Columns)
		a := make([]float64, n*d)
		std.To(a, n, tab.Chunk(0, n))
		want := make([]float64, d*r)
		for i := range n {
			group := splitmix.Hash(seed, uint64(i/64))
			at := int(group%3)*64 + int((uint64(i)+group>>32)%64)
			sign := 1 - 2*float64(splitmix.Hash(seed, ^uint64(i))&1)
			for k := range d {
				want[k*r+at] += sign * a[k*n+i]
			}
		}
		g := must.Get(tab.sketch(t, SketchOptions{Rows: r - 3, Seed: seed, Threads: 2}, 0, n, 13).Finish(p, tab.Columns(), opt))(t)
		if g.Rank != r-64 || g.Held.Rank != 64 || g.D != d || !slices.Equal(g.Columns, std.Columns) {
			t.Fatalf("rank %d, %d held, of %d features", g.Rank, g.Held.Rank, g.D)
		}
		for k := range d {
			norm, all := 0.0, 0.0
			for _, x := range want[k*r:][:g.Rank] {
				norm += x * x
			}
			for _, x := range a[k*n:][:n] {
				all += x * x
			}
			mend := min(max(math.Sqrt(all/norm), 0.5), 2)
			got := slices.Concat(g.Feature(nil, k), g.Held.Feature(nil, k))
			for i, x := range want[k*r:][:r] {
				// With a mean of 1e8 and a deviation of 1, the mean takes 27 of the 64 bits of a sum.
				if math.Abs(got[i]-mend*x) > 1e-6*math.Sqrt(all) {
					t.Fatalf("feature %d, row %d of the sketch: %g, want %g", k, i, got[i], mend*x)
				}
			}
		}
	})
}

// Shards add up to the sketch of the whole, to the bit, in any order, for any chunks and threads; numbers of all
// sizes come late and early.
func TestSketchesAddUp(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		tab := sample(21, 700, true, weighted)
		for i := range tab.Cols[5] {
			tab.Cols[5][i] *= math.Pow(10, float64(40*(i/100)-120)) // rises by boundaries
		}
		tab.Cols[7][699], tab.Cols[4][1], tab.Cols[6][350] = 1e300, -1e308, 5e-324
		opt := SketchOptions{Rows: 128, Seed: 3, Threads: 1}
		want := wordstest.EncodeState(t, tab.sketch(t, opt, 0, 700, 64))
		cuts := []int{0, 1, 90, 91, 200, 333, 512, 600, 700}
		random := rand.New(rand.NewPCG(1, 1))
		for try := range 5 {
			order := random.Perm(8)
			if try == 0 {
				slices.Sort(order)
			}
			sum := NewSketch(len(tab.Cols), opt)
			for _, k := range order {
				opt.Threads = 1 + k%3
				must.Do(t, sum.Merge(tab.sketch(t, opt, cuts[k], cuts[k+1], 7+5*k)))
			}
			if !bytes.Equal(wordstest.EncodeState(t, sum), want) {
				t.Fatalf("weighted %v, shards in order %v: other bits", weighted, order)
			}
		}
	}
}

// Rows given by their entries are the rows themselves.
func TestSketchOfSparseRows(t *testing.T) {
	tab := sample(4, 300, false, true)
	for _, col := range tab.Cols {
		for i := range col {
			if (i*7)%5 > 1 {
				col[i] = 0
			}
		}
	}
	opt := SketchOptions{Rows: 128, Seed: 9, Threads: 3}
	dense, sparse := NewSketch(len(tab.Cols), opt), NewSketch(len(tab.Cols), opt)
	for from := 0; from < 300; from += 60 {
		must.Do(t, dense.Add(tab.Chunk(from, from+60)))
		must.Do(t, sparse.Add(tab.sparse(from, from+60)))
	}
	if !bytes.Equal(wordstest.EncodeState(t, dense), wordstest.EncodeState(t, sparse)) {
		t.Error("other bits")
	}
}

// An entry of the Gram matrix is estimated without bias, with a standard deviation of at most
// √((‖x‖²‖y‖² + (xᵀy)²)/r) of a sketch of r rows, of which an eighth is held back.
func TestSketchEstimates(t *testing.T) {
	tab := sample(8, 2000, false, false)
	const r, seeds = 512, 200
	p := tab.profile(t)
	exact := finish(t, tab.moments(t, Options{}, 200), tab, ScaleCenter, FillMean)
	d := exact.D
	sum, squares := make([]float64, d*d), make([]float64, d*d)
	for seed := range uint64(seeds) {
		g := must.Get(tab.sketch(t, SketchOptions{Rows: r, Seed: seed, Threads: 2}, 0, 2000, 500).Finish(p, tab.Columns(), FinishOptions{Scale: ScaleCenter}))(t)
		for i := range d {
			if want := exact.At(i, i); math.Abs(g.At(i, i)-want) > 1e-9*want {
				t.Fatalf("the diagonal has %g, want %g", g.At(i, i), want)
			}
			for j := range d {
				off := (g.At(i, j) - exact.At(i, j)) / math.Sqrt(exact.At(i, i)*exact.At(j, j))
				sum[i*d+j] += off
				squares[i*d+j] += off * off
			}
		}
	}
	for e := range sum {
		mean, std := sum[e]/seeds, math.Sqrt(squares[e]/seeds)
		if bound := math.Sqrt(2.0 / (r * 7 / 8)); std > 1.2*bound || math.Abs(mean) > 5*bound/math.Sqrt(seeds) {
			t.Errorf("entry (%d, %d): off by %.4f on average, %.4f as a rule; the bound is %.4f", e/d, e%d, mean, std, bound)
		}
	}
}

func TestSketchRefuses(t *testing.T) {
	tab := sample(2, 100, true, false)
	opt := SketchOptions{Rows: 128, Seed: 1, Threads: 1}
	s := tab.sketch(t, opt, 0, 100, 20)
	for name, o := range map[string]*Sketch{
		"columns": NewSketch(3, opt), "rows": NewSketch(8, SketchOptions{Rows: 192, Seed: 1}), "seed": NewSketch(8, SketchOptions{Rows: 128, Seed: 2}),
	} {
		if s.Merge(o) == nil {
			t.Errorf("%s: merged", name)
		}
	}
	if s.Add(&stream.Chunk{Cols: 3}) == nil {
		t.Error("a chunk of other columns was added")
	}
	if _, err := s.Finish(tab.profile(t), tab.Columns(), FinishOptions{Fill: FillPairwise}); err == nil {
		t.Error("a sketch has no pairs")
	}
	opt.Limit = SketchBytes(8, 3, 128)
	small := NewSketch(8, opt)
	if err := small.Add(tab.Chunk(0, 100)); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("err = %v", err)
	}
	must.Do(t, small.Add(sample(2, 100, false, false).Chunk(0, 100)))
}

func TestSketchEncode(t *testing.T) {
	tab := sample(3, 200, true, true)
	for name, s := range map[string]*Sketch{
		"rows": tab.sketch(t, SketchOptions{Rows: 128, Seed: 1 << 63}, 0, 200, 40), "none": NewSketch(4, SketchOptions{Rows: 64}),
	} {
		t.Run(name, func(t *testing.T) {
			wordstest.CheckState(t, s, func() wordstest.State { return NewSketch(0, SketchOptions{}) })
		})
	}
}
