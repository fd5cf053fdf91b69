package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// RecordedRequest returns the request that a selection records: the options that affect the result, without inputs,
// limits and outputs. list holds the methods to choose from; nil means methods.All(). K is the number of selected
// features, even if the selection was to explain a given share. Other records of the selection are ignored.
func RecordedRequest(s *stream.Selection, list []method.Spec) (Request, error) {
	return settled.RecordedRequest(s, list)
}

// ReadSelection reads a Selection from a JSON file or object. opt.Memory is the memory limit of the process.
func ReadSelection(ctx context.Context, path string, opt chunkio.FetchOptions) (*stream.Selection, error) {
	return settled.ReadSelection(ctx, path, opt)
}

// ReadSelections reads several selections like ReadSelection. opt.Memory bounds them together.
func ReadSelections(ctx context.Context, paths []string, opt chunkio.FetchOptions) (all []*stream.Selection, err error) {
	return settled.ReadSelections(ctx, paths, opt)
}
