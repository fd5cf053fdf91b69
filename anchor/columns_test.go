package anchor

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// entriesOf is a sample of the table's rows by their entries, taken in chunks of the given height.
func (t table) entriesOf(tb testing.TB, rows, height int) *Sampler {
	s := NewSampler(len(t.Cols), SamplerOptions{Rows: rows, Seed: 1, Entries: true})
	t.AddRows(tb, s, 0, t.N(), height)
	return s
}

// byColumns is the graph of a sparse table that has C by its columns.
func (t table) byColumns(tb testing.TB, a *Anchors, threads, height int) *Graph {
	tb.Helper()
	p := gram.NewProfile(len(t.Cols))
	t.AddRows(tb, p, 0, t.N(), 64)
	s := t.statistics(tb, a, Options{Threads: threads, Entries: p.Present}, height)
	return must.Get(s.Graph(must.Get(p.Gram(t.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(tb)))(tb)
}

// matrix is C by its columns, row-major.
func (c *Columns) matrix() []float64 {
	out, column := make([]float64, c.M*c.D), make([]float64, c.M)
	for j := range c.D {
		c.ColumnTo(column, j)
		for a, v := range column {
			out[a*c.D+j] = v
		}
	}
	return out
}

// Anchors drawn from entries equal anchors drawn from rows, for any chunks.
func TestThinAnchors(t *testing.T) {
	tab := thinRows(200, minThinFeatures+300)
	sparse := tab
	sparse.Sparse = true
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		want := tab.random(t, 60, scale)
		for _, height := range []int{1, 7, 200} {
			got := must.Get(Random(sparse.entriesOf(t, 60, height), 60, tab.standardizer(t, scale), 2))(t)
			if got.M != 60 || got.D != want.D || got.Points != nil || got.isThin() != true {
				t.Fatalf("%d×%d anchors", got.M, got.D)
			}
			points := make([]float64, got.M*got.D)
			for j := range got.M {
				at, value := got.thinRow(j)
				for e, k := range at {
					points[j*got.D+int(k)] = value[e]
				}
			}
			if !slices.Equal(points, want.Points) {
				t.Errorf("%v, chunks of %d: other points", scale, height)
			}
		}
	}
}

// A sample of entries holds at most EntriesBytes, and refuses more, and dense rows.
func TestThinSample(t *testing.T) {
	tab := thinRows(300, minThinFeatures)
	tab.Sparse = true
	s := tab.entriesOf(t, 40, 64)
	kept := int64(0)
	for _, r := range s.rows {
		kept += int64(len(r.entries.value))
	}
	if most := EntriesBytes(40, kept); s.entryBytes+40*128 > most {
		t.Errorf("%d entries take %d bytes, said are %d", kept, s.entryBytes, most)
	}
	tight := NewSampler(len(tab.Cols), SamplerOptions{Rows: 40, Seed: 1, Entries: true, Limit: EntriesBytes(40, 0) + s.entryBytes/2})
	if err := tight.Add(tab.Chunk(0, 300)); err == nil {
		t.Error("a sample beyond its limit")
	}
	tab.Sparse = false
	if err := NewSampler(len(tab.Cols), SamplerOptions{Entries: true}).Add(tab.Chunk(0, 3)); err == nil {
		t.Error("entries of dense rows")
	}
}

// C by its columns is the matrix, to rounding, and the same bits for any chunks and threads; so is all
// that is made of it. Some columns are lists, and some in full.
func TestColumns(t *testing.T) {
	const n, m = 400, 60
	tab := thinRows(n, minThinFeatures+300)
	for i := range n { // in most rows, about a mean of 0
		tab.Cols[5][i] = float64(i%3 - 1)
	}
	sparse := tab
	sparse.Sparse = true
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		want := tab.graph(t, tab.random(t, m, scale), Options{})
		a := must.Get(Random(sparse.entriesOf(t, m, 64), m, tab.standardizer(t, scale), 2))(t)
		first := sparse.byColumns(t, a, 1, n)
		c := first.Columns
		lists, full := 0, 0
		for j := range c.D {
			if _, _, column := c.List(j); column != nil {
				full++
			} else {
				lists++
			}
		}
		if lists == 0 || full < 5 || first.C != nil {
			t.Fatalf("%d lists, %d in full", lists, full)
		}
		bits := c.matrix()
		for _, height := range []int{1, 37, n} {
			for _, threads := range []int{1, 3} {
				again := sparse.byColumns(t, a, threads, height)
				if !slices.Equal(again.Columns.matrix(), bits) || !slices.Equal(again.S, first.S) || !slices.Equal(again.Delta, first.Delta) {
					t.Errorf("%v, chunks of %d, %d threads: other bits", scale, height, threads)
				}
			}
		}
		largest := 0.0
		for _, x := range want.C {
			largest = max(largest, math.Abs(x))
		}
		// n·K weights of squared distances, each of fewer than d terms: all roundings together.
		tol := n * float64(c.D) * 0x1p-52
		near := func(what string, got, want []float64, tol float64) {
			t.Helper()
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= tol) {
					t.Fatalf("%v: %s[%d] is %v, want %v", scale, what, i, got[i], want[i])
				}
			}
		}
		near("C", bits, want.C, tol*largest)
		near("S", first.S, want.S, tol)

		// Products, compared with the matrix's.
		r := rand.New(rand.NewPCG(1, 2))
		x, v := make([]float64, m), kernel.RowMajor(make([]float64, 3*m), 3, m, m)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range v.Data {
			v.Data[i] = r.NormFloat64()
		}
		own := make([]float64, c.D)
		for a, z := range x {
			kernel.Axpy(z, bits[a*c.D:][:c.D], own)
		}
		mapped := make([]float64, 3*c.D)
		kernel.Gemm(kernel.NewTeam(1), 1, v, kernel.RowMajor(bits, m, c.D, c.D), kernel.RowMajor(mapped, 3, c.D, c.D))
		for _, threads := range []int{1, 3} {
			y, vc := make([]float64, c.D), make([]float64, 3*c.D)
			c.AddProduct(threads, x, y)
			c.Map(threads, v.Rows, v.Data, func(j int, out []float64) {
				for i, z := range out {
					vc[i*c.D+j] = z
				}
			})
			// m products of numbers of which few are above 4, and the mean part of each column.
			near("Cᵀx", y, own, 32*m*0x1p-53*largest*math.Sqrt(n))
			near("VC", vc, mapped, 32*m*0x1p-53*largest*math.Sqrt(n))
		}

		// A subset of the features.
		some := []int{0, 5, 9, c.D - 1}
		c.keepFeatures(some)
		kept := c.matrix()
		for a := range m {
			for k, j := range some {
				if kept[a*len(some)+k] != bits[a*want.D+j] {
					t.Fatalf("feature %d is another", j)
				}
			}
		}
	}
}

