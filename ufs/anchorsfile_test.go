package ufs

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestBadAnchorsAreBlamed: values of the file of anchors that no distance is of are its own fault, not
// the input's.
func TestBadAnchorsAreBlamed(t *testing.T) {
	table := faces(300, 6, 3)
	input := table.write(t)
	far := tableOf(table.Names, nil)
	for _, col := range table.Cols {
		far.Cols = append(far.Cols, append([]float64{1e300}, col[:19]...))
	}
	anchors := filepath.Join(t.TempDir(), "anchors.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), anchors, far, chunkio.WriteOptions{}))
	_, err := Select(t.Context(), Request{Input: Input{Paths: []string{input}}, Choice: Choice{Method: "sfufs", K: 2, Options: method.Settings{"anchors-file": anchors}}})
	var bad *stream.DataError
	if !errors.As(err, &bad) || bad.Path != anchors {
		t.Errorf("got %v", err)
	}
}
