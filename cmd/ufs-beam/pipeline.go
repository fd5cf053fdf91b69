package main

import (
	"cmp"
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Workers find the steps by their names, so all processes register them before anything else.
func init() {
	register.DoFn2x0[int, func(int)](&numberFn{})
	register.DoFn2x2[context.Context, int, Piece, error](&scanFn{})
	register.DoFn3x2[context.Context, int, string, Piece, error](&profiledScanFn{})
	register.DoFn1x2[Piece, int, Piece](&groupFn{})
	register.DoFn3x2[context.Context, int, func(*Piece) bool, Piece, error](&groupMergeFn{})
	register.DoFn3x2[context.Context, int, func(*Piece) bool, string, error](&lastMergeFn{})
	register.Emitter1[int]()
	register.Iter1[Piece]()
}

func (j job) buildPipeline(rounds []round) *beam.Pipeline {
	pipeline, root := beam.NewPipelineWithRoot()
	var profile beam.PCollection
	for _, r := range rounds {
		s := root.Scope(string(r))
		output := j.Output
		if len(rounds) > 1 && r == profileRound {
			output = j.profileName()
		}
		// A reshuffle keeps the runner from processing all shards in one bundle on one machine.
		shards := beam.Reshuffle(s, beam.ParDo(s, &numberFn{}, beam.Create(s, j.Shards)))
		var parts beam.PCollection
		if r == profiledRound {
			parts = beam.ParDo(s, &profiledScanFn{j}, shards, beam.SideInput{Input: profile})
		} else {
			parts = beam.ParDo(s, &scanFn{j, r}, shards)
		}
		keyed := beam.ParDo(s, &groupFn{j}, parts)
		groups := beam.ParDo(s, &groupMergeFn{j, r}, beam.GroupByKey(s, keyed))
		together := beam.GroupByKey(s, beam.AddFixedKey(s, groups))
		profile = beam.ParDo(s, &lastMergeFn{j, r, output}, together)
	}
	return pipeline
}

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
