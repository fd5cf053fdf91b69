package main

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
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
