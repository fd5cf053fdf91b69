package gram

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

var scales = []Scale{ScaleNone, ScaleCenter, ScaleMinMax, ScaleUnit, ScaleStandard}

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
	g := must.Get(m.Finish(tab.columns(), FinishOptions{Scale: scale, Fill: fill}))(tb)
	return g
}

func TestFinishIsTheTwins(t *testing.T) {
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		ref := tab.reference(scale, fill)
		for _, height := range []int{1, 7, 61} {
			g := finish(t, tab.moments(t, Options{}, height), tab, scale, fill)
			if !slices.Equal(g.Columns, ref.kept) {
				t.Fatalf("columns %v, want %v", g.Columns, ref.kept)
			}
			ref.near(t, tab.rows(), g.Sym)
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
				c := tab.chunk(0, tab.rows())
				if sparse {
					c = tab.sparse(0, tab.rows())
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
	for len(t.cols) < d {
		s := sample(uint64(len(t.cols)), n, missing, true)
		for j := range s.cols {
			for i := range s.cols[j] {
				if i%3 != j%3 && s.cols[j][i] == s.cols[j][i] {
					s.cols[j][i] = 0
				}
			}
		}
		t.cols, t.weight = append(t.cols, s.cols...), s.weight
	}
	t.cols = t.cols[:d]
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
	tab.weight = make([]float64, 30)
	for i := range tab.weight {
		tab.weight[i] = float64(1 + i%3)
	}
	for _, col := range tab.cols {
		var out []float64
		for i, x := range col {
			for range 1 + i%3 {
				out = append(out, x)
			}
		}
		repeated.cols = append(repeated.cols, out)
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
	tab.cols = [][]float64{tab.cols[0], tab.cols[4]}
	var far table
	for _, col := range tab.cols {
		moved := slices.Clone(col)
		for i := range moved {
			moved[i] += 1e8
		}
		far.cols = append(far.cols, moved)
	}
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
	tab.cols[100] = slices.Clone(tab.cols[2])
	order := rand.New(rand.NewPCG(1, 2)).Perm(d)
	permuted := table{weight: tab.weight, cols: make([][]float64, d)}
	for j, to := range order {
		permuted.cols[to] = tab.cols[j]
	}
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
	constant := table{cols: [][]float64{{1, 1}, {2, 2}}}
	for name, m := range map[string]*Moments{
		"no rows":           NewMoments(2, Options{}),
		"no columns":        NewMoments(0, Options{}),
		"constant columns":  constant.moments(t, Options{}, 2),
		"no usable columns": constant.moments(t, Options{}, 1),
	} {
		var bad *stream.DataError
		if _, err := m.Finish(constant.columns(), FinishOptions{}); !errors.As(err, &bad) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestLimit(t *testing.T) {
	tab := sample(7, 40, true, false)
	d := len(tab.cols)
	var tight *stream.MemoryError
	m := NewMoments(d, Options{Limit: Bytes(d, 0) - 1})
	if err := m.Add(tab.chunk(0, 10)); !errors.As(err, &tight) || tight.Need <= tight.Limit {
		t.Fatalf("err = %v", err)
	}
	full := tab.moments(t, Options{}, 40)
	m = NewMoments(d, Options{Limit: Bytes(d, len(full.missing)) - 1})
	must.Do(t, m.Add(tab.chunk(1, 2)))
	before := encode(t, m)
	if err := m.Add(tab.chunk(0, 40)); !errors.As(err, &tight) {
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
		t.Error(err)
	}
}

func TestDroppedRowsAreCounted(t *testing.T) {
	tab := sample(8, 12, false, false)
	c := tab.chunk(0, 12)
	c.Block = 20
	c.Missing[3] = stream.MissingCount{Nulls: 5, NaNs: 2, Infs: 1}
	none := &stream.Chunk{Start: 20, Block: 4, Cols: c.Cols, Missing: c.Missing}
	m := NewMoments(c.Cols, Options{})
	for _, c := range []*stream.Chunk{none, c, none} {
		must.Do(t, m.Add(c))
	}
	g := finish(t, m, tab, ScaleStandard, FillMean)
	if m.Rows != 12 || m.Seen != 28 || g.Missing[3] != (stream.MissingCount{Nulls: 15, NaNs: 6, Infs: 3}) || g.Filled[3] != 0 {
		t.Errorf("rows %d of %d, missing %v, filled %v", m.Rows, m.Seen, g.Missing[3], g.Filled[3])
	}
}
