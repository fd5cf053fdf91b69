package udfs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
)

// A run that was broken off goes on to the same bits, wherever that was: where M is a matrix, and
// where it goes by its rows and the start is the mean of all choices.
func TestGoesOnToTheSameBits(t *testing.T) {
	for _, d := range []int{7, 64} {
		rng := rand.New(rand.NewPCG(4, uint64(d)))
		x := make([]float64, 30*d)
		for i := range x {
			x[i] = rng.NormFloat64() * float64(1+i%d%5)
		}
		resumetest.CheckResume(t, func(at resumetest.Storage) (*Result, error) {
			return Select(t.Context(), slices.Clone(x), 30, d, Options{Clusters: 2, Gamma: 0.5, MaxIter: 5, Tol: 1e-14, Threads: 2, Stages: at.Stages})
		}, func(what string, got, want *Result) {
			if !slices.Equal(got.Objective, want.Objective) || !slices.Equal(got.Scores, want.Scores) || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) {
				t.Errorf("%d features, %s: objective %v, want %v", d, what, got.Objective, want.Objective)
			}
		})
	}
}
