package ufs

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestMergeNamesOneNeed: whatever the limit, merging statistics with hash shards names the same need, and works within
// it.
func TestMergeNamesOneNeed(t *testing.T) {
	path, dir := noiseFile(t, 1200, 40, 1), t.TempDir()
	for _, method := range []string{"greedy", "graphgreedy"} {
		var parts []string
		for i := range 2 {
			part := filepath.Join(dir, fmt.Sprint(method, i, ".ufs"))
			q := ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: method, Stability: 8}, Output: part}, Shard: fmt.Sprintf("%d/2", i+1)}
			must.Get(Scan(t.Context(), q))(t)
			parts = append(parts, part)
		}
		merge := func(limit int64) error {
			_, err := Merge(t.Context(), MergeRequest{Files: parts, Output: filepath.Join(dir, "whole.ufs"), Limits: Limits{Memory: limit}})
			return err
		}
		need := int64(0)
		for _, limit := range []int64{1, 20 << 20, 30 << 20, 48<<20 + 1, 49 << 20, 50 << 20} {
			var short *stream.MemoryError
			switch err := merge(limit); {
			case err == nil && limit >= need:
			case !errors.As(err, &short) || short.Need <= limit || need > 0 && short.Need != need:
				t.Errorf("method %q within %d bytes: %v; want a need of %d", method, limit, err, need)
			default:
				need = short.Need
			}
		}
		if need == 0 {
			t.Fatalf("method %q: no limit was too small", method)
		}
		if err := merge(need); err != nil {
			t.Errorf("method %q, within the need of %d bytes: %v", method, need, err)
		}
	}
}
