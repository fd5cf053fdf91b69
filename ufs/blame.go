package ufs

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blamed is ofStats of the request's statistics file; without one err stays as it is.
func (q *Request) blamed(err error) error {
	if q.Stats == "" {
		return err
	}
	return ofStats(q.Stats, err)
}

// ofStats blames the statistics file at path for an error that does not say whose fault it is: of a
// solver that met a matrix which no rows have, as numbers of a forged file make it.
func ofStats(path string, err error) error {
	var unplaced *stream.DataError
	placed := !errors.As(err, &unplaced) || unplaced.Path != ""
	if err == nil || explained(err) && placed {
		return err
	}
	e := stream.Dataf(place.Name(path), "its numbers do not belong together: %w", err)
	e.Remedy = stream.Textf("remove it, and scan or merge again; if that makes the same file, please report it")
	return e
}

// explained reports whether an error is of a kind that tells what to do.
func explained(err error) bool {
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
