package rows_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// passOver delivers rows of length d in blocks.
func passOver(x []float64, d, block int) rows.PassFunc {
	return func(_ context.Context, _ string, do func(int, kernel.Matrix[float64]) error) error {
		for first := 0; first < len(x)/d; first += block {
			h := min(block, len(x)/d-first)
			if err := do(first, kernel.RowMajor(x[first*d:], h, d, d)); err != nil {
				return err
			}
		}
		return nil
	}
}

// Neighbours follow the definition, duplicates included, however many rows are
// gathered at a time; Join joins them both ways.
func TestNearestFollowsTheDefinition(t *testing.T) {
	const n, d = 60, 4
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, duplicates := range []int{0, 9, n} { // more of them than neighbours
		x := make([]float64, n*d)
		for i := range x {
			if x[i] = float64(rnd.IntN(9)); i/d < duplicates {
				x[i] = x[i%d]
			}
		}
		square := func(i, j int) (s float64) {
			for c := range d {
				s += (x[i*d+c] - x[j*d+c]) * (x[i*d+c] - x[j*d+c])
			}
			return s
		}
		for _, k := range []int{0, 1, 5, n - 1} {
			joined := make(map[[2]int]float64)
			var want []rows.Neighbour
			for i := range n {
				var others []rows.Neighbour
				for j := range n {
					if j != i {
						others = append(others, rows.Neighbour{int32(j), square(i, j)})
					}
				}
				slices.SortStableFunc(others, func(a, b rows.Neighbour) int { return cmp.Compare(a.Square, b.Square) })
				for _, o := range others[:k] {
					joined[[2]int{i, int(o.Index)}], joined[[2]int{int(o.Index), i}] = o.Square, o.Square
				}
				want = append(want, others[:k]...)
			}
			for _, room := range []int64{0, 12 * rows.PointBytes(d), math.MaxInt64} {
				near, err := rows.FindNearest(t.Context(), kernel.NewTeam(2), n, d, k, room, passOver(x, d, 17))
				if err != nil || !slices.Equal(near, want) {
					t.Fatalf("%d duplicates, %d neighbours, room %d: %v, %v", duplicates, k, room, near, err)
				}
				g, last := rows.JoinNeighbours(near, n), [2]int{-1, -1}
				g.MapValues(func(i, j int, v float64) float64 {
					if at := [2]int{i, j}; joined[at] != v || slices.Compare(last[:], at[:]) >= 0 {
						t.Errorf("entry %v = %v after %v, want %v", at, v, last, joined[at])
					} else {
						last = at
					}
					return v
				})
				if len(g.Value) != len(joined) || len(g.Start) != n+1 {
					t.Errorf("%d entries in %d rows, want %d", len(g.Value), len(g.Start)-1, len(joined))
				}
			}
		}
	}
}

func TestNearestRefusesDistancesThatOverflow(t *testing.T) {
	x := []float64{0, 1e200, -1e200}
	if _, err := rows.FindNearest(t.Context(), kernel.NewTeam(1), 3, 1, 1, 0, passOver(x, 1, 3)); err == nil {
		t.Error("no error")
	}
}

// Weights on the nearest anchors follow the formula, and count in Δ.
func TestWeigh(t *testing.T) {
	g := must.Get(rows.NewAnchored(stream.InMemory{}, 4, 2, 1, 1))(t)
	g.SetAnchors(kernel.NewTeam(1), kernel.RowMajor([]float64{0, 1, 3, 7}, 4, 1, 1), anchor.Weights)
	must.Do(t, rows.EachBlock(t.Context(), 1, func(_ int, records [][]byte) error {
		z := g.ViewRows(records[0], 1)
		if err := g.WeighRows(z, kernel.RowMajor([]float64{0.25}, 1, 1, 1)); err != nil {
			return err
		}
		// Squared distances 0.0625, 0.5625, 7.5625.
		sum := 7.5 + 7.0
		if z.Index[0] != 0 || z.Index[1] != 1 || math.Abs(z.Value[0]-7.5/sum) > 1e-15 || math.Abs(z.Value[1]-7/sum) > 1e-15 {
			t.Errorf("anchors %v, weights %v", z.Index, z.Value)
		}
		if want := []float64{z.Value[0], z.Value[1], 0, 0}; !slices.Equal(g.Delta, want) {
			t.Errorf("Δ = %v, want %v", g.Delta, want)
		}
		return nil
	}, rows.WritePass(g.File)))
}

// Parts of rows in memory find the same neighbours as all at once.
func TestNearestInParts(t *testing.T) {
	const n, d, k = 150, 310, 4
	rnd := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n*d)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	if most := n * rows.PointBytes(d); rows.PartBytes(n, d) >= most || rows.PartBytes(n, 2*n-1) != n*rows.PointBytes(2*n-1) {
		t.Fatalf("parts of %d of %d bytes where rows are long, %d where not", rows.PartBytes(n, d), most, rows.PartBytes(n, 2*n-1))
	}
	find := func(room int64) []rows.Neighbour {
		return must.Get(rows.FindNearest(t.Context(), kernel.NewTeam(2), n, d, k, room, rows.PassInMemory(kernel.RowMajor(x, n, d, d))))(t)
	}
	if !slices.Equal(find(rows.PartBytes(n, d)), find(math.MaxInt64)) {
		t.Error("parts find other neighbours than the whole")
	}
}
