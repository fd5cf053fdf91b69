package relating

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/judging/alike"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// TestExplainBlocks: an input's column that several were made of is explained by each of these, chosen as it is.
func TestExplainBlocks(t *testing.T) {
	columns := []stream.Column{{Name: "color=blue", Block: "color"}, {Name: "color=red", Block: "color"}, {Name: "n"}}
	c := &correlations{
		Matrix:  alike.New(kernel.NewTeam(1), alike.Data{Names: wording.ColumnNames(columns), Gram: []float64{2, -1, 0.5, -1, 2, 0.25, 0.5, 0.25, 1}, Rows: 50}),
		columns: columns, mean: make([]float64, 3), std: []float64{1, 1, 1}, index: map[string]int{"color=blue": 0, "color=red": 1, "n": 2},
	}
	x := &explainer{out: &result.Explanation{}, selection: &stream.Selection{
		Features: 3, Selected: []stream.Selected{{Rank: 1, Name: "color", Members: []string{"color=blue", "color=red"}, Reads: []string{"color"}, Error: 0.4}},
		Columns: []stream.ColumnReport{{Name: "color=blue", Explained: 1}, {Name: "color=red", Explained: 1}, {Name: "n", Explained: 0.5, Nearest: "color=red"}},
	}}
	x.indexSelection()
	must.Do(t, x.explainColumns([]string{"color", "n"}, c))
	if len(x.out.Columns) != 3 || len(x.out.Warnings) != 0 {
		t.Fatalf("%+v, warnings %q", x.out.Columns, x.out.Warnings)
	}
	for k, col := range x.out.Columns[:2] {
		if col.Name != columns[k].Name || col.State != result.StateKept || col.Rank != 1 || math.Abs(float64(*col.Added)-0.6) > 1e-15 || len(col.StandsFor) != 1 || len(col.Relations.Terms) != 1 {
			t.Errorf("column %+v: want %s kept at rank 1, adding 0.6, with one stand-in and one term", col, columns[k].Name)
		}
	}
	if n := x.out.Columns[2]; n.State != result.StateDropped || len(n.Relations.Terms) != 2 {
		t.Errorf("column %+v: want it dropped, with two terms", n)
	}
}
