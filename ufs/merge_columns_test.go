package ufs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestMergeLeavesOutWhatAnyFileDoes: the sum lists the columns that are no features in any of its files, with the same
// reasons in whatever order they are named, and a request of one that only another than the first has is answered by its own.
func TestMergeLeavesOutWhatAnyFileDoes(t *testing.T) {
	dir := t.TempDir()
	scan := func(name, csv string) string {
		input, output := filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".ufs")
		must.Do(t, os.WriteFile(input, []byte(csv), 0o644))
		must.Get(ufs.Scan(t.Context(), ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{input}}, Output: output}}))(t)
		return output
	}
	a := scan("a", "x,y,place,twice,level\n1,2,north,a,low\n2,1,south,b,high\n5,7,west,c,low\n")
	b := scan("b", "x,y,who,place,twice,twice\n3,1,me,east,2,3\n4,5,you,west,5,2\n9,8,she,north,3,4\n")
	c := scan("c", "x,y\n7,1\n2,2\n")
	want := []stream.LeftOut{ // as a has them, then what only b has
		{Name: "place", Why: "text"}, {Name: "twice", Why: chunkio.SharedName}, {Name: "twice", Why: chunkio.SharedName}, {Name: "level", Why: "text"},
		{Name: "who", Why: "text"},
	}
	for _, files := range [][]string{{a, b}, {b, a}, {c, b, a}, {merged(t, ufs.MergeRequest{}, c, b), a}, {b, merged(t, ufs.MergeRequest{}, a, c)}} {
		sum := merged(t, ufs.MergeRequest{}, files...)
		if got := headerOf(t, sum).LeftOut; !slices.Equal(got, want) {
			t.Errorf("%q: %v are left out, want %v", files, got, want)
		}
		for name, why := range map[string]string{"twice": "columns twice: the name is ambiguous", "who": "who: text"} {
			_, err := ufs.Select(t.Context(), ufs.Request{Stats: sum, Choice: ufs.Choice{K: 1}, Columns: ufs.Columns{Names: []string{name}}})
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s is asked for: %v", name, err)
			}
		}
	}
}

// TestMergeFindsCopiesInAnyOrder: parts whose columns are in another order are compared by name, so that a copy is found
// as in one file, and no other column is taken for one.
func TestMergeFindsCopiesInAnyOrder(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for part, names := range []string{"abcd", "dcba"} {
		var text strings.Builder
		fmt.Fprintln(&text, strings.Join(strings.Split(names, ""), ","))
		for i := range 200 {
			a := float64((i*7919+part*31)%997) / 3
			values := map[rune]float64{'a': a, 'b': a, 'c': float64((i*104729)%883) / 7, 'd': float64((i*i+part)%613) / 9}
			var line []string
			for _, name := range names {
				line = append(line, fmt.Sprint(values[name]))
			}
			fmt.Fprintln(&text, strings.Join(line, ","))
		}
		input, output := filepath.Join(dir, names+".csv"), filepath.Join(dir, names+".ufs")
		must.Do(t, os.WriteFile(input, []byte(text.String()), 0o644))
		must.Get(ufs.Scan(t.Context(), ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{input}}, Output: output}}))(t)
		files = append(files, output)
	}
	for _, files := range [][]string{{files[0]}, {files[0], files[1]}, {files[1], files[0]}} {
		s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: merged(t, ufs.MergeRequest{}, files...), Choice: ufs.Choice{K: 2, Method: "greedy"}}))(t)
		var copies []string
		for _, w := range s.Warnings {
			if strings.Contains(w, "is a copy") || strings.Contains(w, "are copies") {
				copies = append(copies, w)
			}
		}
		if len(copies) != 1 || !strings.Contains(copies[0], ": b (of a)") && !strings.Contains(copies[0], ": a (of b)") {
			t.Errorf("%d files: the warnings of copies are %q, want one, of a and b", len(files), copies)
		}
	}
}

// TestMergeOfManyNames: files that each leave out many columns of their own are refused as soon as the names do
// not fit, with a limit that suffices; and before anything is added up, if no header can hold them.
func TestMergeOfManyNames(t *testing.T) {
	dir := t.TempDir()
	makeParts(t, dir, 12, 3)
	var files []string
	for i := range 12 {
		files = append(files, rewritten(t, filepath.Join(dir, fmt.Sprintf("part-%05d-of-00012.ufs", i+1)), func(h *chunkio.StatsHeader) {
			for j := range 20_000 {
				h.LeftOut = append(h.LeftOut, stream.LeftOut{Name: fmt.Sprintf("%d of file %d", j, i), Why: "text"})
			}
		}))
	}
	m := ufs.MergeRequest{Files: files, Output: filepath.Join(t.TempDir(), "x.ufs"), Limits: ufs.Limits{Memory: 100 << 20}}
	_, err := ufs.Merge(t.Context(), m)
	short := (*stream.MemoryError)(nil)
	if !errors.As(err, &short) || short.What != "merging these files" {
		t.Fatalf("merging within 100 MiB: %v, want a memory error for merging these files", err)
	}
	m.Limits.Memory = short.Need + 16<<20 // for the statistics
	if got := must.Get(ufs.Merge(t.Context(), m))(t); got.Merged != 12 || len(headerOf(t, m.Output).LeftOut) != 12*20_000 {
		t.Errorf("merged: %+v, want 12 files and 240,000 columns left out", got)
	}
	must.Do(t, os.Remove(m.Output))
	must.Do(t, os.Truncate(files[11], must.Get(os.Stat(files[11]))(t).Size()-100)) // which only reading its statistics finds
	m.MaxHeader = 8 << 20
	_, err = ufs.Merge(t.Context(), m)
	if err == nil || !strings.Contains(err.Error(), "cannot merge 12 files: the header of the sum would have ") || !strings.Contains(err.Error(), "240000 columns that are left out") {
		t.Errorf("merging with headers up to 8 MiB: %v, want a refusal before any statistics are read", err)
	}
}
