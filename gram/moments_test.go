package gram

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
)

var scales = []Scale{ScaleNone, ScaleCenter, ScaleMinMax, ScaleUnit, ScaleStandard, ScalePareto}

// everyCase runs f for every scale, fill, missing pattern and weighting.
func everyCase(t *testing.T, f func(t *testing.T, tab table, scale Scale, fill Fill)) {
	for _, missing := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			tab := sample(1, 61, missing, weighted)
			for _, scale := range scales {
				for _, fill := range []Fill{FillMean, FillZero} {
					if !missing && fill == FillZero {
						continue
					}
					t.Run(fmt.Sprintf("%v/%v/missing=%v/weighted=%v", scale, fill, missing, weighted), func(t *testing.T) {
						f(t, tab, scale, fill)
					})
				}
			}
		}
	}
}

func finish(tb testing.TB, m *Moments, tab table, scale Scale, fill Fill) *Gram {
	tb.Helper()
	return must.Get(m.Finish(tab.Columns(), FinishOptions{Scale: scale, Fill: fill}))(tb)
}

func TestFinishIsTheTwins(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		ref := tab.reference(scale, fill)
		for _, height := range []int{1, 7, 61} {
			g := finish(t, tab.moments(t, Options{}, height), tab, scale, fill)
			if !slices.Equal(g.Columns, ref.kept) {
				t.Fatalf("columns %v, want %v", g.Columns, ref.kept)
			}
			ref.near(t, tab.N(), g.Sym)
			for k := range ref.kept {
				// As in near: the mean and the deviation are sums about the pilot.
				tol := 100 * 0x1p-52 * (1 + ref.condition[k])
				if !(math.Abs(g.Mean[k]-ref.mean[k]) <= tol*(ref.std[k]+math.Abs(ref.mean[k]))) || !(math.Abs(g.Std[k]/ref.std[k]-1) <= tol) {
					t.Fatalf("column %d: mean %g, sd %g, want %g, %g", k, g.Mean[k], g.Std[k], ref.mean[k], ref.std[k])
				}
			}
		}
	})
}

// Widths cross the products' tiles and heights the packed rows; any number of
// workers gives the same bits.
func TestWorkers(t *testing.T) {
	for _, d := range []int{1, 2, 63, 64, 65, 133} {
		for _, sparse := range []bool{false, true} {
			tab := wide(d, stripRows+3, !sparse)
			var want []byte
			var sym []float64
			for _, workers := range []int{1, 2, 8} {
				m := NewMoments(d, Options{Threads: workers})
				c := tab.Chunk(0, tab.N())
				if sparse {
					c = tab.sparse(0, tab.N())
				}
				must.Do(t, m.Add(c))
				got := encode(t, m)
				g := finish(t, m, tab, ScaleStandard, FillMean)
				if want == nil {
					want, sym = got, g.Sym
				} else if !bytes.Equal(want, got) || !slices.Equal(sym, g.Sym) {
					t.Fatalf("d=%d sparse=%v: %d workers give other bits", d, sparse, workers)
				}
			}
		}
	}
}

// wide is sample's columns repeated to any width, with many zeros.
func wide(d, n int, missing bool) (t table) {
	for len(t.Cols) < d {
		s := sample(uint64(len(t.Cols)), n, missing, true)
		t.Weight = s.Weight
		t.Cols = append(t.Cols, s.MapEntries(func(i, j int, x float64) float64 {
			if i%3 != j%3 && x == x {
				return 0
			}
			return x
		}).Cols...)
	}
	t.Cols = t.Cols[:d]
	return t
}

// Packed in pieces or not, sums over more rows than one packing holds agree with the twin.
func TestPackedRows(t *testing.T) {
	for _, n := range []int{stripRows - 1, stripRows, stripRows + 1, 2*stripRows + 5} {
		tab := sample(3, n, true, true)
		ref := tab.reference(ScaleStandard, FillMean)
		ref.near(t, n, finish(t, tab.moments(t, Options{}, n), tab, ScaleStandard, FillMean).Sym)
	}
}

