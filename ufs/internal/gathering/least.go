package gathering

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// ReopenedBytes is the memory for opening an input a second time. This is done if the first opening exceeded the limit,
// to plan how much memory the run would need. ReopenedBytes equals ProgramBytes: a refusal needs at most twice the
// memory of any run. It suffices for 20,000 Parquet columns in few row groups, or the names of 250,000 list elements.
const ReopenedBytes = budget.ProgramBytes

// ErrLeastMemory turns a memory error of opening the input into the memory error of the whole plan, which names the
// smallest sufficient limit. To make the plan, it opens the input again with ReopenedBytes of memory. If that does not
// suffice, or if the first opening had as much memory, the error names only a lower bound of the limit. Opening without
// a limit is not an option: once it used 740 MB under a limit of 128 MiB.
func ErrLeastMemory(ctx context.Context, r *settled.Run, inputs []string, opt chunkio.Options, plan planning.Planner, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if opt.Memory >= ReopenedBytes {
		return budget.ErrLowerBound(&r.Request, err)
	}
	opt.Memory = ReopenedBytes
	return ErrOfPlan(ctx, r, inputs, opt, plan, err)
}

// ErrOfPlan opens the input and returns the memory error of its plan. If the plan fits into memory, ErrOfPlan returns
// err, restated in terms of the whole limit.
func ErrOfPlan(ctx context.Context, r *settled.Run, inputs []string, opt chunkio.Options, plan planning.Planner, err error) error {
	ds, openErr := settled.OpenDataset(ctx, inputs, opt)
	switch {
	case ctx.Err() != nil:
		if openErr == nil {
			ds.Close()
		}
		return ctx.Err()
	case errors.As(openErr, new(*stream.MemoryError)):
		return budget.ErrLowerBound(&r.Request, openErr)
	case openErr != nil:
		return budget.ErrForLimit(&r.Request, err)
	}
	defer ds.Close()
	if _, planErr := plan(r, ds); planErr != nil {
		return planErr
	}
	return budget.ErrForLimit(&r.Request, err)
}
