package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FetchOptions configure the fetching of statistics and selections from object stores.
type FetchOptions = storage.FetchOptions

// ReadAll returns the contents of the file or object at path if opt.Memory allows it, with the errors of [ReadWhole].
func ReadAll(ctx context.Context, path string, opt FetchOptions, remedy stream.Text) (text []byte, err error) {
	return storage.ReadAll(ctx, path, opt, remedy)
}
