package ufs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestNoFileStaysOpen: a run on rows of text closes the scratch files that they wait in, whether it ends well or
// not, and those of standard input too, unless the caller keeps it.
func TestNoFileStaysOpen(t *testing.T) {
	dir := t.TempDir()
	text := "a,b,c,d,label\n"
	for i := range 80 {
		text += fmt.Sprintf("%d,%d,%d,%d,%d\n", i*i%31, i*7%29, i*i*i%37, i, i%2)
	}
	path := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	s := must.Get(Select(t.Context(), Request{Input: Input{Paths: []string{path}}, Columns: Columns{Label: "label"}, Choice: Choice{K: 2}}))(t)
	each := func(do func(q Request) error) {
		t.Helper()
		for _, in := range []string{path, "-"} {
			check := leaktest.CheckFiles(t)
			must.Do(t, do(Request{Input: Input{Paths: []string{in}, Stdin: strings.NewReader(text)}, Columns: Columns{Label: "label"}, Choice: Choice{K: 2}}))
			check()
		}
	}
	for _, method := range []string{"greedy", "sfufs", "eufs", "variance"} {
		each(func(q Request) error {
			q.Choice.Method = method
			_, err := Select(t.Context(), q)
			return err
		})
	}
	each(func(q Request) error { _, err := Plan(t.Context(), q); return err })
	each(func(q Request) error { _, err := Inspect(t.Context(), q, true); return err })
	each(func(q Request) error {
		q.Choice.K = 0
		_, err := Redundancy(t.Context(), RedundancyRequest{Request: q})
		return err
	})
	each(func(q Request) error {
		q.Choice.K, q.Output = 0, filepath.Join(dir, "s.ufs")
		_, err := Scan(t.Context(), ScanRequest{Request: q})
		return err
	})
	each(func(q Request) error {
		_, err := Eval(t.Context(), EvalRequest{Input: Input{Paths: q.Input.Paths, Stdin: q.Input.Stdin}, Label: "label", Selections: []NamedSelection{{Name: "s", Selection: s}}, Runs: 1})
		return err
	})
	each(func(q Request) error {
		_, err := Apply(t.Context(), ApplyRequest{Input: Input{Paths: q.Input.Paths, Stdin: q.Input.Stdin}, Selection: s, Output: filepath.Join(dir, "a.parquet")})
		return err
	})

	check := leaktest.CheckFiles(t)
	if _, err := Select(t.Context(), Request{Input: Input{Paths: []string{path}}, Columns: Columns{Label: "label"}, Choice: Choice{K: 9}}); err == nil {
		t.Error("more features than there are were selected")
	}
	kept := chunkio.NewStdin(strings.NewReader(text))
	for range 2 {
		must.Get(Select(t.Context(), Request{Input: Input{Paths: []string{"-"}, Stdin: kept}, Columns: Columns{Label: "label"}, Choice: Choice{K: 2}}))(t)
	}
	must.Do(t, kept.Close())
	check()
}