// Points among themselves have the same graph by their entries.
func TestAmongThin(t *testing.T) {
	const n, d = 90, 700
	tab := thinRows(n, d)
	points := &stream.CSR{RowPtr: []int{0}}
	dense := make([]float64, n*d)
	for i := range n {
		for j := range d {
			if x := tab.Cols[j][i]; x != 0 && x == x {
				dense[i*d+j] = x
				points.Index, points.Value = append(points.Index, int32(j)), append(points.Value, x)
			}
		}
		points.RowPtr = append(points.RowPtr, len(points.Index))
	}
	want := must.Get(Among(dense, n, d, Options{}))(t)
	got := must.Get(AmongThin(points, d, Options{Threads: 2}))(t)
	checkNear(t, "C", got.Columns.matrix(), matrix(n, d, func(a, j int) float64 { return want.C[a*d+j] }), 1e-12)
	checkNear(t, "S", got.S, matrix(n, n, func(a, b int) float64 { return want.S[a*n+b] }), 1e-12)
	if got.Rows != n || got.D != d {
		t.Errorf("%d rows of %d features", got.Rows, got.D)
	}
	if _, err := AmongThin(&stream.CSR{RowPtr: make([]int, 4)}, d, Options{}); err == nil {
		t.Error("a graph of three points")
	}
}

// Statistics by entries hold at most ThinBytes, and refuse a lower limit, dense rows, and rows of more entries.
func TestColumnsBytes(t *testing.T) {
	const n, m = 3000, 200
	tab := thinRows(n, 4*minThinFeatures)
	sparse := tab
	sparse.Sparse = true
	a := must.Get(Random(sparse.entriesOf(t, m, 64), m, tab.standardizer(t, gram.ScaleStandard), 2))(t)
	p := gram.NewProfile(len(tab.Cols))
	sparse.AddRows(t, p, 0, n, 64)
	limit := ThinBytes(m, a.D, DefaultNeighbors, 2, int64(len(a.Thin.Index)), p.Entries)
	var before, after runtime.MemStats
	chunk := sparse.Chunk(0, n)
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := must.Get(NewStatistics(a, Options{Entries: p.Present, Limit: limit, Threads: 2}))(t)
	must.Do(t, s.Add(chunk))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > limit {
		t.Errorf("holds %d bytes, said are %d", held, limit)
	}
	runtime.KeepAlive(s)
	if _, err := NewStatistics(a, Options{Entries: p.Present, Limit: 8 * m * m}); err == nil || !strings.Contains(err.Error(), "graph of 200 anchors") {
		t.Errorf("below its memory: %v", err)
	}
	if err := s.Add(tab.Chunk(0, 3)); err == nil {
		t.Error("dense rows")
	}
	if err := s.Add(chunk); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("more entries than counted: %v", err)
	}
}

// TestThinGoesOn: statistics that keep C by its columns, written halfway and read into others made alike, end in the
// same bits, and are read into no others.
func TestThinGoesOn(t *testing.T) {
	tab := thinRows(120, minThinFeatures+300)
	tab.Sparse = true
	a := must.Get(Random(tab.entriesOf(t, 40, 120), 40, tab.standardizer(t, gram.ScaleStandard), 2))(t)
	p := gram.NewProfile(len(tab.Cols))
	tab.AddRows(t, p, 0, tab.N(), 64)
	empty := func() *Statistics { return must.Get(NewStatistics(a, Options{Threads: 2, Entries: p.Present}))(t) }
	whole := written(t, tab.statistics(t, a, Options{Entries: p.Present}, 30))
	for _, cut := range []int{0, 45, 120} {
		begun, s := empty(), empty()
		tab.AddRows(t, begun, 0, cut, 15)
		saved := written(t, begun)
		must.Get(s.ReadFrom(bytes.NewReader(saved)))(t)
		tab.AddRows(t, s, cut, 120, 40)
		if !bytes.Equal(written(t, s), whole) {
			t.Fatalf("cut at %d: other bits", cut)
		}
		for _, at := range []int{8, len(saved) / 2, len(saved) - 1} {
			if _, err := empty().ReadFrom(bytes.NewReader(saved[:at])); err == nil {
				t.Errorf("cut off at %d: no error", at)
			}
		}
		if _, err := must.Get(NewStatistics(nil, Options{}))(t).ReadFrom(bytes.NewReader(saved)); err == nil {
			t.Error("read into statistics that keep C as a matrix")
		}
	}
}
