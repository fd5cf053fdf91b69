package ufs_test

import (
	"context"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// byHand is a source whose category indicators are computed by hand, as in multiple correspondence analysis, as
// plain numbers.
type byHand struct {
	stream.Source
	share []float64 // by column; 0 for those that are no indicators
}

func (s byHand) Columns() []stream.Column {
	cols := slices.Clone(s.Source.Columns())
	for j := range cols {
		cols[j].Block = ""
		if s.share[j] > 0 {
			cols[j].Type = "double"
		}
	}
	return cols
}

func (s byHand) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		for c, err := range s.Source.Chunks(ctx, r) {
			if err == nil {
				own := *c
				own.Data = slices.Clone(c.Data)
				for j, p := range s.share {
					for i := range c.Rows {
						if x := own.Data[j*c.Stride:]; p > 0 {
							x[i] = (x[i] - p) / math.Sqrt(p)
						}
					}
				}
				c = &own
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A column of categories gives the selection that its indicators give, made and scaled by hand; from
// the data, from one scan, from shards and by a plan alike.
func TestCategorical(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	q := ufs.Request{
		Input:   ufs.Input{Paths: []string{path}},
		Columns: ufs.Columns{Categorical: "auto", Label: "label", Names: []string{"category", "d_clean", "u32", "emb", "geo.*", "day"}},
		Choice:  ufs.Choice{Method: "greedy", K: 8, Scale: "center"},
	}
	s := must.Get(ufs.Select(t.Context(), q))(t)
	opt := chunkio.Options{Columns: q.Columns.Names}
	ds := must.Get(chunkio.Open(t.Context(), q.Input.Paths, opt))(t)
	opt.Categories = must.Get(ds.Categories(t.Context(), nil, 64))(t)
	ds = must.Get(ds.With(opt))(t)
	hand := byHand{ds, make([]float64, len(ds.Columns()))}
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		for j, col := range ds.Columns() {
			for _, x := range c.Col(j) {
				if col.Type == stream.CategoryType {
					hand.share[j] += x / float64(ds.Rows())
				}
			}
		}
	}
	made := filepath.Join(t.TempDir(), "hand.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), made, hand, chunkio.WriteOptions{RowGroupRows: 2048}))
	numbers := q
	numbers.Input.Paths, numbers.Columns.Categorical, numbers.Columns.Names, numbers.Columns.Label = []string{made}, "", nil, ""
	numbers.Choice.Groups, numbers.Choice.Costs = "regex:^(category)=", `{"category": 1}` // whole, at the price of the column
	want := must.Get(ufs.Select(t.Context(), numbers))(t)
	if !slices.Equal(picked(s), picked(want)) || len(s.Columns) != len(want.Columns) {
		t.Errorf("%v of %d features, want %v of %d", picked(s), len(s.Columns), picked(want), len(want.Columns))
	}
	for i := range s.Selected {
		if a, b := float64(s.Selected[i].Error), float64(want.Selected[i].Error); math.Abs(a-b) > 1e-9 { // shares of 1
			t.Errorf("error %v after %d, want %v", a, i+1, b)
		}
	}
	if text, _ := s.Options["categories"].(string); !strings.HasPrefix(text, `{"category":["`) || s.Options["categorical"] != "auto" {
		t.Errorf("options %v", s.Options)
	}
	for what, stats := range gatheredAlike(t, q, path) {
		from := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 8, Scale: "center"}}))(t)
		if !slices.Equal(picked(from), picked(s)) || from.Options["categories"] != s.Options["categories"] {
			t.Errorf("%s: %v, want %v", what, picked(from), picked(s))
		}
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	report := must.Get(ufs.Apply(t.Context(), ufs.ApplyRequest{Input: ufs.Input{Paths: []string{path}}, Selection: s, Output: out}))(t)
	if slices.ContainsFunc(report.Columns, func(c string) bool { return strings.Contains(c, "=") }) {
		t.Errorf("applied %v", report.Columns)
	}
	judged := must.Get(ufs.Eval(t.Context(), ufs.EvalRequest{Input: ufs.Input{Paths: []string{path}}, Label: "label", Runs: 1, Restarts: 1, Selections: []ufs.NamedSelection{{Selection: s}}}))(t)
	if len(judged.Results) == 0 {
		t.Error("not judged")
	}
	// Rows of a graph and its methods standardize alike.
	graph := q
	graph.Choice.Method, graph.Choice.Scale, graph.Choice.K = "laplacian", "", 4
	byGraph := must.Get(ufs.Select(t.Context(), graph))(t)
	graph.Input.Paths, graph.Columns.Categorical, graph.Columns.Names, graph.Choice.Scale, graph.Columns.Label = []string{made}, "", nil, "center", ""
	if len(byGraph.Columns) != len(must.Get(ufs.Select(t.Context(), graph))(t).Columns) {
		t.Error("a graph of other features")
	}
}

