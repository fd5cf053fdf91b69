package hygiene

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestCopiesAreThoseThatAreEqual: against columns in memory, among many that nearly agree.
func TestCopiesAreThoseThatAreEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for trial := range 30 {
		n := 1 + r.IntN(400)
		tab := &table{label: make([]float64, n)}
		for j := range 40 {
			from := r.IntN(j + 1)
			change := r.IntN(3 * n)
			tab.add(fmt.Sprint(j), func(i int) float64 {
				switch {
				case j == 0 || from == j:
					return float64(r.IntN(3)) * math.Pow(2, float64(r.IntN(60)-30))
				case i == change && r.IntN(2) == 0:
					return math.NaN()
				case i == change:
					return tab.cols[from][i] + 1
				case tab.cols[from][i] == 0 && r.IntN(2) == 0:
					return math.Copysign(0, -1)
				}
				return tab.cols[from][i]
			})
		}
		same := func(a, b []float64) bool {
			return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
		}
		want := make([]int, len(tab.cols))
		for j := range want {
			for want[j] = 0; !same(tab.cols[want[j]], tab.cols[j]); {
				want[j]++
			}
		}
		whole := tab.gather(t, 0, n, 1+r.IntN(n))
		cut := r.IntN(n + 1)
		parts := tab.gather(t, 0, cut, 50)
		parts.merge(t, tab.gather(t, cut, n, 33))
		for _, g := range []gathered{whole, parts} {
			if got := g.facts.originalColumns(nil); !slices.Equal(got, want) {
				t.Fatalf("trial %d: %v, want %v", trial, got, want)
			}
		}
	}
}

// TestSparseRowsHaveTheSameHashes as dense ones.
func TestSparseRowsHaveTheSameHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	tab := &table{label: make([]float64, 100)}
	for j := range 5 {
		tab.add(fmt.Sprint(j), func(i int) float64 {
			if j == 4 {
				return tab.cols[1][i]
			}
			return float64(max(0, r.IntN(8)-5))
		})
	}
	dense, sparse := New(5, 1, false), New(5, 1, false)
	c := tab.chunk(0, 100)
	csr := &stream.CSR{RowPtr: []int{0}}
	for i := range 100 {
		for j := range 5 {
			if x := tab.cols[j][i]; x != 0 {
				csr.Index, csr.Value = append(csr.Index, int32(j)), append(csr.Value, x)
			}
		}
		csr.RowPtr = append(csr.RowPtr, len(csr.Index))
	}
	must.Do(t, dense.Add(c))
	must.Do(t, sparse.Add(&stream.Chunk{Block: 100, Rows: 100, Cols: 5, Sparse: csr}))
	if want := []int{0, 1, 2, 3, 1}; !slices.Equal(sparse.originalColumns(nil), want) || !slices.Equal(dense.originalColumns(nil), want) {
		t.Errorf("copies %v of sparse rows, %v of dense ones", sparse.originalColumns(nil), dense.originalColumns(nil))
	}
}
