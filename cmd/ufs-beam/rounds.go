package main

import (
	"cmp"
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// defaultSampleRows is the default of --sample-rows.
const defaultSampleRows = 10_000

func (s *settings) planRounds(ctx context.Context) ([]round, error) {
	h, err := chunkio.ReadPlanHeader(ctx, s.job.Plan, chunkio.FetchOptions{})
	if err != nil {
		return nil, err
	}
	spec, err := methods.Find(methods.All(), cmp.Or(h.Method, methods.Fallback))
	if err != nil {
		return nil, stream.Dataf(place.DisplayName(s.job.Plan), "%w", err)
	}
	switch {
	case spec.From.UsesRows():
		s.job.SampleRows = cmp.Or(s.job.SampleRows, defaultSampleRows)
		return []round{profileRound}, nil
	case s.job.SampleRows > 0:
		return nil, stream.Usagef("--sample-rows is for methods that iterate over rows, and %s is for %s, which takes all of them", place.DisplayName(s.job.Plan), spec.Name)
	case spec.From.UsesGraph() || s.profileRound:
		return []round{profileRound, profiledRound}, nil
	}
	return []round{statisticsRound}, nil
}
