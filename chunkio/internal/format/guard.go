package format

import (
	"errors"
	"fmt"
)

// Guard calls f and turns a panic of the Parquet library into an error.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok {
				err = fmt.Errorf("the Parquet library failed: %w", e)
			} else {
				err = errors.New(fmt.Sprint("the Parquet library failed: ", r))
			}
		}
	}()
	return f()
}
