package copying

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
)

// TestApplyStrangeTypes: columns of logical types that the library does not know leave the others, and are copied with
// their types and bytes.
func TestApplyStrangeTypes(t *testing.T) {
	in, dir := StrangeFile(t, 0x18, 1, 'X'), t.TempDir()
	if got := chunkiotest.TypesOf(t, in); got != "id int32, geo geometry geometry, s.g geography geography, s.x int32, v variant variant" {
		t.Errorf("read as %s", got)
	}
	flat, whole := filepath.Join(dir, "flat.parquet"), filepath.Join(dir, "whole.parquet")
	MustApply(t, []string{in}, flat, ApplyOptions{Columns: []string{"s.x"}, Also: []string{"v", "geo", "s.g"}})
	if got := chunkiotest.TypesOf(t, flat); got != "s.x int32, v variant variant, geo geometry geometry, s.g geography geography" {
		t.Errorf("flat: %s", got)
	}
	_, err := ConvertInputs(t.Context(), []string{in}, whole, ApplyOptions{})
	formattest.Must(t, err)
	if got := chunkiotest.TypesOf(t, whole); got != chunkiotest.TypesOf(t, in) {
		t.Errorf("whole: %s", got)
	}
	open := func(path string) *parquet.File {
		opened, err := storage.OpenFile(t.Context(), path)
		formattest.Must(t, err)
		f, err := parquet.Open(opened, 1<<30)
		formattest.Must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(in), open(whole)
	for i := range a.Schema().NumColumns() {
		var read [2]formattest.Leaf
		for k, f := range []*parquet.File{a, b} {
			r, done, err := f.ColumnReader(0, i)
			formattest.Must(t, err)
			formattest.Must(t, formattest.ReadChunk(r, &read[k]))
			done()
		}
		if !slices.Equal(read[0].Values, read[1].Values) || !slices.Equal(read[0].Def, read[1].Def) || len(read[0].Values) < 2 {
			t.Errorf("column %d: %v, want %v", i, read[1], read[0])
		}
	}
	if bounds := b.Bounds(0, 1); bounds.Min.Known || bounds.Max.Known {
		t.Errorf("a geometry has bounds: %+v", bounds)
	}
	// Geometries of different coordinate systems are not one column.
	other := StrangeFile(t, 0x18, 1, 'Y')
	opt := ApplyOptions{Columns: []string{"id"}, Also: []string{"geo"}}
	if _, err := ApplyColumns(t.Context(), []string{in, other}, filepath.Join(dir, "both.parquet"), opt); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "logical type") {
		t.Errorf("two coordinate systems: %v", err)
	}
	MustApply(t, []string{in, StrangeFile(t, 0x18, 1, 'X')}, filepath.Join(dir, "twice.parquet"), opt)
	// Elsewhere they are bytes.
	opt.Form = FormArrow
	MustApply(t, []string{in}, filepath.Join(dir, "out.arrow"), opt)
}
