package chunkio

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// However a pass over local and far files ends, early, cancelled or by an error, it ends at
// once, its goroutines with it, and the next one delivers everything.
func TestPassesEnd(t *testing.T) {
	checkLeft := leaktest.CheckGoroutines(t)
	s, dir := newWebServer(t, true), t.TempDir()
	keys, content := lakeFiles(t, ".parquet")
	inputs, local := make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		name := filepath.Join("day="+string(rune('1'+i)), "part.parquet")
		PutFile(t, dir, name, content[key])
		local[i] = filepath.Join(dir, name)
		s.put(name, content[key])
		inputs[i] = s.URL + "/" + filepath.ToSlash(name)
	}
	inputs[1] = local[1]
	opt := Options{Missing: stream.MissingKeep, Label: "label", Where: `site == "a" or rank > 100`, Columns: []string{"c*"}}
	ds, err := Open(t.Context(), inputs, opt)
	formattest.Must(t, err)
	want, err := chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	step := 1 // odd: passes end in either way, in turn
	if !long.IsOn() {
		step = 5
	}
	for _, memory := range []int64{ds.MinMemory(), ds.MinMemory() + 2<<20, 1 << 30} {
		opt := dataset.TableOf(ds).Options
		opt.Memory, opt.Threads = memory, 3
		ds, err := ds.With(opt)
		formattest.Must(t, err)
		for chunks := 0; chunks < 40; chunks += step {
			ctx, cancel := context.WithCancel(t.Context())
			seen := 0
			for _, err = range ds.Chunks(ctx, stream.Range{}) {
				if seen++; err != nil || seen > chunks && chunks%2 == 0 {
					break
				}
				if seen > chunks {
					cancel()
				}
			}
			if chunks%2 == 1 && seen > chunks && !errors.Is(err, context.Canceled) || chunks%2 == 0 && err != nil {
				t.Fatalf("%d bytes, %d chunks: %v", memory, chunks, err)
			}
			cancel()
		}
		s.put("day=3/part.parquet", content[keys[0]]) // replaced while the first are read
		if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !errors.Is(err, store.ErrChanged) {
			t.Errorf("%d bytes, replaced: %v", memory, err)
		}
		s.put("day=3/part.parquet", content[keys[2]])
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		if d := chunkiotest.DescribeDiff(got, want); d != "" {
			t.Errorf("%d bytes: %s", memory, d)
		}
	}
	s.Close() // an idle connection is three goroutines, of the client and the server
	checkLeft()
}

// Files with long footers are opened ahead, two at a time at most; a pass delivers the same, and ends as early as
// before.
func TestLongFootersAreParsedAhead(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(4, 4)), 20_000, 3, 0.01)
	disk, paths := PlantTable(tab, 7, 500, 1)
	opt := Options{Missing: stream.MissingKeep, Threads: 2}
	want, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, opt), stream.Range{})
	formattest.Must(t, err)
	for _, path := range paths {
		disk.ByPath[path].Held = catalog.LongFooter
	}
	ds := disk.OpenDataset(t, paths, opt)
	for _, memory := range []int64{ds.MinMemory(), ds.MinMemory() + catalog.LongFooter, 1 << 30} {
		opt.Memory = memory
		ds, err := ds.With(opt)
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		if d := chunkiotest.DescribeDiff(got, want); d != "" {
			t.Errorf("%d bytes: %s", memory, d)
		}
		seen := 0
		for range ds.Chunks(t.Context(), stream.Range{}) {
			if seen++; seen == 4 {
				break
			}
		}
		disk.CheckClosed(t)
	}
	disk.ByPath[paths[3]].Digest++
	if _, err := chunkiotest.CollectRows(ds, stream.Range{}); !chunkiotest.IsData(err) {
		t.Errorf("a file that changed: %v", err)
	}
	disk.CheckClosed(t)
}
