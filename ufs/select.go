package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/caching"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

const (
	// AutoCheckpoint is the value of Checkpoint.Folder for a folder next to Output, if the run is predicted to be long.
	AutoCheckpoint = request.AutoCheckpoint
	// NoCheckpoint is the value of Checkpoint.Folder for no folder.
	NoCheckpoint = request.NoCheckpoint
	// DefaultK is the number of features to select if the request names none and no rule can recommend one.
	DefaultK = request.DefaultK
	// AnyShards is the value of Choice.Stability for the default number of hash shards.
	AnyShards = request.AnyShards
	// Release is the number of the version that this source will be released as; results record it.
	Release = request.Release
)

type (
	// Request describes the data to read, the features to select from it, and the bounds of the run.
	Request = request.Request
	// Input names the data, and the places from which it may be read.
	Input = request.Input
	// Columns chooses the columns that become features, and how they are converted.
	Columns = request.Columns
	// Choice names the method, and the features that it may and must select.
	Choice = request.Choice
	// Limits bounds the resources of a run.
	Limits = request.Limits
	// Checkpoint keeps the progress of a long run.
	Checkpoint = request.Checkpoint
	// Hooks are functions that receive events of a run while it works, such as its progress.
	Hooks = request.Hooks
	// Progress describes a step of a run.
	Progress = request.Progress
	// Interrupted is the error of a run that was interrupted after its finished part was saved, or of an apply or
	// convert that reached its memory limit after such a save.
	Interrupted = request.Interrupted
	// Paths is the result of Path.
	Paths = result.Paths
)

// RowScales lists the values of Columns.RowScale, the default first.
func RowScales() []string {
	return request.RowScales()
}

// MissingPolicies lists the values of Columns.Missing, the default first.
func MissingPolicies() []string {
	return request.MissingPolicies()
}

// ScaleNames lists the values of Choice.Scale.
func ScaleNames() []string {
	return request.ScaleNames()
}

// ListOpenRowOptions lists the options for choosing and weighting rows that q leaves open. Statistics from which q
// selects may have been made with other values.
func ListOpenRowOptions(q Request) []string {
	return request.ListOpenRowOptions(&q)
}

// Select selects features.
//
// The kind of the error suggests the remedy. It is a *stream.UsageError for a request that cannot be right; a
// *stream.DataError for bad data, with their place; a *stream.MemoryError for a limit that is too small, with the
// smallest limit that works; a *stream.OutputError if a checkpoint or a scratch file cannot be written; a
// *stream.UnconvergedError, which comes with the Selection; an *Interrupted if ctx ended a run with a checkpoint; or
// the error of ctx itself.
func Select(ctx context.Context, q Request) (s *stream.Selection, err error) {
	err = caching.Answer(ctx, q, func(q Request) error {
		s, err = selecting.SelectByRequest(ctx, q)
		return err
	})
	return s, err
}

// Path selects features for many settings of the method after gathering statistics once. For a method whose options
// have several values, it solves every combination of these values. For a method whose selections are nested, it
// returns the error for each k. Its errors are the errors of Select; a *stream.UnconvergedError comes with Paths.
func Path(ctx context.Context, q Request) (p *Paths, err error) {
	err = caching.Answer(ctx, q, func(q Request) error {
		p, err = selecting.SolvePath(ctx, q)
		return err
	})
	return p, err
}

// HasCurve reports whether Path returns a curve (the error for each number k of features), not a grid (a selection for
// each setting of the method). The result is false for a request that Path refuses.
func HasCurve(ctx context.Context, q Request) bool {
	return selecting.HasCurve(ctx, q)
}

// Forget removes the checkpoint (the saved progress) of the run of a request. Call it once the result is safe.
func Forget(q Request) error {
	return settled.ForgetProgress(q)
}

// Bound keeps the process within memory bytes until restore is called, as an active run does. It is for a program that
// must also respect the limit before and after a run, when it reads selections and writes results. Without Bound, a
// process with a limit of 210 MiB used 217 MiB when it wrote a selection by partgreedy from 20,000 columns (4.6 MiB of
// JSON).
//
// Memory that the process holds when Bound is called is not counted. Memory that the process allocates later is
// counted, even before a run begins.
func Bound(memory int64) (restore func()) {
	return budget.BoundMemory(memory)
}

// Within calls read with room, the number of bytes that remain for reading if the process may use limit bytes of
// memory. A memory error of read is restated in terms of limit. If limit is 0, there is no limit, and room is 0.
func Within(limit int64, read func(room int64) error) error {
	return budget.ReadWithin(limit, read)
}
