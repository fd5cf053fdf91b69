package ufs

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The plan of another program names files and a condition: that holds beside whatever is asked
// for, and no other condition takes its place. A plan of it has shards that together are the same.
func TestPlanOfAnotherProgram(t *testing.T) {
	in := faces(900, 12, 5).write(t)
	const condition = "px_0_1 > 5"
	path := filepath.Join(t.TempDir(), "table.plan.json")
	file := must.Get(os.Create(path))(t)
	files := iter.Seq2[planfile.File, error](func(yield func(planfile.File, error) bool) { yield(planfile.File{Path: in}, nil) })
	if _, err := planfile.Write(file, planfile.Header{Count: 1, Roots: []string{filepath.Dir(in)}, Options: map[string]string{"where": condition}}, files); err != nil {
		t.Fatalf("writing the plan: %v", err)
	}
	if err := file.Close(); err != nil {
		t.Fatalf("closing the plan: %v", err)
	}
	want := chosen(t, Request{Input: Input{Paths: []string{in}, Where: condition}, Choice: Choice{K: 4}, Columns: Columns{Label: "px_0_2"}})
	for _, where := range []string{"", condition} {
		if got := chosen(t, Request{Input: Input{Plan: path, Where: where}, Choice: Choice{K: 4}, Columns: Columns{Label: "px_0_2"}}); got != want {
			t.Errorf("where %q: chosen %s, want %s", where, got, want)
		}
	}
	_, err := Select(t.Context(), Request{Input: Input{Plan: path, Where: "px_0_1 > 6"}, Choice: Choice{K: 4}})
	if usage := (*stream.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), condition) {
		t.Errorf("another condition: %v", err)
	}
	job := filepath.Join(t.TempDir(), "job.plan.json")
	parts := t.TempDir()
	if _, err := WritePlan(t.Context(), Request{Input: Input{Plan: path}, Columns: Columns{Label: "px_0_2"}, Output: job}); err != nil {
		t.Fatalf("planning from the foreign plan: %v", err)
	}
	for _, shard := range []string{"1/2", "2/2"} {
		if _, err := Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Plan: job}, Output: parts}, Shard: shard}); err != nil {
			t.Fatalf("scanning shard %s: %v", shard, err)
		}
	}
	all := filepath.Join(t.TempDir(), "all.ufs")
	if _, err := Merge(t.Context(), MergeRequest{Files: []string{parts}, Output: all}); err != nil {
		t.Fatalf("merging: %v", err)
	}
	one, got := selected(t, Request{Input: Input{Plan: path}, Choice: Choice{K: 4, Method: methods.Fallback}, Columns: Columns{Label: "px_0_2"}}), selected(t, Request{Stats: all, Choice: Choice{K: 4}})
	if one.RowsUsed == one.Rows || got.RowsUsed != one.RowsUsed || len(got.Selected) != 4 {
		t.Fatalf("%d of %d rows used by shards, %d by one", got.RowsUsed, got.Rows, one.RowsUsed)
	}
	for i, f := range one.Selected { // sums differ by rounding
		if got.Selected[i].Name != f.Name {
			t.Errorf("by shards %s is chosen, by one %s", got.Selected[i].Name, f.Name)
		}
	}
}
