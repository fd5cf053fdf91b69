package copying

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

func MustApply(t *testing.T, inputs []string, out string, opt ApplyOptions) ApplyReport {
	t.Helper()
	report, err := ApplyColumns(t.Context(), inputs, out, opt)
	formattest.Must(t, err)
	return report
}

// sameColumn compares a flat output column with its source.
func sameColumn(t *testing.T, got *formattest.Leaf, name string, node *schema.PrimitiveNode, rep parquet.Repetition, want []string) {
	t.Helper()
	if got == nil {
		t.Fatalf("no column %q in the output", name)
	}
	if got.Node.PhysicalType() != node.PhysicalType() || !got.Node.LogicalType().Equals(node.LogicalType()) ||
		node.PhysicalType() == parquet.Types.FixedLenByteArray && got.Node.TypeLength() != node.TypeLength() || got.Node.ConvertedType() != node.ConvertedType() || got.Node.RepetitionType() != rep {
		t.Errorf("column %q has type %v, want %v %v", name, got.Node, rep, node)
	}
	if rows := got.RowTexts(); !slices.Equal(rows, want) {
		for i := range want {
			if i >= len(rows) || rows[i] != want[i] {
				t.Fatalf("column %q: row %d of %d is %v, want %v", name, i, len(rows), rows[min(i, len(rows)-1)], want[i])
			}
		}
		t.Fatalf("column %q: %d rows, want %d", name, len(rows), len(want))
	}
}

func TestApplyMessyEveryColumn(t *testing.T) {
	in := fixtures.DatasetPath(t, "messy.parquet")
	src := formattest.ReadDump(t, in)
	var selected, also []string
	for _, l := range src.Leaves {
		switch {
		case strings.HasPrefix(l.Path, "emb."), strings.HasPrefix(l.Path, "vals."):
		case strings.HasPrefix(l.Path, "d_"), strings.HasPrefix(l.Path, "geo."):
			selected = append(selected, l.Path)
		default:
			also = append(also, l.Path)
		}
	}
	selected = append(selected, "emb[15]", "emb[3]", "emb[0]")
	also = append(also, "vals", "emb", "geo", "d_clean")
	for _, opt := range []ApplyOptions{{}, {Threads: 1, Memory: 4<<20 + writer.WorkerBytes}} {
		opt.Columns, opt.Also = selected, also
		out := filepath.Join(t.TempDir(), "out.parquet")
		report := MustApply(t, []string{in}, out, opt)
		got := formattest.ReadDump(t, out)
		if want := append(slices.Clone(selected), also[:len(also)-1]...); !slices.Equal(report.Columns, want) {
			t.Fatalf("columns %q, want %q", report.Columns, want)
		}
		for i := range got.Root.NumFields() {
			if got.Root.Field(i).Name() != report.Columns[i] {
				t.Fatalf("column %d is %q, want %q", i, got.Root.Field(i).Name(), report.Columns[i])
			}
		}
		if report.Rows != 5000 || report.Files != 1 || !slices.Equal(got.Groups, src.Groups) {
			t.Fatalf("%+v with row groups %v", report, got.Groups)
		}
		for _, l := range src.Leaves {
			if strings.HasPrefix(l.Path, "emb.") {
				for _, e := range []int{15, 3, 0} {
					name := fmt.Sprintf("emb[%d]", e)
					sameColumn(t, got.FindLeaf(name), name, l.Node, parquet.Repetitions.Optional, l.ElementTexts(e))
				}
			}
			if _, nested := src.Root.Field(src.Root.FieldIndexByName(l.Top)).(*schema.GroupNode); nested {
				// A whole field is the same in all, levels included; geo.lat stands there twice.
				same := slices.ContainsFunc(got.Leaves, func(o formattest.Leaf) bool {
					return o.Path == l.Path && slices.Equal(o.Def, l.Def) && slices.Equal(o.Rep, l.Rep) && slices.Equal(o.Values, l.Values)
				})
				if !same {
					t.Errorf("column %q differs", l.Path)
				}
			}
			if !strings.HasPrefix(l.Path, "emb.") && !strings.HasPrefix(l.Path, "vals.") {
				sameColumn(t, got.FindLeaf(l.Path), l.Path, l.Node, parquet.Repetitions.Optional, l.RowTexts())
			}
		}
		for _, name := range []string{"emb", "vals", "geo"} {
			if !got.Root.Field(got.Root.FieldIndexByName(name)).Equals(src.Root.Field(src.Root.FieldIndexByName(name))) {
				t.Errorf("field %q has another schema", name)
			}
		}
	}
}

