package anchor

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// thinRows are rows of few entries of many columns, of which some have other means than 0, some values are
// missing, rows repeat, and two are empty.
func thinRows(n, d int) (t table) {
	r := rand.New(rand.NewPCG(8, uint64(d)))
	for range d {
		t.Cols = append(t.Cols, make([]float64, n))
	}
	for i := range n {
		for range 12 {
			t.Cols[r.IntN(d)][i] = float64(1 + r.IntN(4))
		}
		for j := 3; j < d; j += d / 5 {
			t.Cols[j][i] = 20 + float64(r.IntN(3))
		}
		if r.IntN(4) == 0 {
			t.Cols[r.IntN(d)][i] = math.NaN()
		}
		if i%10 == 9 {
			for _, col := range t.Cols {
				col[i] = col[i-5]
			}
		}
		if i == 7 || i == 40 {
			for _, col := range t.Cols {
				col[i] = 0
			}
		}
	}
	return t
}

// Sparse rows among thin anchors have the statistics of dense ones, to rounding, and the same bits for
// any chunks and threads; from few columns on, and only then, they are not made dense.
func TestThin(t *testing.T) {
	for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleStandard} {
		for _, d := range []int{minThinFeatures - 1, minThinFeatures + 300} {
			const n = 200
			tab := thinRows(n, d)
			sparse := tab
			sparse.Sparse = true
			a := tab.random(t, 60, scale)
			want := tab.statistics(t, a, Options{}, 64)
			first := sparse.statistics(t, a, Options{Threads: 1}, n)
			if got := first.work.thin != nil; got != (d >= minThinFeatures) {
				t.Fatalf("%d columns: thin %v", d, got)
			}
			bits := written(t, first)
			for _, height := range []int{1, 37, n} {
				for _, threads := range []int{1, 3} {
					if !bytes.Equal(written(t, sparse.statistics(t, a, Options{Threads: threads}, height)), bits) {
						t.Errorf("%v, %d columns, chunks of %d, %d threads: other bits", scale, d, height, threads)
					}
				}
			}
			near := func(what string, got, want []float64, size float64) {
				for i := range want {
					// n·K weights of squared distances, each of fewer than d terms: all roundings together.
					if !(math.Abs(got[i]-want[i]) <= n*float64(d)*0x1p-52*size) {
						t.Fatalf("%v, %d columns: %s[%d] is %v, want %v", scale, d, what, i, got[i], want[i])
					}
				}
			}
			largest := 0.0
			for _, x := range a.Points {
				largest = max(largest, math.Abs(x))
			}
			near("Zᵀ1", first.delta, want.delta, 1)
			near("ZᵀZ", first.zz, want.zz, 1)
			near("ZᵀX", first.zx, want.zx, largest)
			// Dense rows may follow.
			must.Do(t, first.Add(tab.Chunk(0, n)))
			must.Do(t, want.Add(tab.Chunk(0, n)))
			near("after dense rows", first.zx, want.zx, largest)
		}
	}
}

// A row too far away is an error that names the row.
func TestThinOverflow(t *testing.T) {
	const d = minThinFeatures + 300 // some are constant, and left out
	tab := thinRows(200, d)
	a := tab.random(t, 30, gram.ScaleNone)
	s := must.Get(NewStatistics(a, Options{}))(t)
	c := &stream.Chunk{Start: 50, Block: 2, Rows: 2, Cols: d, Sparse: &stream.CSR{RowPtr: []int{0, 1, 2}, Index: []int32{2, 3}, Value: []float64{1, 1e200}}}
	if err := s.Add(c); err == nil || s.work.thin == nil || err.Error() != errOverflow(c, 1).Error() {
		t.Errorf("error %v", err)
	}
}
