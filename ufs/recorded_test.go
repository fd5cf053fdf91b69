package ufs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// longSelection is a selection whose field at the key has n elements.
func longSelection(t *testing.T, key, element string, n int) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, (&stream.Selection{Selected: []stream.Selected{{Rank: 1, Name: "a"}}}).Encode(&b))
	text := strings.TrimSuffix(strings.TrimSpace(b.String()), "}") + `, "` + key + `": [` + strings.Repeat(element+",", n-1) + element + "]}"
	path := filepath.Join(t.TempDir(), "sel.json")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestSelectionsAreCounted: a selection that takes more than the memory limit when it is decoded is refused before,
// and in as much as the refusal names it is read. Several are held together.
func TestSelectionsAreCounted(t *testing.T) {
	const n, limit = 1 << 19, budget.ProgramBytes + 4<<20
	for key, element := range map[string]string{
		"warnings": `"abcdefg"`, "objective": `1`, "scores": `{}`, "correlations": `[1]`, "left_out": `{"name": "x"}`, "inputs": `{}`, "columns": `{"name": "x"}`, "unheard_of": `[1, {}]`,
	} {
		path := longSelection(t, key, element, n)
		var err error
		took := allocated(func() { _, err = ReadSelection(t.Context(), path, chunkio.FetchOptions{Memory: limit}) })
		short, ok := errors.AsType[*stream.MemoryError](err)
		if key == "unheard_of" && err == nil {
			continue // nothing is made of it
		}
		if !ok || short.Limit != limit || short.Need <= limit || took > limit-budget.ProgramBytes+1<<20 {
			t.Errorf("%s: %d bytes were allocated: %v", key, took, err)
			continue
		}
		for short.AtLeast {
			if _, err = ReadSelection(t.Context(), path, chunkio.FetchOptions{Memory: short.Need}); !errors.As(err, &short) {
				break
			}
		}
		enough := short.Need
		var s *stream.Selection
		if s, err = ReadSelection(t.Context(), path, chunkio.FetchOptions{Memory: enough}); err != nil || s.Selected[0].Name != "a" {
			t.Errorf("%s: in the %d bytes that are said to do: %v", key, enough, err)
		}
		if _, err := ReadSelections(t.Context(), []string{path, path}, chunkio.FetchOptions{Memory: enough}); !errors.As(err, &short) || short.Need <= enough {
			t.Errorf("%s: two in the memory for one: %v", key, err)
		}
	}
}

// TestSelectionHearsTheEnd: counting a selection ends with the context.
func TestSelectionHearsTheEnd(t *testing.T) {
	path := longSelection(t, "objective", "1", 1<<16)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadSelection(ctx, path, chunkio.FetchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
}

// TestMergeCountsHeaders: headers that are read side by side share the memory, and a refusal names the whole limit.
func TestMergeCountsHeaders(t *testing.T) {
	dir := t.TempDir()
	good, long := filepath.Join(dir, "a.ufs"), filepath.Join(dir, "b.ufs")
	h := chunkio.StatsHeader{Kind: statistics.KindProfile, Version: "0", Columns: []stream.Column{{Name: "x"}}}
	must.Do(t, chunkio.WriteStats(t.Context(), good, h))
	h.Options = map[string]string{"where": strings.Repeat("x", 8<<20)}
	must.Do(t, chunkio.WriteStats(t.Context(), long, h))
	const limit = budget.ProgramBytes + 16<<20
	for _, files := range [][]string{{good, long}, {long, good}} {
		_, err := Merge(t.Context(), MergeRequest{Files: files, Output: filepath.Join(dir, "out.ufs"), Limits: Limits{Memory: limit}})
		short, ok := errors.AsType[*stream.MemoryError](err)
		if !ok || short.Limit != limit || short.Need <= limit {
			t.Errorf("%v: got error %v, want one of the memory limit", files, err)
		}
	}
}
