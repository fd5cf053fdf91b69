package survey

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tableOf has the moments of the rows themselves.
func tableOf(x []float64, n, d int) *Table {
	t := &Table{Rows: n, Cols: d, Values: x, Columns: make([]Column, d)}
	for j := range t.Columns {
		c := &t.Columns[j]
		*c = Column{Min: math.Inf(1), Max: math.Inf(-1)}
		for i := range n {
			v := x[i*d+j]
			c.Mean += v / float64(n)
			c.Min, c.Max = min(c.Min, v), max(c.Max, v)
		}
		for i := range n {
			c.Std += (x[i*d+j] - c.Mean) * (x[i*d+j] - c.Mean) / float64(n)
		}
		c.Std = math.Sqrt(c.Std)
		if c.Min == c.Max {
			c.Std = 0
		}
	}
	return t
}

// makeLake makes n rows of factors, each in 3 to 9 sensors, beside noise columns of noise; group is the factor of a
// column, -1 of noise. clusters > 0 gives the factors other means in each cluster.
func makeLake(seed uint64, n, factors, noise, clusters int, apart bool) (*Table, []int) {
	r := rand.New(rand.NewPCG(seed, 7))
	f := make([]float64, n*factors)
	centre := make([]float64, max(clusters, 1)*factors)
	for i := range centre {
		centre[i] = 2 * r.NormFloat64()
	}
	for i := range n {
		for k := range factors {
			f[i*factors+k] = r.NormFloat64()
			if clusters > 0 {
				f[i*factors+k] = f[i*factors+k]/2 + centre[i%clusters*factors+k]
			}
		}
	}
	var group []int
	for k := range factors {
		for range 3 + r.IntN(7) {
			group = append(group, k)
		}
	}
	for range noise {
		group = append(group, -1)
	}
	d := len(group)
	x := make([]float64, n*d)
	for j, k := range group {
		scale, shift, rho := 1.0, 0.0, 0.9+r.Float64()/20
		if apart {
			scale = math.Pow(10, 7*r.Float64()-3)
			shift = scale * (7*r.Float64() - 1)
		}
		for i := range n {
			v := r.NormFloat64()
			if k >= 0 {
				v = rho*f[i*factors+k] + math.Sqrt(1-rho*rho)*v
			}
			x[i*d+j] = shift + scale*v
		}
	}
	return tableOf(x, n, d), group
}

func lookAt(t *testing.T, table *Table, opt Options) *Survey {
	t.Helper()
	return must.Get(ExamineTable(context.Background(), table, opt))(t)
}

// A lake of factors has no clusters beyond them, its columns of noise stay out, and its units are seen.
func TestLakes(t *testing.T) {
	for _, c := range []struct {
		factors, clusters int
		apart             bool
	}{{3, 0, false}, {6, 0, true}, {12, 0, false}, {12, 0, true}, {12, 5, true}, {12, 5, false}} {
		table, group := makeLake(uint64(c.factors), 1000, c.factors, 20, c.clusters, c.apart)
		s := lookAt(t, table, Options{Anchors: 500})
		if want := map[bool]Unit{false: Shared, true: Differing}[c.apart]; s.Unit != want {
			t.Errorf("%+v: unit %v, want %v", c, s.Unit, want)
		}
		if s.Clusters.Trusted != (c.clusters > 0) || !s.Dependence.Trusted {
			t.Errorf("%+v: clusters %+v, dependence %+v", c, s.Clusters, s.Dependence)
		}
		out := 0
		for _, j := range s.Noise {
			if group[j] >= 0 {
				t.Errorf("%+v: column %d of factor %d is taken for noise", c, j, group[j])
			}
			out++
		}
		if out < 18 {
			t.Errorf("%+v: %d of 20 columns of noise stayed out", c, out)
		}
	}
}

// The answer does not depend on the number of threads.
func TestThreads(t *testing.T) {
	table, _ := makeLake(1, 300, 8, 20, 5, false)
	want := lookAt(t, table, Options{Threads: 1})
	got := lookAt(t, table, Options{Threads: 3})
	if got.Clusters != want.Clusters || got.Norm != want.Norm {
		t.Errorf("3 threads have %+v and %v, 1 has %+v and %v", got.Clusters, got.Norm, want.Clusters, want.Norm)
	}
	for j, share := range got.Shares {
		if share != want.Shares[j] {
			t.Errorf("column %d: 3 threads have a share of %v, 1 has %v", j, share, want.Shares[j])
		}
	}
}

