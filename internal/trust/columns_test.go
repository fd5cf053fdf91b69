package trust

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Permuting in place is the permuted copy, and can be undone.
func TestPermuteInPlace(t *testing.T) {
	a := table(7, 40, 700, 3, 9)
	p := some(a)
	p.team = kernel.NewTeam(2)
	before, want := slices.Clone(a.Points), p.permuted()
	undo := p.permute()
	if !slices.Equal(p.x, want.x) || slices.Equal(p.x, before) {
		t.Error("in place they are permuted otherwise")
	}
	undo()
	if !slices.Equal(a.Points, before) {
		t.Error("they were not put back")
	}
}
