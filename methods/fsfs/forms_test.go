package fsfs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// factor is the Gram matrix as the centred rows.
func factor(x [][]float64) *gram.Matrix {
	return gram.FromFactor(columns(rowstest.CentreColumns(x)), len(x[0]), len(x))
}

// narrow is the same of centred values that float32 holds.
func narrow(t *testing.T, x [][]float64) *gram.Matrix {
	t.Helper()
	n, d := len(x), len(x[0])
	rows := gram.NewRows(d, int64(n), 2, true)
	must.Do(t, rows.Add(&stream.Chunk{Block: n, Rows: n, Cols: d, Data: columns(x), Stride: n}))
	return &must.Get(rows.Finish(make([]stream.Column, d), gram.FinishOptions{Scale: gram.ScaleNone}))(t).Matrix
}

// columns are the columns of x, one after the other.
func columns(x [][]float64) (out []float64) {
	for j := range x[0] {
		for _, row := range x {
			out = append(out, row[j])
		}
	}
	return out
}

// tied are 64 rows of counts, whose means and covariances are exact: columns of 0 and 1, many of them alike or
// equal in all λ₂, and with seed 1 some constant.
func tied(d int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 8))
	x := rowstest.ZeroRows(64, d)
	for j := range d {
		switch {
		case j%7 == 0 && seed == 1: // constant
		case j%5 == 0 && j > 5: // a copy
			for i := range x {
				x[i][j] = x[i][j-4]
			}
		default:
			for range 1 + j%3 {
				x[rng.IntN(len(x))][j] = 1
			}
		}
	}
	return rowstest.CentreColumns(x)
}

// copies are two columns 75 times each, and some others.
func copies() [][]float64 {
	x := tied(170, 3)
	for _, row := range x {
		for j := range 150 {
			row[j] = row[160+j%2]
		}
	}
	return x
}

// Whatever the form, the threads and the pairs that there is room for, the answer is that of the naive form;
// without room for many pairs most are looked for at every turn.
func TestTiesAreTheNaiveForm(t *testing.T) {
	for name, x := range map[string][][]float64{"constant": tied(48, 1), "tied": tied(80, 2), "copies": copies()} {
		d, g := len(x[0]), gramOf(x)
		index := func(i, j int) float64 { return compressionIndex(g[i*d+i], g[j*d+j], g[i*d+j]) }
		forms := map[string]*gram.Matrix{"full": gram.Full(g, d), "factor": factor(x)}
		if name != "constant" { // these are left out
			forms["narrow"] = narrow(t, x)
		}
		for k := 1; k < d; k += 1 + k/3 {
			want := naive(d, k, index)
			for form, m := range forms {
				for _, room := range []int{1, 3 * d, pairCapacity(d)} {
					r := must.Get(selectWithCapacity(t.Context(), m, Options{Neighbors: k, K: d, Threads: 1 + room%3}, room))(t)
					if !slices.Equal(r.Order, want) {
						t.Fatalf("%s, %s, first k %d, %d pairs: %v, want %v", name, form, k, room, r.Order, want)
					}
				}
			}
		}
	}
}

// More features than a block has: both forms, any threads and room for pairs choose what the naive form
// does.
func TestFormsChooseAlike(t *testing.T) {
	const d = blockSide + 90
	x, _ := groups(40, d, 11)
	for i := range x { // unequal spread: λ₂ is small for all pairs of some features
		for j := range d / 3 {
			x[i][3*j] *= 1 + float64(j%10)/10
		}
	}
	g := gramOf(x)
	sizes := []int{3, 70, 400}
	if !long.IsOn() {
		sizes = sizes[1:2]
	}
	for _, k := range sizes {
		want := must.Get(Select(t.Context(), gram.Full(g, d), Options{K: k}))(t)
		if twin := naive(d, want.Neighbors, smaller(g, d)); !slices.Equal(want.Order, twin) {
			t.Errorf("k = %d: %v, want %v", k, want.Order, twin)
		}
		first := make(map[string]string)
		for form, m := range map[string]*gram.Matrix{"full": gram.Full(g, d), "factor": factor(x)} {
			for _, room := range []int{100, 4000, pairCapacity(d)} {
				for _, threads := range []int{1, 8} {
					got := must.Get(selectWithCapacity(t.Context(), m, Options{K: k, Threads: threads}, room))(t)
					if !slices.Equal(got.Order, want.Order) || got.Neighbors != want.Neighbors {
						t.Fatalf("k = %d, %s, %d pairs: first k %d leaves %v, want %d, %v", k, form, room, got.Neighbors, got.Order, want.Neighbors, want.Order)
					}
					for i, v := range got.Turns {
						if math.Abs(v-want.Turns[i]) > 1e-11*want.Turns[i] {
							t.Errorf("k = %d, %s: turn %d is %v, want %v", k, form, i, v, want.Turns[i])
						}
					}
					bits := fmt.Sprint(got.Turns)
					if first[form] == "" {
						first[form] = bits
					}
					if bits != first[form] {
						t.Errorf("k = %d, %s, %d threads, %d pairs: other bits", k, form, threads, room)
					}
				}
			}
		}
	}
}