var everyFlat = []string{"bool", "u8", "u64", "i96", "float", "double", "text", "decimal", "half", "ts", "day"}

// Types, nullability, NaN payloads and row groups survive, whatever the threads and memory.
func TestApplyEveryType(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	formattest.WriteEveryType(t, in, 0, 1, 4500, 0, 37)
	src := formattest.ReadDump(t, in)
	var names []string
	for _, n := range everyFlat {
		names = append(names, "r_"+n, "o_"+n)
	}
	var first []byte
	for _, opt := range []ApplyOptions{{Threads: 1}, {Threads: 8}, {Threads: 2, Memory: 3<<20 + writer.WorkerBytes}} {
		opt.Columns, opt.Also = []string{"emb[2]", "emb[0]", "geo.name"}, slices.Concat(names, []string{"emb", "geo.lat"})
		out := filepath.Join(dir, "out.parquet")
		MustApply(t, []string{in}, out, opt)
		got := formattest.ReadDump(t, out)
		if !slices.Equal(got.Groups, []int64{1, 4500, 37}) {
			t.Fatalf("row groups %v", got.Groups)
		}
		for _, n := range names {
			sameColumn(t, got.FindLeaf(n), n, src.FindLeaf(n).Node, src.FindLeaf(n).Node.RepetitionType(), src.FindLeaf(n).RowTexts())
		}
		emb := src.FindLeaf("emb.list.element")
		for _, e := range []int{2, 0} {
			name := fmt.Sprintf("emb[%d]", e)
			sameColumn(t, got.FindLeaf(name), name, emb.Node, parquet.Repetitions.Optional, emb.ElementTexts(e))
		}
		for _, n := range []string{"geo.name", "geo.lat"} {
			sameColumn(t, got.FindLeaf(n), n, src.FindLeaf(n).Node, parquet.Repetitions.Optional, src.FindLeaf(n).RowTexts())
		}
		whole := got.FindLeaf("emb.list.element")
		if !slices.Equal(whole.Def, emb.Def) || !slices.Equal(whole.Rep, emb.Rep) || !slices.Equal(whole.Values, emb.Values) {
			t.Fatal("the whole list differs")
		}
		data, err := os.ReadFile(out)
		formattest.Must(t, err)
		if first == nil {
			first = data
		}
		if !slices.Equal(first, data) {
			t.Fatalf("%+v: other bytes", opt)
		}
	}
}

// Several files become one with their row groups in order of the paths.
func TestApplySeveralToOne(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a", "b", "c"} {
		formattest.WriteEveryType(t, filepath.Join(dir, name+".parquet"), 100*i, 60, 40)
	}
	all := filepath.Join(dir, "all.bin")
	formattest.WriteEveryType(t, all, 0, 60, 40, 60, 40, 60, 40)
	opt := ApplyOptions{Columns: []string{"o_double", "emb[1]"}, Also: []string{"r_text"}}
	report := MustApply(t, []string{filepath.Join(dir, "*.parquet")}, filepath.Join(t.TempDir(), "x.parquet"), opt)
	if report.Rows != 300 || report.Files != 1 {
		t.Fatalf("applied to one file: %+v, want 300 rows in 1 file", report)
	}
	one, whole := filepath.Join(t.TempDir(), "one.parquet"), filepath.Join(t.TempDir(), "whole.parquet")
	MustApply(t, []string{filepath.Join(dir, "*.parquet")}, one, opt)
	MustApply(t, []string{all}, whole, opt)
	if a, b := formattest.ReadDump(t, one), formattest.ReadDump(t, whole); !slices.Equal(a.Groups, b.Groups) || !reflect.DeepEqual(texts(a), texts(b)) {
		t.Fatal("the files one after the other are not the whole")
	}
}

