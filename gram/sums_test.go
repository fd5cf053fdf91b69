package gram

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestMomentsOfSums: sums computed one pair at a time, about any shift, give the Gram matrix of the rows, under every
// fill, alone and merged with the moments of other rows.
func TestMomentsOfSums(t *testing.T) {
	const n, own = 240, 150
	tab := sample(9, n, true, false)
	first := tab
	first.Cols = nil
	for _, col := range tab.Cols {
		first.Cols = append(first.Cols, col[:own])
	}
	p := NewProfile(len(tab.Cols))
	first.add(t, p, own)
	for j := range p.Columns {
		p.Columns[j] = ColumnProfile{Pilot: p.Columns[j].Pilot + 0.25*p.Columns[j].Sum/own, Min: p.Columns[j].Min, Max: p.Columns[j].Max}
	}
	pair := func(i, j int) (s PairSums) {
		for k, x := range first.Cols[i] {
			if y := first.Cols[j][k]; x == x && y == y {
				x, y = x-p.Columns[i].Pilot, y-p.Columns[j].Pilot
				s = PairSums{s.Rows + 1, s.X + x, s.Y + y, s.Both + x*y}
			}
		}
		return s
	}
	for _, merged := range []bool{false, true} {
		for _, fill := range []Fill{FillMean, FillZero, FillPairwise} {
			got := must.Get(MomentsOfSums(p, pair, Options{}))(t)
			want, rows := NewMoments(len(tab.Cols), Options{}), own
			if merged {
				rows = n
				rest := NewMoments(len(tab.Cols), Options{})
				tab.AddRows(t, rest, own, n, 64)
				must.Do(t, got.Merge(rest))
			}
			tab.AddRows(t, want, 0, rows, rows)
			a, b := finish(t, got, tab, ScaleCenter, fill), finish(t, want, tab, ScaleCenter, fill)
			for i := range b.D {
				for j := range b.D {
					// The naive sums round to n ulps of their terms, which are a few deviations.
					unit := math.Sqrt(b.Sym[i*b.D+i] * b.Sym[j*b.D+j])
					if math.Abs(a.Sym[i*b.D+j]-b.Sym[i*b.D+j]) > 100*n*0x1p-52*unit {
						t.Fatalf("merged %v, %v: G[%d, %d] is %v, want %v", merged, fill, i, j, a.Sym[i*b.D+j], b.Sym[i*b.D+j])
					}
				}
			}
		}
	}
}
