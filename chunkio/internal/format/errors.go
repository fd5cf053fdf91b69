package format

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Guard calls f and turns a panic of the Parquet library into an error.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = ErrPanicked(r)
		}
	}()
	return f()
}

// ErrPanicked returns the error for a panic of a library. The error does not show the text of Go's runtime to users,
// but [errors.As] finds it.
func ErrPanicked(panicked any) error {
	e, ok := panicked.(error)
	if !ok {
		return fmt.Errorf("the library failed: %v", panicked)
	}
	if cause, ok := errors.AsType[runtime.Error](e); ok {
		return &Fault{"the library gave up: the file is damaged or forged, or this is a fault of ufs-stream, please report it", cause}
	}
	return fmt.Errorf("the library failed: %w", e)
}

// Fault reports to users that Go's runtime stopped the code that reads a file.
type Fault struct {
	Text  string
	Cause runtime.Error
}

func (e *Fault) Error() string { return e.Text }

// Unwrap returns the runtime's error.
func (e *Fault) Unwrap() error { return e.Cause }

// PlaceError turns err into a *stream.DataError for the file at path. If err does not contain a row group or a column,
// the parameter group or column is added (-1 or "" if unknown). Errors that are not caused by the data (cancellation, a
// memory limit, wrong usage) are returned unchanged.
func PlaceError(path string, group int, column string, err error) error {
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
	place.Column = cmp.Or(place.Column, column)
	return &place
}

// ErrUnevenList returns the error for a row whose list, which the text list describes, does not have width elements.
// All lists in the first rows have width elements. Therefore the column is read as a vector. The remedy is
// RemedyLeaveOut.
func ErrUnevenList(list string, width int) error {
	return fmt.Errorf("%s where the rows before have %d, so that it is no vector", list, width)
}

// RemedyLeaveOut is the advice not to read a column.
func RemedyLeaveOut(column string) stream.Text {
	return stream.Textf("leave the column out with {exclude} %q", column)
}