// A column that is REQUIRED in one file and OPTIONAL in another is OPTIONAL in the
// one file that both become.
func TestApplyMergesNullability(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")
	for _, swap := range []bool{false, true} {
		formattest.Must(t, writing.WriteParquet(t.Context(), a, chunkiotest.EveryNumber(20, 7, swap), writing.WriteOptions{Required: !swap}))
		if err := writing.WriteParquet(t.Context(), b, chunkiotest.EveryNumber(20, 7, !swap), writing.WriteOptions{Required: swap}); err != nil {
			t.Fatalf("writing b.parquet: %v", err)
		}
		out := filepath.Join(t.TempDir(), "out.parquet")
		MustApply(t, []string{a, b}, out, ApplyOptions{Columns: []string{"uint8", "double"}})
		got := formattest.ReadDump(t, out)
		for _, n := range []string{"uint8", "double"} {
			want := append(formattest.ReadDump(t, a).FindLeaf(n).RowTexts(), formattest.ReadDump(t, b).FindLeaf(n).RowTexts()...)
			sameColumn(t, got.FindLeaf(n), n, got.FindLeaf(n).Node, parquet.Repetitions.Optional, want)
		}
	}
	formattest.Must(t, writing.WriteParquet(t.Context(), b, chunkiotest.EveryNumber(20, 7, false), writing.WriteOptions{Type: "double"}))
	_, err := ApplyColumns(t.Context(), []string{a, b}, filepath.Join(dir, "out.parquet"), ApplyOptions{Columns: []string{"uint8"}})
	var bad *stream.DataError
	if !errors.As(err, &bad) || bad.Path != b || !strings.Contains(err.Error(), a) {
		t.Errorf("files of other types: %v", err)
	}
}

func texts(d *formattest.Dump) (all [][]string) {
	for _, l := range d.Leaves {
		all = append(all, l.RowTexts())
	}
	return all
}

func TestApplyKeepsHiveLayout(t *testing.T) {
	dir := t.TempDir()
	for i, rel := range []string{"k=1/c=x/p.parquet", "k=1/c=y/p.parquet", "k=2/c=x/p.parquet"} {
		path := filepath.Join(dir, "in", filepath.FromSlash(rel))
		formattest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		formattest.WriteEveryType(t, path, 10*i, 5, 5)
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	report := MustApply(t, []string{in}, out, ApplyOptions{Columns: []string{"o_double", "k"}, Also: []string{"c", "o_text"}})
	if report.Files != 3 || report.Rows != 30 {
		t.Fatalf("applied to a folder: %+v, want 30 rows in 3 files", report)
	}
	for i, rel := range []string{"k=1/c=x/p.parquet", "k=1/c=y/p.parquet", "k=2/c=x/p.parquet"} {
		got := formattest.ReadDump(t, filepath.Join(out, rel))
		src := formattest.ReadDump(t, filepath.Join(in, rel))
		if len(got.Leaves) != 2 {
			t.Fatalf("file %d has columns %v", i, got.Leaves)
		}
		for _, n := range []string{"o_double", "o_text"} {
			sameColumn(t, got.FindLeaf(n), n, src.FindLeaf(n).Node, parquet.Repetitions.Optional, src.FindLeaf(n).RowTexts())
		}
	}

	one := filepath.Join(dir, "one.parquet")
	MustApply(t, []string{filepath.Join(in, "*", "*", "*.parquet")}, one, ApplyOptions{Columns: []string{"k"}, Also: []string{"c"}})
	got := formattest.ReadDump(t, one)
	if k := got.FindLeaf("k").RowTexts(); k[0] != "1" || k[19] != "1" || k[20] != "2" || got.FindLeaf("k").Node.PhysicalType() != parquet.Types.Int64 {
		t.Fatalf("partition key k: %v", k)
	}
	if c := got.FindLeaf("c").RowTexts(); c[0] != `"x"` || c[10] != `"y"` || c[29] != `"x"` {
		t.Fatalf("partition key c: %v", c)
	}

	// The same again into the folder that now exists is refused, and changes nothing.
	var refused *stream.OutputError
	if _, err := ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"o_bool"}}); !errors.As(err, &refused) {
		t.Fatalf("applying to a folder that exists: %v, want an OutputError", err)
	}
	if len(formattest.ReadDump(t, filepath.Join(out, "k=1/c=x/p.parquet")).Leaves) != 2 {
		t.Fatal("the old output changed")
	}
}

