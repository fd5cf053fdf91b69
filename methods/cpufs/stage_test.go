package cpufs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/resume/resumetest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A run that was broken off goes on to the same bits, wherever that was.
func TestGoesOnToTheSameBits(t *testing.T) {
	for _, c := range []struct {
		graph  GraphKind
		noGram bool
		shape  []int
	}{{GraphAnchors, false, []int{4, 3}}, {GraphAnchors, true, []int{4, 3}}, {GraphKNN, false, []int{2, 3, 2}}, {GraphAnchors, false, []int{2, 3, 2}}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			f := problem(11, 45, 3, c.shape...)
			resumetest.CheckResume(t, func(at resumetest.Storage) (*Result, error) {
				_, memory := at.Scratch.(stream.InMemory)
				src := serve(f.X, 16)
				src.Block = at.Block
				return Select(t.Context(), src, f.grid(t), Options{Nonnegative: c.noGram, Start: Start(len(c.shape)-2) * StartRandom, Clusters: 3, Iterations: 2, Steps: 1, Graph: c.graph, Seed: 5, Threads: 2, Anchors: 9,
					noGram: c.noGram, rowsOnDisk: !memory, stateOnDisk: !memory, Scratch: at.Scratch, Stages: at.Stages})
			}, func(what string, got, want *Result) {
				if !slices.Equal(got.Objective, want.Objective) || !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Order, want.Order) ||
					!slices.EqualFunc(got.U, want.U, slices.Equal) || len(got.Warnings) != len(want.Warnings) {
					t.Errorf("%s: other bits", what)
				}
			})
		})
	}
}