// A row of weight 2 is two rows.
func TestWeightIsRepetition(t *testing.T) {
	tab := sample(4, 30, true, false)
	var repeated table
	tab.Weight = make([]float64, 30)
	for i := range tab.Weight {
		tab.Weight[i] = float64(1 + i%3)
	}
	for _, col := range tab.Cols {
		var out []float64
		for i, x := range col {
			for range 1 + i%3 {
				out = append(out, x)
			}
		}
		repeated.Cols = append(repeated.Cols, out)
	}
	for _, scale := range scales {
		ref := repeated.reference(scale, FillMean)
		ref.near(t, 60, finish(t, tab.moments(t, Options{}, 30), tab, scale, FillMean).Sym)
	}
}

// A mean of 1e8 with a spread of 1 costs the digits of the input, not their squares:
// the offset table holds x + 1e8 rounded to 1.5e-8, so correlations move by that.
func TestPilotKeepsDigits(t *testing.T) {
	tab := sample(5, 200, false, false)
	tab.Cols = [][]float64{tab.Cols[0], tab.Cols[4]}
	far := table{tab.MapEntries(func(_, _ int, x float64) float64 { return 1e8 + x })}
	near := finish(t, tab.moments(t, Options{}, 64), tab, ScaleStandard, FillMean)
	got := finish(t, far.moments(t, Options{}, 64), far, ScaleStandard, FillMean)
	for i := range got.Sym {
		if !(math.Abs(got.Sym[i]-near.Sym[i]) <= 200*1.5e-8) {
			t.Fatalf("%d: %g, want %g", i, got.Sym[i], near.Sym[i])
		}
	}
	far.reference(ScaleStandard, FillMean).near(t, 200, got.Sym)
}

// Permuting columns permutes the Gram matrix, bit for bit: no entry depends on where
// in which tile it is computed. So copies of a column tie exactly.
func TestPermutation(t *testing.T) {
	const d = 133
	tab := wide(d, 50, true)
	tab.Cols[100] = slices.Clone(tab.Cols[2])
	order := rand.New(rand.NewPCG(1, 2)).Perm(d)
	permuted := table{tab.PermuteColumns(order)}
	for _, scale := range scales {
		for _, fill := range []Fill{FillMean, FillZero} {
			g := finish(t, tab.moments(t, Options{}, 20), tab, scale, fill)
			p := finish(t, permuted.moments(t, Options{}, 20), permuted, scale, fill)
			if g.D != d || p.D != d {
				t.Fatalf("%d and %d columns kept", g.D, p.D)
			}
			for i := range d {
				for j := range d {
					if g.Sym[i*d+j] != p.Sym[order[i]*d+order[j]] {
						t.Fatalf("%v, %v: [%d,%d] differs", scale, fill, i, j)
					}
				}
				if g.Sym[2*d+i] != g.Sym[100*d+i] {
					t.Fatalf("%v, %v: copies differ at %d", scale, fill, i)
				}
			}
		}
	}
}

