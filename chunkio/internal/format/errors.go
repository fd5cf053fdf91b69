package format

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Guard calls f and turns a panic of the Parquet library into an error.
func Guard(f func() error) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(error)
		if !ok {
			e = fmt.Errorf("%v", r)
		}
		if fault, ok := errors.AsType[runtime.Error](e); ok {
			err = &faultError{fault}
			return
		}
		err = fmt.Errorf("the Parquet library failed: %w", e)
	}()
	return f()
}

// faultError says in words for the user that Go's runtime stopped the library.
type faultError struct{ cause runtime.Error }

func (*faultError) Error() string {
	return "the Parquet library gave up: the file is damaged or forged, or this is a fault of ufs-stream, please report it"
}

// Unwrap is what the runtime said.
func (e *faultError) Unwrap() error { return e.cause }

// Place makes err a *stream.DataError of the file at path. Where err names no row group
// or column, it gets group and column (-1 and "" where unknown). What is no fault of the
// data (cancellation, a memory limit, the usage) stays as it is.
func Place(path string, group int, column string, err error) error {
	if err == nil {
		return nil
	}
	var memory *stream.MemoryError
	var usage *stream.UsageError
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &memory) || errors.As(err, &usage) {
		return err
	}
	place := stream.DataError{Err: err, RowGroup: -1, Row: -1}
	if e, ok := errors.AsType[*stream.DataError](err); ok {
		place = *e
	}
	place.Path = path
	if place.RowGroup < 0 {
		place.RowGroup = group
	}
	if place.Column == "" {
		place.Column = column
	}
	return &place
}
