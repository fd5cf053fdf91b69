package chunkiotest

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/stream"
)

// IsUsage reports whether an error is a *stream.UsageError.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*stream.UsageError](err)
	return ok
}

// IsData reports whether an error is a *stream.DataError.
func IsData(err error) bool {
	_, ok := errors.AsType[*stream.DataError](err)
	return ok
}
