package rufs

import (
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
)

// A run that was broken off goes on to the same bits, wherever that was.
func TestGoesOnToTheSameBits(t *testing.T) {
	x := blobs(40, 6, 3)
	resumetest.CheckResume(t, func(at resumetest.Storage) (*Result, error) {
		return Select(t.Context(), slices.Concat(x...), len(x), len(x[0]), Options{Clusters: 3, MaxIter: 4, Tol: 1e-12, Seed: 1, Threads: 2, Stages: at.Stages})
	}, func(what string, got, want *Result) {
		if !slices.Equal(got.Objective, want.Objective) || !slices.Equal(got.Scores, want.Scores) || got.Clusters != want.Clusters {
			t.Errorf("%s: objective %v, want %v", what, got.Objective, want.Objective)
		}
	})
}