// watched looks at each check for cancellation.
type watched struct {
	context.Context
	look func() error
}

func (w watched) Err() error { return w.look() }

// A run on a factor stays within Bytes, which has no d² then.
func TestBytes(t *testing.T) {
	const n, d = 12, 5000
	x := rowstest.ZeroRows(n, d)
	rng := rand.New(rand.NewPCG(1, 1))
	for j := range d { // all of them vary as much: no bound spares pairs
		for i := range n / 2 {
			x[2*i][j] = rng.NormFloat64()
			x[2*i+1][j] = -x[2*i][j]
		}
		var squares float64
		for _, row := range x {
			squares += row[j] * row[j]
		}
		for _, row := range x {
			row[j] /= math.Sqrt(squares)
		}
	}
	m := factor(x)
	before, most, calls := rowstest.HeapBytes(), int64(0), 0
	ctx := watched{t.Context(), func() error {
		if calls++; calls%16 == 0 { // a look takes a collection
			most = max(most, rowstest.HeapBytes()-before)
		}
		return nil
	}}
	must.Get(Select(ctx, m, Options{Neighbors: d * 2 / 5, Threads: 2, K: 1}))(t)
	if says := Bytes(d, n); most > says || most < says/4 || says > 4*d*d {
		t.Errorf("%d bytes held, %d said", most, says)
	}
}

// TestLayout: the pairs and rows of distances take the memory of the layout, and no more.
func TestLayout(t *testing.T) {
	const n, d, pairs = 60, 1500, 50_000
	rng := rand.New(rand.NewPCG(2, 2))
	x := make([]float64, d*n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range n {
		x[i] *= 1e-3 // so that few pairs are within the bound of ε, which are listed in memory that grows
	}
	m := gram.FromFactor(x, d, n)
	full := make([]float64, d*d)
	for i := range d {
		for j := range d {
			full[i*d+j] = m.At(i, j)
		}
	}
	for name, m := range map[string]*gram.Matrix{"factor": m, "full": gram.Full(full, d)} {
		declared, team := room.Measure(func(l *room.Layout) { layOutSimilarity(l, d, m.Rank, pairs) }), kernel.NewTeam(1)
		roomtest.CheckLayout(t, name, declared, func() {
			s := must.Get(newSimilarity(t.Context(), team, m, pairs))(t)
			for range 3 {
				must.Do(t, s.visitRows(t.Context(), s.all[5:90], func(int, []float64) {}))
			}
		})
	}
}

// A run ends at the next block of any pass, with the context's error.
func TestCancel(t *testing.T) {
	x, _ := groups(10, 90, 4)
	m := factor(x)
	for after := 0; ; after++ {
		calls := 0
		_, err := selectWithCapacity(watched{t.Context(), func() error {
			if calls++; calls > after {
				return context.Canceled
			}
			return nil
		}}, m, Options{K: 9}, 200)
		if err == nil {
			if after < 10 {
				t.Errorf("%d checks in all", after)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || calls != after+1 {
			t.Fatalf("after %d checks: %v at %d", after, err, calls)
		}
	}
}

func TestNth(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		x := make([]float64, 1+rng.IntN(40))
		for i := range x {
			x[i] = float64(rng.IntN(10))
		}
		sorted, k := slices.Sorted(slices.Values(x)), rng.IntN(len(x))
		if got := nthSmallest(x, k); got != sorted[k] || slices.Max(x[:k+1]) != got || slices.Min(x[k:]) != got {
			t.Fatalf("place %d of %v: %v; left %v", k, sorted, got, x)
		}
	}
}
