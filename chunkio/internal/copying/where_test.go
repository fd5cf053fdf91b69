package copying

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rowsAsText is every row of a leaf, nested or not: its levels and values.
func rowsAsText(l *formattest.Leaf) (rows []string) {
	if len(l.Def) == 0 {
		return l.Values
	}
	top := slices.Max(l.Def)
	next := 0
	for i, d := range l.Def {
		if len(l.Rep) == 0 || l.Rep[i] == 0 {
			rows = append(rows, "")
		}
		row := &rows[len(rows)-1]
		*row += fmt.Sprintf(" %d", d)
		if d == top && next < len(l.Values) {
			*row += ":" + l.Values[next]
			next++
		}
	}
	return rows
}

// Applying under a condition writes the matching rows of an unconditional output, to the bit: flat columns, elements
// of lists, whole lists and structs, in any number of windows.
func TestApplyWhereWritesTheRowsThatMatch(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	opt := ApplyOptions{
		Columns: []string{"d_clean", "emb[3]", "price", "flag", "temp_f", "emb[15]"},
		Also:    []string{"id", "ts", "category", "vals", "emb", "geo", "u64_big", "geo.lat"},
	}
	at := t.TempDir()
	whole := filepath.Join(at, "whole.parquet")
	MustApply(t, []string{path}, whole, opt)
	all := formattest.ReadDump(t, whole)
	for _, c := range []struct {
		where string
		rows  int64 // as DuckDB counts them
	}{
		{"category = 'gamma'", 643}, {"ts is null", 95}, {"id < 1000000000100", 34}, {"flag is null or flag", 2405},
		{"const_col = 7", 5000}, {"const_col <> 7", 0},
	} {
		ds := must.Get(dataset.OpenInputs(t.Context(), []string{path}, settings.Options{Where: c.where, Columns: []string{"id"}}))(t)
		var match []int64
		if c.rows > 0 {
			match = must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Positions
		}
		for _, memory := range []int64{0, 8<<20 + writer.WorkerBytes} {
			opt.Where, opt.Memory, opt.Threads = c.where, memory, 2
			out := filepath.Join(at, "part.parquet")
			report := MustApply(t, []string{path}, out, opt)
			if report.Rows != c.rows || int(c.rows) != len(match) {
				t.Errorf("%s: %d rows, want %d", c.where, report.Rows, c.rows)
			}
			got := formattest.ReadDump(t, out)
			if len(got.Leaves) != len(all.Leaves) {
				t.Fatalf("%s: %d columns, not %d", c.where, len(got.Leaves), len(all.Leaves))
			}
			for j := range all.Leaves {
				full, part := rowsAsText(&all.Leaves[j]), rowsAsText(&got.Leaves[j])
				var want []string
				for _, row := range match {
					want = append(want, full[row])
				}
				if !slices.Equal(part, want) {
					t.Errorf("%s, %d bytes: column %s differs: %d rows, want %d", c.where, memory, all.Leaves[j].Path, len(part), len(want))
				}
			}
			formattest.Must(t, os.Remove(out))
		}
	}
	if _, err := ApplyColumns(t.Context(), []string{path}, filepath.Join(at, "x.parquet"), ApplyOptions{Columns: []string{"id"}, Where: "nothing > 1"}); !chunkiotest.IsUsage(err) {
		t.Errorf("an unknown column: %v", err)
	}
}

// A folder keeps its layout without the files that their keys exclude; Arrow files and sparse
// rows lose the same rows as Parquet files.
func TestApplyWhereOfFolders(t *testing.T) {
	at := t.TempDir()
	tab := chunkiotest.WhereTable(rand.New(rand.NewPCG(9, 9)), 3000, 0.05)
	content := chunkiotest.ArrowBytes(t, tab, 700, true)
	for _, day := range []string{"1", "2", "3"} {
		dir := filepath.Join(at, "in", "day="+day)
		formattest.Must(t, os.MkdirAll(dir, 0o755))
		formattest.Must(t, os.WriteFile(filepath.Join(dir, "x.arrow"), content, 0o600))
	}
	where := "day <> 2 and not a0 > 0 and rank < 2500"
	out := filepath.Join(at, "out")
	report := MustApply(t, []string{filepath.Join(at, "in")}, out, ApplyOptions{Columns: []string{"a1"}, Also: []string{"rank"}, Where: where})
	want := must.Get(chunkiotest.CollectRows(must.Get(dataset.OpenInputs(context.Background(), []string{filepath.Join(at, "in")},
		settings.Options{Where: where, Columns: []string{"a1", "rank"}, Missing: stream.MissingKeep}))(t), stream.Range{}))(t)
	back := must.Get(dataset.OpenInputs(context.Background(), []string{out}, settings.Options{Columns: []string{"a1", "rank"}, Missing: stream.MissingKeep}))(t)
	got := must.Get(chunkiotest.CollectRows(back, stream.Range{}))(t)
	if got.Positions = want.Positions; report.Files != 2 || int(report.Rows) != len(want.Rows) || len(want.Rows) < 100 {
		t.Errorf("%d files with %d rows, want %d", report.Files, report.Rows, len(want.Rows))
	}
	if got.Blocks = want.Blocks; chunkiotest.DescribeDiff(got, want) != "" {
		t.Errorf("applied rows differ from the matching ones: %s", chunkiotest.DescribeDiff(got, want))
	}
	var paths []string
	for _, in := range back.Inputs() {
		paths = append(paths, strings.TrimPrefix(filepath.ToSlash(in.Path), filepath.ToSlash(out)))
	}
	if len(paths) != 2 || !strings.HasPrefix(paths[0], "/day=1/") || !strings.HasPrefix(paths[1], "/day=3/") {
		t.Errorf("files %v", paths)
	}
}

func TestApplyWhereOfSparseRows(t *testing.T) {
	path := fixtures.DatasetPath(t, "basehock_sparse.parquet")
	at := t.TempDir()
	opt := ApplyOptions{Columns: []string{"values[5]", "values[100]", "values[4000]"}, Also: []string{"label"}, Sparse: "indices,values,4862"}
	whole, part := filepath.Join(at, "whole.parquet"), filepath.Join(at, "part.parquet")
	MustApply(t, []string{path}, whole, opt)
	opt.Where = "label = 2"
	MustApply(t, []string{path}, part, opt)
	all, some := formattest.ReadDump(t, whole), formattest.ReadDump(t, part)
	label := rowsAsText(all.FindLeaf("label"))
	for j := range all.Leaves {
		var want []string
		for i, row := range rowsAsText(&all.Leaves[j]) {
			if strings.HasSuffix(label[i], "2") {
				want = append(want, row)
			}
		}
		if got := rowsAsText(&some.Leaves[j]); !slices.Equal(got, want) || len(want) < 900 {
			t.Errorf("%s: %d rows, want %d", all.Leaves[j].Path, len(got), len(want))
		}
	}
}
