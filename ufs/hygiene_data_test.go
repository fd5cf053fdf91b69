package ufs_test

import (
	"hash/maphash"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestNoFalseAlarms: of real datasets only copies are suspected, and they are those found by columns in
// memory.
func TestNoFalseAlarms(t *testing.T) {
	for _, name := range []string{"coil20", "isolet", "mnist10k", "orl", "usps", "prostate_ge", "basehock", "warppie10p"} {
		path := fixtures.DatasetPath(t, name+".parquet")
		s := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Label: "label"}, Choice: ufs.Choice{Method: "variance", K: 1}}))(t)
		want := copiesIn(t, path)
		if got := reasons(s.Suspects); len(got) != len(want) {
			t.Errorf("%s: suspects %v, want copies %v", name, got, want)
		}
		for copied, of := range want {
			if got := reasons(s.Suspects)[copied]; got != "a copy of "+of {
				t.Errorf("%s: %s is %q, want a copy of %s", filepath.Base(path), copied, got, of)
			}
		}
	}
}

// copiesIn finds the columns that repeat an earlier one in memory, but for constant ones.
func copiesIn(t *testing.T, path string) map[string]string {
	t.Helper()
	ds := must.Get(chunkio.Open(t.Context(), []string{path}, chunkio.Options{Exclude: []string{"label"}}))(t)
	defer ds.Close()
	cols := make([][]float64, len(ds.Columns()))
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		for j := range cols {
			cols[j] = append(cols[j], c.Col(j)...)
		}
	}
	seed, first, copies := maphash.MakeSeed(), map[uint64]int{}, map[string]string{}
	for j, col := range cols {
		if slices.Min(col) == slices.Max(col) {
			continue
		}
		var h maphash.Hash
		h.SetSeed(seed)
		for _, x := range col {
			maphash.WriteComparable(&h, x)
		}
		if i, ok := first[h.Sum64()]; !ok {
			first[h.Sum64()] = j
		} else if slices.Equal(cols[i], col) {
			copies[ds.Columns()[j].Name] = ds.Columns()[i].Name
		}
	}
	return copies
}