// What cannot be columns of categories is refused with the way out, and text with too many values is
// left out with the reason.
func TestCategoricalRefusals(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	for says, q := range map[string]ufs.Request{
		"no ranks":             {Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Categorical: "auto"}, Choice: ufs.Choice{Scale: "rank"}},
		"no column has this":   {Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Categorical: "categry"}},
		"number theirs":        {Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Categorical: "auto", Sparse: "a,b"}},
		"as {label} or weight": {Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Categorical: "category", Label: "category"}},
	} {
		if strings.HasPrefix(says, "as ") {
			says = "it is the"
		}
		q.Choice.Method, q.Columns.Missing = "greedy", "mean"
		if _, err := ufs.Select(t.Context(), q); exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	plain := scan(t, ufs.ScanRequest{Request: ufs.Request{Columns: ufs.Columns{Missing: "mean"}}}, path)
	if _, err := ufs.Select(t.Context(), ufs.Request{Stats: plain, Choice: ufs.Choice{Method: "greedy"}, Columns: ufs.Columns{Categorical: "auto"}}); exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "categorical") {
		t.Errorf("statistics without categories: %v", err)
	}
	s := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Missing: "mean", Categorical: "id,category"}, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
	if !slices.ContainsFunc(s.LeftOut, func(l stream.LeftOut) bool { return l.Name == "id" && strings.Contains(l.Why, "64 distinct") }) {
		t.Errorf("left out %v", s.LeftOut)
	}
	none := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{Missing: "mean", Categorical: "none"}, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
	if none.Options["categorical"] != nil {
		t.Errorf("options %v", none.Options)
	}
}

// Files that were scanned separately have features made of their own data, and merge refuses them with the
// reason.
func TestMadeApart(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	q := ufs.Request{Columns: ufs.Columns{Missing: "mean", MissingIndicators: true, Names: []string{"price", "d_clean"}}}
	ds := must.Get(chunkio.Open(t.Context(), []string{path}, chunkio.Options{Columns: q.Columns.Names, Where: "price is not null"}))(t)
	whole := filepath.Join(t.TempDir(), "whole.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), whole, ds, chunkio.WriteOptions{Required: true}))
	refused(t, exit.Usage, "made from values of the data", ufs.MergeRequest{}, scan(t, ufs.ScanRequest{Request: q}, path), scan(t, ufs.ScanRequest{Request: q}, whole))
}

// Whole numbers of CSV that a float64 cannot tell apart are categories of their own.
func TestCategoriesOfWholeNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	must.Do(t, os.WriteFile(path, []byte("id,x\n9007199254740992,1\n9007199254740993,2\n9007199254740992,4\n"), 0o644))
	s := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{path}}, Choice: ufs.Choice{Method: "greedy", K: 1}, Columns: ufs.Columns{Categorical: "id"}}))(t)
	if text := s.Options["categories"]; text != `{"id":["9007199254740992","9007199254740993"]}` {
		t.Errorf("categories %v", text)
	}
}