// makeClasses makes n rows of classes that informative columns follow, each on its own, beside loud directions of
// several columns that tell nothing, and noise.
func makeClasses(seed uint64, n, informative, loud, noise int) *Table {
	r := rand.New(rand.NewPCG(seed, 3))
	d := informative + 10*loud + noise
	centre := make([]float64, 6*informative)
	for i := range centre {
		centre[i] = r.NormFloat64()
	}
	x := make([]float64, n*d)
	for i := range n {
		row := x[i*d:][:d]
		for j := range row {
			row[j] = r.NormFloat64()
			if j < informative {
				row[j] = 0.95*centre[i%6*informative+j] + 0.3*row[j]
			}
		}
		for l := range loud {
			v := 2 * r.NormFloat64()
			for j := range 10 {
				row[informative+10*l+j] = v + row[informative+10*l+j]/2
			}
		}
	}
	return tableOf(x, n, d)
}

// Columns of clusters have the largest shares, beside louder directions and noise, which a graph of all columns
// follows: without the surrogate's weights the loud ones are first.
func TestLoudDirectionsTellNothing(t *testing.T) {
	const informative = 15
	for seed := range uint64(3) {
		s := lookAt(t, makeClasses(seed, 400, informative, 3, 40), Options{})
		if !s.Clusters.Trusted || s.Greedy {
			t.Errorf("seed %d: clusters %+v, greedy %v", seed, s.Clusters, s.Greedy)
		}
		least, most := 1.0, 0.0
		for j, share := range s.Shares {
			if j < informative {
				least = min(least, share)
			} else {
				most = max(most, share)
			}
		}
		if least < most {
			t.Errorf("seed %d: a column of clusters has a share of %v, one of none %v", seed, least, most)
		}
	}
}

// Flags of 0 and 1 that are random, a rare one and a coin, are noise and have no share.
func TestRandomFlagsAreNoise(t *testing.T) {
	table, _ := makeLake(2, 600, 8, 10, 4, true)
	r := rand.New(rand.NewPCG(4, 4))
	d := table.Cols + 2
	x := make([]float64, 0, table.Rows*d)
	for i := range table.Rows {
		x = append(x, table.Values[i*table.Cols:][:table.Cols]...)
		for _, chance := range []float64{0.02, 0.5} {
			flag := 0.0
			if r.Float64() < chance {
				flag = 1
			}
			x = append(x, flag)
		}
	}
	s := lookAt(t, tableOf(x, table.Rows, d), Options{})
	for _, j := range []int{d - 2, d - 1} {
		if !slices.Contains(s.Noise, j) || s.Shares[j] != 0 {
			t.Errorf("flag %d has a share of %v; noise is %v", j, s.Shares[j], s.Noise)
		}
	}
}

// makeWords makes counts of 300 words, of which each of 4 topics has 30 that are frequent in its rows.
func makeWords(n int) *Table {
	r := rand.New(rand.NewPCG(6, 6))
	return columnsOf(n, 300, func(i, j int) float64 {
		chance := 0.02
		if j < 120 && j/30 == i%4 {
			chance = 0.15
		}
		count, length := 0.0, 1+i%3
		for range length {
			if r.Float64() < chance {
				count++
			}
		}
		return count
	})
}

func makeThin(table *Table) *Table {
	t := &Table{Rows: table.Rows, Cols: table.Cols, Columns: table.Columns, Thin: &stream.CSR{RowPtr: []int{0}}}
	for i := range t.Rows {
		for j, v := range table.Values[i*t.Cols:][:t.Cols] {
			if v != 0 {
				t.Thin.Index, t.Thin.Value = append(t.Thin.Index, int32(j)), append(t.Thin.Value, v)
			}
		}
		t.Thin.RowPtr = append(t.Thin.RowPtr, len(t.Thin.Value))
	}
	return t
}

