package gram

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// States with reordered columns equal, byte for byte, states of the rows with their columns in that order.
func TestReorder(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	for d := 1; d < 12; d++ {
		for range 8 {
			order := rng.Perm(d)
			rows := 1 + rng.IntN(600)
			x, y := make([]float64, rows*d), make([]float64, rows*d)
			missing, moved := make([]stream.MissingCount, d), make([]stream.MissingCount, d)
			for j := range d {
				holes := rng.IntN(3) == 0
				for i := range rows {
					x[j*rows+i] = float64(rng.IntN(2000)) // of which all sums are exact, in any order
					if holes && rng.IntN(4) == 0 {
						x[j*rows+i] = stream.MissingValue(0)
						missing[j].Nulls++
					}
				}
			}
			for j, from := range order {
				copy(y[j*rows:][:rows], x[from*rows:][:rows])
				moved[j] = missing[from]
			}
			as := stream.Chunk{Block: rows, Rows: rows, Cols: d, Data: x, Stride: rows, Missing: missing}
			want := stream.Chunk{Block: rows, Rows: rows, Cols: d, Data: y, Stride: rows, Missing: moved}
			type state interface {
				Add(*stream.Chunk) error
				Reorder([]int)
				io.WriterTo
			}
			for what, empty := range map[string]func() state{
				"profile":    func() state { return NewProfile(d) },
				"moments":    func() state { return NewMoments(d, Options{Threads: 1}) },
				"histograms": func() state { return NewHistograms(d, 1) },
				"ranks":      func() state { return NewRankHistograms(d, 1) },
			} {
				a, b := empty(), empty()
				must.Do(t, a.Add(&as))
				must.Do(t, b.Add(&want))
				a.Reorder(order)
				var got, expect bytes.Buffer
				must.Get(a.WriteTo(&got))(t)
				must.Get(b.WriteTo(&expect))(t)
				if !bytes.Equal(got.Bytes(), expect.Bytes()) {
					t.Errorf("%s of %d columns in the order %v differ", what, d, order)
				}
			}
		}
	}
}

func TestSwaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 2))
	for d := range 40 {
		order, x, n := rng.Perm(d), make([]int, d), 0
		for j := range x {
			x[j] = j
		}
		eachSwap(order, func(i, j int) {
			x[i], x[j] = x[j], x[i]
			n++
		})
		if !slices.Equal(x, order) || n > d {
			t.Errorf("%v became %v in %d exchanges", order, x, n)
		}
	}
}
