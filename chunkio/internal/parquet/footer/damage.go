package footer

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Remedies for damage of a whole file and of one column.
const (
	RemedyCopyAgain = "copy or write the file again"
	RemedyLeaveOut  = RemedyCopyAgain + ", or leave the column out"
)

// AddRemedy adds a remedy to a data error that has none. Errors of reading the input stay unchanged.
func AddRemedy(err error, remedy string) error {
	d, ok := errors.AsType[*stream.DataError](err)
	if !ok || d.Remedy.Format != "" || ReadErrorOrNil(err) != nil {
		return err
	}
	advised := *d
	advised.Remedy = stream.PlainText(remedy)
	return &advised
}

// ReadErrorOrNil returns err if it is an error of reading the input, and not of its content.
func ReadErrorOrNil(err error) error {
	if _, ok := errors.AsType[*format.ReadError](err); ok {
		return err
	}
	return nil
}