func TestApplySparse(t *testing.T) {
	in := fixtures.DatasetPath(t, "basehock_sparse.parquet")
	out := filepath.Join(t.TempDir(), "out.parquet")
	var columns []string
	original := []string{"label"}
	features := []int{4861, 0, 17, 1000, 1001, 2500}
	for _, f := range features {
		columns = append(columns, fmt.Sprintf("values[%d]", f))
		original = append(original, fmt.Sprintf("f%04d", f+1))
	}
	dense := formattest.ReadDump(t, fixtures.DatasetPath(t, "basehock.parquet"), original...)
	MustApply(t, []string{in}, out, ApplyOptions{Columns: columns, Also: []string{"label", "indices"}, Sparse: "indices,values,4862"})
	got := formattest.ReadDump(t, out)
	for k, f := range features {
		want := dense.FindLeaf(fmt.Sprintf("f%04d", f+1)).RowTexts()
		for i, v := range got.FindLeaf(columns[k]).RowTexts() {
			if v, _, _ := strings.Cut(v, " "); v != want[i] {
				t.Fatalf("%s, row %d: %s, want %s", columns[k], i, v, want[i])
			}
		}
		if n := got.FindLeaf(columns[k]).Node; n.PhysicalType() != parquet.Types.Float {
			t.Fatalf("%s has type %v", columns[k], n.PhysicalType())
		}
	}
	if !slices.Equal(got.FindLeaf("label").RowTexts(), dense.FindLeaf("label").RowTexts()) {
		t.Fatal("the label differs")
	}
}

func TestApplyErrors(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	formattest.WriteEveryType(t, in, 0, 100)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		inputs []string
		out    string
		opt    ApplyOptions
		want   any // pointer to the type of error
		text   string
	}{
		{"selected column missing", nil, []string{in}, "o.parquet", ApplyOptions{Columns: []string{"o_doubel"}}, new(*stream.DataError), "did you mean o_double"},
		{"also missing", nil, []string{in}, "o.parquet", ApplyOptions{Also: []string{"r_txt"}}, new(*stream.UsageError), "did you mean r_text"},
		{"element beyond the list", nil, []string{in}, "o.parquet", ApplyOptions{Columns: []string{"emb[3]"}}, new(*stream.DataError), "emb[3]"},
		{"nothing", nil, []string{in}, "o.parquet", ApplyOptions{}, new(*stream.UsageError), ""},
		{"stdin", nil, []string{"-"}, "o.parquet", ApplyOptions{Columns: []string{"x"}}, new(*stream.UsageError), ""},
		{"over the input", nil, []string{in}, "in.parquet", ApplyOptions{Columns: []string{"o_u8"}}, new(*stream.UsageError), "replace the input"},
		{"no folder", nil, []string{in}, "absent/o.parquet", ApplyOptions{Columns: []string{"o_u8"}}, new(*stream.OutputError), ""},
		{"memory", nil, []string{in}, "o.parquet", ApplyOptions{Columns: []string{"o_u8"}, Memory: 200 << 10}, new(*stream.MemoryError), "memory-limit"},
		{"cancelled", cancelled, []string{in}, "o.parquet", ApplyOptions{Columns: []string{"o_u8"}}, nil, "context canceled"},
	} {
		_, err := ApplyColumns(cmp.Or(test.ctx, t.Context()), test.inputs, filepath.Join(dir, test.out), test.opt)
		if err == nil || test.want != nil && !errors.As(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %T %v, want %T about %q", test.name, err, err, test.want, test.text)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v was left behind", entries)
	}
}

// A damaged page is an error with its place, and leaves nothing.
func TestApplyDamagedInput(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	formattest.WriteEveryType(t, in, 0, 2000, 2000)
	data, err := os.ReadFile(in)
	formattest.Must(t, err)
	failed := 0
	for at := 10; at < len(data)-5000; at += len(data) / 61 {
		bad := slices.Clone(data)
		for i := range 16 {
			bad[at+i] ^= 0xA5
		}
		formattest.Must(t, os.WriteFile(in, bad, 0o666))
		out := filepath.Join(dir, "out.parquet")
		_, err := ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"o_double", "emb[1]"}, Also: []string{"o_text", "emb", "r_i96"}})
		if err == nil {
			os.Remove(out)
			continue // plain values without a checksum, or a column that is not copied
		}
		failed++
		var bad3 *stream.DataError
		if !errors.As(err, &bad3) || bad3.Path != in {
			t.Errorf("damage at %d: %T %v", at, err, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatal("an output in spite of the error")
		}
	}
	if failed == 0 {
		t.Fatal("no damage was found at all")
	}
}
