package chunkio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestGlobsAreBounded: patterns whose matching would take exponential time are refused, wherever patterns are
// matched, and an existing file of exactly this name is no pattern.
func TestGlobsAreBounded(t *testing.T) {
	s, dir := storetest.S3(t), t.TempDir()
	s.PutObject("lake/x.csv", []byte("a,b\n1,2\n3,4\n"))
	here := filepath.Join(dir, "x.csv")
	must.Do(t, os.WriteFile(here, []byte("a,b\n1,2\n3,4\n"), 0o600))
	for pattern, want := range map[string]string{
		strings.Repeat("{a,b}", 27):                             "more than 1000 patterns",
		strings.Repeat("{", 9) + "a,b" + strings.Repeat("}", 9): "more than 8 deep",
		strings.Repeat("**/", 5) + "x":                          "more than 4 times",
		strings.Repeat("{a,b}", 27) + "{":                       "malformed glob",
	} {
		_, err := Open(t.Context(), []string{filepath.Join(dir, pattern) + ".csv"}, Options{})
		refusedGlob(t, "files", err, want)
		_, err = Open(t.Context(), []string{s.URL("lake/" + pattern + ".csv")}, Options{})
		refusedGlob(t, "objects", err, want)
		_, err = ExpandStats(t.Context(), []string{filepath.Join(dir, pattern) + ".ufs"}, FetchOptions{})
		refusedGlob(t, "statistics", err, want)
		_, err = ExpandStats(t.Context(), []string{s.URL("lake/" + pattern + ".ufs")}, FetchOptions{})
		refusedGlob(t, "statistics in a store", err, want)
		_, err = Open(t.Context(), []string{here}, Options{Columns: []string{pattern}})
		refusedGlob(t, "columns", err, want)
		_, err = Match("keep", []string{pattern}, []string{"a", "b"})
		refusedGlob(t, "names", err, want)
		if got, err := Match("keep", []string{pattern}, []string{"a", pattern}); err != nil || fmt.Sprint(got) != "[false true]" {
			t.Errorf("a column of that name: %v, %v", got, err)
		}
	}
	if got, err := Match("keep", []string{"{a,{b,c}}?"}, []string{"a1", "d1", "c1"}); err != nil || fmt.Sprint(got) != "[true false true]" {
		t.Errorf("few alternatives: %v, %v", got, err)
	}
}

func refusedGlob(t *testing.T, what string, err error, want string) {
	t.Helper()
	if !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want a usage error with %q", what, err, want)
	}
}

// TestGlobsEnd: looking through folders for statistics ends with the context.
func TestGlobsEnd(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, err := ExpandStats(ctx, []string{filepath.Join(dir, "**", "*.ufs")}, FetchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, error %v, want that of the context", found, err)
	}
}