// Counts go by the cosine, the words of topics have the largest shares, and sparse rows give the same as dense ones.
func TestCounts(t *testing.T) {
	table := makeWords(200)
	s := lookAt(t, table, Options{})
	if s.Unit != Counts || !s.Cosine || s.Scale.String() != "none" || s.Greedy {
		t.Errorf("unit %d, cosine %v, scale %v, greedy %v", s.Unit, s.Cosine, s.Scale, s.Greedy)
	}
	topics, others := 0.0, 0.0
	for j, share := range s.Shares {
		if j < 120 {
			topics += share / 120
		} else {
			others += share / 180
		}
	}
	if topics < 1.5*others {
		t.Errorf("words of topics have shares of %v in the mean, others %v", topics, others)
	}
	got := lookAt(t, makeThin(table), Options{Threads: 3})
	if got.Norm != s.Norm {
		t.Errorf("sparse rows have a kernel of norm %v, dense ones of %v", got.Norm, s.Norm)
	}
	for j, share := range got.Shares {
		if share != s.Shares[j] {
			t.Errorf("column %d: sparse rows have a share of %v, dense ones of %v", j, share, s.Shares[j])
		}
	}
	longer := lookAt(t, columnsOf(table.Rows, table.Cols, func(i, j int) float64 {
		return table.Values[i*table.Cols+j] * float64(1+i%3)
	}), Options{})
	if math.Abs(longer.Norm/s.Norm-1) > 1e-9 { // rows of other lengths have the same directions
		t.Errorf("rows of other lengths have a kernel of norm %v, want %v", longer.Norm, s.Norm)
	}
}

// The order of the columns changes rounding alone.
func TestOrderOfColumns(t *testing.T) {
	table := makeClasses(3, 150, 10, 1, 30)
	d := table.Cols
	back := columnsOf(table.Rows, d, func(i, j int) float64 { return table.Values[i*d+d-1-j] })
	want, got := lookAt(t, table, Options{}), lookAt(t, back, Options{})
	if len(got.Noise) != len(want.Noise) || got.Unit != want.Unit {
		t.Errorf("backwards: %d columns of noise, unit %d, want %d, %d", len(got.Noise), got.Unit, len(want.Noise), want.Unit)
	}
	for j, v := range got.Shares {
		// Eigenvectors of sums in another order differ by their rounding over the gaps of eigenvalues.
		if w := want.Shares[d-1-j]; math.Abs(v-w) > 1e-6 {
			t.Errorf("column %d: %v backwards, want %v", d-1-j, v, w)
		}
	}
}

// Small, constant, wide and huge tables have a survey all the same.
func TestEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for name, table := range map[string]*Table{
		"no rows":           {Cols: 2, Columns: make([]Column, 2)},
		"one row":           columnsOf(1, 5, func(i, j int) float64 { return float64(j) }),
		"three rows":        columnsOf(3, 2000, func(i, j int) float64 { return r.NormFloat64() }),
		"six rows":          columnsOf(6, 5, func(i, j int) float64 { return r.NormFloat64() }),
		"seven rows, wide":  columnsOf(7, 20000, func(i, j int) float64 { return r.NormFloat64() }),
		"equal rows":        columnsOf(30, 50, func(i, j int) float64 { return float64(j * (i / 29)) }),
		"constant columns":  columnsOf(30, 50, func(i, j int) float64 { return float64(j) }),
		"one that varies":   columnsOf(30, 50, func(i, j int) float64 { return float64(i * (j / 49)) }),
		"one column":        columnsOf(30, 1, func(i, j int) float64 { return r.NormFloat64() }),
		"copies":            columnsOf(30, 50, func(i, j int) float64 { return float64(i%7) * float64(1+j) }),
		"empty counts":      makeThin(columnsOf(30, 50, func(i, j int) float64 { return 0 })),
		"one word":          makeThin(columnsOf(30, 50, func(i, j int) float64 { return float64(i % 2 * (j / 49)) })),
		"values near 1e300": columnsOf(30, 50, func(i, j int) float64 { return 1e300 * r.NormFloat64() }),
		"values near 1e70":  columnsOf(30, 50, func(i, j int) float64 { return 1e70 * r.NormFloat64() }),
	} {
		s, err := ExamineTable(t.Context(), table, Options{})
		if err != nil {
			t.Errorf("looking at %s: %v", name, err)
			continue
		}
		for j, share := range s.Shares {
			if !(share >= 0 && share <= 1) || share > 0 && !table.Columns[j].isUsable() {
				t.Errorf("%s: column %d has a share of %v", name, j, share)
				break
			}
		}
	}
}

// A context that has ended ends it.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, table := range map[string]*Table{"dense": makeClasses(1, 50, 5, 1, 5), "counts": makeWords(50)} {
		if _, err := ExamineTable(ctx, table, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("looking at %s: %v", name, err)
		}
	}
}
