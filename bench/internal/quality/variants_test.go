package quality

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// TestVariantsOfSettings: a variant has the settings after its colon, in its name or in full; the commas between
// settings do not divide variants.
func TestVariantsOfSettings(t *testing.T) {
	o := &options{methods: strings.Split("random,sfufs:alpha=0.1,clusters=20,greedy:swap,greedy:scale=rank,refine=swap,sfufs:identity,gamma=2,greedy,random,mcfs:none", ",")}
	must.Do(t, o.chooseVariants())
	want := []variant{
		{name: "random", method: "random", baseline: "random"},
		{name: "sfufs:alpha=0.1,clusters=20", method: "sfufs", settings: method.Settings{"alpha": "0.1", "clusters": "20"}},
		{name: "greedy:swap", method: "greedy", settings: method.Settings{"refine": "swap"}, needsRunPerCount: true},
		{name: "greedy:scale=rank,refine=swap", method: "greedy", scale: "rank", settings: method.Settings{"refine": "swap"}, needsRunPerCount: true},
		{name: "sfufs:identity,gamma=2", method: "sfufs", settings: method.Settings{"constraint": "identity", "gamma": "2"}},
		{name: "greedy", method: "greedy"},
		{name: "mcfs:none", method: "mcfs", scale: "none", needsRunPerCount: true},
	}
	if !slices.EqualFunc(o.variants, want, func(a, b variant) bool {
		same := maps.Equal(a.settings, b.settings)
		a.settings, b.settings = nil, nil
		return same && fmt.Sprint(a) == fmt.Sprint(b)
	}) {
		t.Errorf("the variants are\n%+v, want\n%+v", o.variants, want)
	}
	known := knownVariants()
	for _, v := range variantSettings {
		if !slices.ContainsFunc(known, func(other variant) bool { return other.name == v.name }) {
			t.Errorf("%s, which is %s, is not measured", v.name, v.settings)
		}
	}
}

func TestVariantsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"gredy": "did you mean greedy", "sfufs:alhpa=1": "did you mean alpha", "sfufs:identty": "did you mean identity", "sfufs:x=1": "it has scale, anchors,",
		"greedy:alpha=1": `no option "alpha"`, "sfufs:": `no option ""`, "sfufs:alpha=": "no value", "sfufs:alpha=-1": "at least 0", "sfufs:alpha=1,alpha=2": "twice",
		"sfufs:alpha=1e-3..1e3": "takes one", "sfufs:clusters=x": "whole number", "sfufs:scale=nnoe": "want none, center", "default:scale=none": `unknown method "default"`,
	} {
		bench.CheckRefusal(t, exit.Usage, want, "quality", "--methods", name, t.TempDir())
	}
}

// TestQualityOfEveryFormat: the same table has the same scores in every format, in a folder or named as a file, and
// with a label of text and of another name.
func TestQualityOfEveryFormat(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "q")
	original := filepath.Join(t.TempDir(), "planted.parquet")
	bench.MakePlanted(t, original, 240, 24, "--label")
	names, columns := benchtest.ReadTable(t, original, chunkio.Options{})
	label := slices.Index(names, "label")
	var table, lines, sparse strings.Builder
	w := csv.NewWriter(&table)
	must.Do(t, w.Write(append(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "label" }), "kind of row")))
	for i := range columns[0] {
		var row []string
		fmt.Fprintf(&sparse, "%v", columns[label][i])
		fmt.Fprintf(&lines, `{"kind of row": "class %v"`, columns[label][i])
		for j, name := range names {
			if j != label {
				row = append(row, fmt.Sprint(columns[j][i]))
				fmt.Fprintf(&lines, `, %q: %v`, name, columns[j][i])
				fmt.Fprintf(&sparse, " %d:%v", len(row)-1, columns[j][i])
			}
		}
		must.Do(t, w.Write(append(row, fmt.Sprintf("class %v", columns[label][i]))))
		lines.WriteString("}\n")
		sparse.WriteByte('\n')
	}
	w.Flush()
	for name, text := range map[string]string{
		"rows.csv": table.String(), "lines.ndjson": lines.String(), "numbers.libsvm": sparse.String(), "README.md": "no set",
		"other.txt": table.String(), // recognized by its bytes, if it is named
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	arrow := filepath.Join(t.TempDir(), "arrow.feather")
	form := must.Get(chunkio.OutputForm("arrow.arrow", ""))(t)
	must.Get(chunkio.Apply(t.Context(), []string{filepath.Join(dir, "rows.csv")}, arrow, chunkio.ApplyOptions{Columns: slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "label" }), Also: []string{"kind of row"}, Form: form}))(t)

	scores := make(map[string]string) // by set
	for _, args := range [][]string{{"--label", "kind of row", dir, filepath.Join(dir, "other.txt"), arrow}, {dir, original}} {
		code, _, said := bench.Run(t.Context(), append([]string{"quality", "--generated=false", "-o", out, "--k", "10", "--seeds", "3", "--methods", "variance,greedy:scale=center,align"}, args...)...)
		if code != exit.Done {
			t.Fatalf("%v: exit %d: %s", args, code, said)
		}
		for _, row := range must.Get(csv.NewReader(strings.NewReader(benchtest.ReadText(t, out+".csv"))).ReadAll())(t)[1:] {
			scores[row[0]] += fmt.Sprintln(row[4], row[8:14], row[20])
		}
	}
	if want := []string{"arrow", "lines", "numbers", "other.txt", "planted", "rows"}; !slices.Equal(slices.Sorted(maps.Keys(scores)), want) {
		t.Errorf("the sets are %q, want %q", slices.Sorted(maps.Keys(scores)), want)
	}
	for set, got := range scores {
		if got != scores["planted"] || strings.Count(got, "\n") != 3 {
			t.Errorf("the scores on %s are\n%s, those in Parquet\n%s", set, got, scores["planted"])
		}
	}
}
