package chunkio

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func leftOutAt(i int, name, why string) stream.LeftOut {
	return stream.LeftOut{Name: name, Why: why, Column: stream.PositionAt(i)}
}

func TestEveryColumnIsAFeatureOrHasAReason(t *testing.T) {
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(1, 1)), 10, 5, 0)
	disk, paths := PlantTable(tab, 1, 10, 1)
	ds := disk.OpenDataset(t, paths, Options{
		Label: "a0", Weight: "a1", Exclude: []string{"a2", "emb[0]", "name"}, Columns: []string{"a*", "emb"},
		LeaveOut: []stream.LeftOut{{Name: "a3", Why: "constant"}, {Name: "unknown", Why: "gone"}},
	})
	if names := ColumnNames(ds); !slices.Equal(names, []string{"a4", "emb[1]", "emb[2]"}) {
		t.Errorf("columns %v", names)
	}
	want := []stream.LeftOut{ // a4 is at 4, and emb[1] and emb[2] at 6 and 7
		leftOutAt(0, "a0", "label"), leftOutAt(1, "a1", "weight"), leftOutAt(2, "a2", "excluded"), leftOutAt(3, "a3", "constant"),
		leftOutAt(5, "emb[0]", "excluded"), leftOutAt(8, "name", "text"),
	}
	if !slices.Equal(ds.LeftOut(), want) {
		t.Errorf("left out %v, want %v", ds.LeftOut(), want)
	}
	fields := slices.Collect(ds.Fields())
	if len(fields) != 9 {
		t.Errorf("%d fields, want 9", len(fields))
	}
	for _, f := range fields {
		if f.Used == (f.Why != "") || f.Used != slices.Contains(ColumnNames(ds), f.Name) {
			t.Errorf("field %+v", f)
		}
	}
}

func TestUnknownNamesAreUsageErrors(t *testing.T) {
	disk, paths := PlantTable(chunkiotest.RandomTable(rand.New(rand.NewPCG(1, 1)), 10, 2, 0), 1, 10, 1)
	ds := disk.OpenDataset(t, paths, Options{})
	for _, c := range []struct {
		opt   Options
		words string
	}{
		{Options{Label: "nane"}, "did you mean name?"},
		{Options{Weight: "b0"}, "weight b0: no column has this name; did you mean a0?"},
		{Options{Weight: "name"}, "text"},
		{Options{Weight: "emb"}, "emb[0]"},
		{Options{Label: "a0", Weight: "a0"}, "both name a0"},
		{Options{Columns: []string{"zz*"}}, "columns zz*"},
		{Options{Sample: -1}, "rows"},
	} {
		if _, err := ds.With(c.opt); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%+v: error %v, want %q", c.opt, err, c.words)
		}
	}
}

func TestListElementAsWeight(t *testing.T) {
	tab := chunkiotest.NewTable(3).AddScalar("a", []float64{1, 2, 3}).AddList("l", 2, [][]float64{{1, 5}, {0, 6}, {2, 7}})
	disk, paths := PlantTable(tab, 1, 3, 1)
	got, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, Options{Weight: "l[0]"}), stream.Range{})
	formattest.Must(t, err)
	if fmt.Sprint(got.Rows, got.Weights, got.Positions) != "[[1 5] [3 7]] [1 2] [0 2]" {
		t.Errorf("rows %v, weights %v, positions %v", got.Rows, got.Weights, got.Positions)
	}
}

func TestFeaturesNamedLikeALabelAreWarnedAbout(t *testing.T) {
	tab := chunkiotest.NewTable(2).AddScalar("Label", []float64{1, 2}).AddScalar("y", []float64{1, 2}).AddScalar("x", []float64{1, 2})
	disk, paths := PlantTable(tab, 1, 2, 1)
	ds := disk.OpenDataset(t, paths, Options{Label: "y"})
	if w := ds.Warnings(); len(w) != 1 || !strings.Contains(w[0].Spell(func(o string) string { return "--" + o }), `--label Label`) {
		t.Errorf("warnings %q", w)
	}
}

func TestRefusedColumnsFailOnlyIfSelected(t *testing.T) {
	tab := chunkiotest.NewTable(4).AddScalar("a", make([]float64, 4)).AddScalar("b", make([]float64, 4))
	disk, paths := PlantTable(tab, 2, 4, 1)
	for i := range disk.ByPath[paths[1]].Order {
		if l := &disk.ByPath[paths[1]].Order[i]; l.Name == "b" {
			l.Refused, l.Why = true, "encoding X cannot be decoded"
		}
	}
	ds := disk.OpenDataset(t, paths, Options{})
	for _, err := range []error{ds.Check(), chunkiotest.PassError(ds)} {
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), paths[1]) || !strings.Contains(err.Error(), `"b"`) ||
			!strings.Contains(err.Error(), "exclude") {
			t.Errorf("error %v", err)
		}
	}
	if f := slices.Collect(ds.Fields()); f[0].Used != true || f[1].Used || f[1].Why == "" {
		t.Errorf("fields %+v", f)
	}
	for _, opt := range []Options{{Exclude: []string{"b"}}, {Label: "b"}, {Columns: []string{"a"}}} {
		ds, err := ds.With(opt)
		formattest.Must(t, err)
		if err := chunkiotest.PassError(ds); err != nil {
			t.Errorf("a pass with %+v: %v", opt, err)
		}
	}
}

func TestNothingToSelectFrom(t *testing.T) {
	disk, paths := PlantTable(chunkiotest.NewTable(3).AddText("s"), 1, 3, 1)
	if err := chunkiotest.PassError(disk.OpenDataset(t, paths, Options{})); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "no numeric column") {
		t.Errorf("only text: error %v", err)
	}
	disk, paths = PlantTable(chunkiotest.NewTable(0).AddScalar("a", nil), 2, 3, 1)
	if err := chunkiotest.PassError(disk.OpenDataset(t, paths, Options{})); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("no rows: error %v", err)
	}
}

func TestFlattenedNamesThatClash(t *testing.T) {
	tab := chunkiotest.NewTable(1).AddScalar("l[1]", []float64{1}).AddList("l", 2, [][]float64{{1, 2}})
	disk, paths := PlantTable(tab, 1, 1, 1)
	if _, err := OpenPaths(t.Context(), paths, disk.Open, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), `"l[1]"`) {
		t.Errorf("error %v", err)
	}
}
