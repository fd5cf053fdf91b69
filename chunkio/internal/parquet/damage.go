package parquet

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/stream"
)

// What to do about bytes that are not as they should be, of a whole file and of a column.
const (
	again        = "copy or write the file again"
	againWithout = again + ", or leave the column out"
)

// advise adds what to do to an error of the data that does not say it; an error of the input is none.
func advise(err error, remedy string) error {
	d, ok := errors.AsType[*stream.DataError](err)
	if !ok || d.Remedy.Format != "" || readError(err) != nil {
		return err
	}
	advised := *d
	advised.Remedy = stream.PlainText(remedy)
	return &advised
}
