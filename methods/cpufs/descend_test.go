package cpufs

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// However long the projection holds U back, its rate stays one from which it gets away
// when P lets it.
func TestRateOfAStillStep(t *testing.T) {
	f := problem(91, 40, 3, 4, 5)
	f.Nonneg = true
	s := f.solver(t, f.options(GraphKNN))
	clear(s.u[0].Data)
	clear(s.w)
	clear(s.gw)
	for i := range s.p {
		s.p[i] = -s.p[i]
	}
	s.descent.rates[0] = 1
	for range 1100 {
		must.Do(t, s.moveFactor(t.Context(), 0))
	}
	if linalg.RowNorms(s.w, s.c)[0] != 0 || s.descent.rates[0] != 1 {
		t.Errorf("score %v, rate %v after steps that the projection held back", linalg.RowNorms(s.w, s.c)[0], s.descent.rates[0])
	}
	for i := range s.p {
		s.p[i] = 1e4
	}
	must.Do(t, s.moveFactor(t.Context(), 0))
	if linalg.RowNorms(s.w, s.c)[0] == 0 {
		t.Error("U does not get away from 0")
	}
}
