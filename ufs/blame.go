package ufs

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (q *Request) blameStats(err error) error {
	if q.Stats == "" {
		return err
	}
	return blameStatsFile(q.Stats, err)
}

// blameStatsFile adds the path of the statistics file to an error that does not name a file. Such an error arises, for
// example, if numbers in the file were forged, and a solver fails because its matrix cannot come from rows.
func blameStatsFile(path string, err error) error {
	var unplaced *stream.DataError
	hasPlace := !errors.As(err, &unplaced) || unplaced.Path != ""
	if err == nil || isSelfExplanatory(err) && hasPlace {
		return err
	}
	e := stream.Dataf(place.DisplayName(path), "its numbers do not belong together: %w", err)
	e.Remedy = stream.Textf("remove it, and scan or merge again; if that makes the same file, please report it")
	return e
}

func isSelfExplanatory(err error) bool {
	var (
		usage       *stream.UsageError
		data        *stream.DataError
		memory      *stream.MemoryError
		output      *stream.OutputError
		unconverged *stream.UnconvergedError
		stale       *stream.StaleError
		undecided   *stream.UndecidedError
	)
	return errors.As(err, &usage) || errors.As(err, &data) || errors.As(err, &memory) || errors.As(err, &output) ||
		errors.As(err, &unconverged) || errors.As(err, &stale) || errors.As(err, &undecided) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || stream.Temporary(err)
}