func TestFinishWithoutData(t *testing.T) {
	constant := table{tabletest.Table{Cols: [][]float64{{1, 1}, {2, 2}}}}
	for name, m := range map[string]*Moments{
		"no rows":           NewMoments(2, Options{}),
		"no columns":        NewMoments(0, Options{}),
		"constant columns":  constant.moments(t, Options{}, 2),
		"no usable columns": constant.moments(t, Options{}, 1),
	} {
		var bad *stream.DataError
		if _, err := m.Finish(constant.Columns(), FinishOptions{}); !errors.As(err, &bad) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestLimit(t *testing.T) {
	tab := sample(7, 40, true, false)
	d := len(tab.Cols)
	var tight *stream.MemoryError
	m := NewMoments(d, Options{Limit: Bytes(d, 0) - 1})
	if err := m.Add(tab.Chunk(0, 10)); !errors.As(err, &tight) || tight.Need <= tight.Limit {
		t.Fatalf("err = %v", err)
	}
	full := tab.moments(t, Options{}, 40)
	m = NewMoments(d, Options{Limit: Bytes(d, len(full.missing)) - 1})
	must.Do(t, m.Add(tab.Chunk(1, 2)))
	before := encode(t, m)
	if err := m.Add(tab.Chunk(0, 40)); !errors.As(err, &tight) {
		t.Fatalf("err = %v", err)
	}
	if err := m.Merge(full); !errors.As(err, &tight) {
		t.Fatalf("err = %v", err)
	}
	if _, err := m.ReadFrom(bytes.NewReader(encode(t, full))); !errors.As(err, &tight) {
		t.Fatalf("err = %v", err)
	}
	if !bytes.Equal(before, encode(t, m)) {
		t.Error("a failed step changed the state")
	}
	if err := NewMoments(d, Options{Limit: Bytes(d, len(full.missing))}).Merge(full); err != nil {
		t.Errorf("merging within the exact limit: %v", err)
	}
}

func TestDroppedRowsAreCounted(t *testing.T) {
	tab := sample(8, 12, false, false)
	c := tab.Chunk(0, 12)
	c.Block = 20
	c.Missing[3] = stream.MissingCount{Nulls: 5, NaNs: 2, Infs: 1}
	none := &stream.Chunk{Start: 20, Block: 4, Cols: c.Cols, Missing: c.Missing}
	m := NewMoments(c.Cols, Options{})
	for _, c := range []*stream.Chunk{none, c, none} {
		must.Do(t, m.Add(c))
	}
	g := finish(t, m, tab, ScaleStandard, FillMean)
	if m.Profile.Rows != 12 || m.Profile.Seen != 28 || g.Missing[3] != (stream.MissingCount{Nulls: 15, NaNs: 6, Infs: 3}) || g.Filled[3] != 0 {
		t.Errorf("rows %d of %d, missing %v, filled %v", m.Profile.Rows, m.Profile.Seen, g.Missing[3], g.Filled[3])
	}
}

// Garbage is collected before the matrix is allocated, if both do not fit.
func TestRoomIsMade(t *testing.T) {
	const d = 1500
	c := &stream.Chunk{Rows: 1, Block: 1, Cols: d, Stride: 1, Data: make([]float64, d)}
	roomtest.CheckCollects(t, 8*d*d, func() { must.Do(t, NewMoments(d, Options{Threads: 1, Limit: Bytes(d, 0)}).Add(c)) })
}

// TestLayout: states take the memory of their layouts, and no more. The moments have whole numbers in one chunk and
// other numbers in the next one, so they use the scratch for both. A column whose entry is missing comes last, so the
// sums of missing entries grow.
func TestLayout(t *testing.T) {
	const d, missing, n = 1000, 60, stripRows
	const other = (columnBytes - 88) * d // the Standardizer and spare memory; 88 bytes of a column are its profile
	var chunks []*stream.Chunk
	for holes := range 2 {
		c := &stream.Chunk{Rows: n, Block: n, Cols: d, Stride: n, Data: make([]float64, d*n), Weight: slices.Repeat([]float64{1}, n), Missing: make([]stream.MissingCount, d)}
		for i := range c.Data {
			c.Data[i] = float64(i%7) + 0.25*float64(holes)
		}
		for j := range missing - 1 + holes {
			c.Data[j*n], c.Missing[j].NaNs = math.NaN(), 1
		}
		chunks = append(chunks, c)
	}
	for name, c := range map[string]struct {
		declared int64
		start    func() stream.Adder
	}{
		"moments":     {Bytes(d, missing) - other - bufferBytes, func() stream.Adder { return NewMoments(d, Options{Threads: 1}) }},
		"rows":        {RowsBytes(d, 2*n, false) - other, func() stream.Adder { return NewRows(d, 2*n, 1, false) }},
		"narrow rows": {RowsBytes(d, 2*n, true) - other, func() stream.Adder { return NewRows(d, 2*n, 1, true) }},
		"sketch":      {SketchBytes(d, missing, 1000), func() stream.Adder { return NewSketch(d, SketchOptions{Rows: 1000, Threads: 1}) }},
	} {
		roomtest.CheckLayout(t, name, c.declared, func() {
			state := c.start()
			for _, c := range chunks {
				must.Do(t, state.Add(c))
			}
			if s, ok := state.(*Sketch); ok {
				s.Reader()
			}
		})
	}
}
