package parquet

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Remedies for damage of a whole file and of one column.
const (
	remedyCopyAgain = "copy or write the file again"
	remedyLeaveOut  = remedyCopyAgain + ", or leave the column out"
)

// addRemedy adds a remedy to a data error that has none. Errors of reading the input stay unchanged.
func addRemedy(err error, remedy string) error {
	d, ok := errors.AsType[*stream.DataError](err)
	if !ok || d.Remedy.Format != "" || readErrorOrNil(err) != nil {
		return err
	}
	advised := *d
	advised.Remedy = stream.PlainText(remedy)
	return &advised
}
