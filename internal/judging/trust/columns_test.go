package trust

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Permuting in place is the permuted copy, and can be undone.
func TestPermuteInPlace(t *testing.T) {
	a := table(7, 40, 700, 3, 9)
	p := pickSpreadAnchors(a)
	p.team = kernel.NewTeam(2)
	before, want := slices.Clone(a.Points), p.permutedCopy()
	undo := p.permuteInPlace()
	if !slices.Equal(p.x, want.x) || slices.Equal(p.x, before) {
		t.Error("in place they are permuted otherwise")
	}
	undo()
	if !slices.Equal(a.Points, before) {
		t.Error("they were not put back")
	}
}

// Columns that are made ahead are those that are made when they are asked for.
func TestColumnsAhead(t *testing.T) {
	p := pickSpreadAnchors(table(3, 40, 700, 3, 9))
	p.team = kernel.NewTeam(2)
	ahead := p.newCentredProducts()
	for _, likely := range [][]int{nil, {8}, {699, 0, 8, 513, 512, 6, 7}, {1, 2, 3, 4, 5, 6, 9, 10, 11}} {
		ahead.computeAhead(511, likely)
		for _, j := range append(slices.Clone(likely), 511, 333) {
			if !slices.Equal(ahead.productColumn(j), p.newCentredProducts().productColumn(j)) {
				t.Errorf("after %v, column %d is another", likely, j)
			}
		}
	}
}

// TestLayout: columns of products take the memory of their layout, and no more.
func TestLayout(t *testing.T) {
	p := &points{m: 500, d: 20000, x: make([]float64, 500*20000), team: kernel.NewTeam(1)}
	declared := room.Measure(func(l *room.Layout) { new(centredProducts).layOut(l, p.m, p.d) })
	roomtest.CheckLayout(t, "products", declared, func() {
		c := p.newCentredProducts()
		for j := range 5 {
			c.productColumn(j)
		}
	})
}
