package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/plans"
)

// PlanHeader contains the properties of a plan file that concern all input files in it.
type PlanHeader = plans.PlanHeader

// ReadPlanHeader reads the header of the plan file at path. Errors are *stream.DataError.
func ReadPlanHeader(ctx context.Context, path string, opt FetchOptions) (PlanHeader, error) {
	return plans.ReadPlanHeader(ctx, path, opt)
}

// IsPlan reports whether a name is the name of a plan file.
func IsPlan(path string) bool {
	return listing.IsPlan(path)
}

// NoShards returns the error of a request for a shard of a plan without footers.
func NoShards(plan string) error {
	return plans.NoShards(plan)
}
