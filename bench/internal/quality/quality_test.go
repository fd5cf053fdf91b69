package quality

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New, gen.New}

// smallSets is a folder with two labelled sets, one without a label, and a file that is no set.
func smallSets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	for name, args := range map[string][]string{
		"one.parquet":   {"--rows", "240", "--columns", "40", "--label"},
		"two.parquet":   {"--rows", "300", "--columns", "30", "--label", "--seed", "2"},
		"three.parquet": {"--rows", "60", "--columns", "20"},
	} {
		path := filepath.Join(dir, name)
		must.Do(t, bench.Generate(t.Context(), append([]string{"gen", "planted", "-q", "-o", path}, args...)))
	}
	return dir
}

// few are flags that make a run short.
func fewFlags(dir, out string, more ...string) []string {
	return slices.Concat([]string{"quality", dir, "-o", out, "--generated=false", "--k", "5,20", "--seeds", "3",
		"--methods", "all,random,variance,greedy,mcfs"}, more)
}

// TestQuality: a run has a finding for every set and variant and writes all files; the same
// command again runs nothing.
func TestQuality(t *testing.T) {
	dir, out := smallSets(t), filepath.Join(t.TempDir(), "sub", "q")
	code, _, said := bench.Run(t.Context(), fewFlags(dir, out)...)
	if code != exit.Done {
		t.Fatalf("exit %d: %s", code, said)
	}
	if n := strings.Count(said, "NMI"); n != 10 || !strings.Contains(said, "three.parquet is left out") {
		t.Errorf("%d findings, want 10:\n%s", n, said)
	}
	rows := must.Get(csv.NewReader(strings.NewReader(benchtest.ReadText(t, out+".csv"))).ReadAll())(t)
	if len(rows) != 1+2*5*2 {
		t.Errorf("%d lines of CSV", len(rows))
	}
	for _, row := range rows[1:] {
		if row[4] == "greedy" && (row[8] == "" || row[12] == "" || (row[13] == "") != (row[5] == "20")) {
			t.Errorf("no NMI, error or stability: %q", row)
		}
	}
	summary := benchtest.ReadText(t, out+".md")
	for _, want := range []string{"## 5 % of the features", "## 20 % of the features", "## All shares", "Friedman over 2 sets", "greedy", "| one | 240 | 40 | 2 8 |"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q:\n%s", want, summary)
		}
	}
	for _, name := range []string{"5", "20", "all"} {
		must.Do(t, xml.Unmarshal([]byte(benchtest.ReadText(t, out+"-ranks-"+name+".svg")), new(struct{})))
	}
	if !json.Valid([]byte(benchtest.ReadText(t, out+".json"))) {
		t.Error("no JSON")
	}
	benchtest.CheckNoScratch(t)
	lines := benchtest.ReadText(t, out+".jsonl")
	if code, _, said := bench.Run(t.Context(), fewFlags(dir, out)...); code != exit.Done || strings.Contains(said, "NMI") {
		t.Errorf("again: exit %d: %s", code, said)
	}
	if benchtest.ReadText(t, out+".jsonl") != lines || benchtest.ReadText(t, out+".csv") == "" {
		t.Error("findings were made twice")
	}
	if code, _, said := bench.Run(t.Context(), fewFlags(dir, out, "--fresh", "--methods", "variance", "--sets", "one")...); code != exit.Done || strings.Count(said, "NMI") != 5 {
		t.Errorf("--fresh: exit %d: %s", code, said)
	}
}

// TestQualityHeldOut: a half of the sets is in no table but its own, and its scores are not shown on
// the way.
func TestQualityHeldOut(t *testing.T) {
	dir, out := smallSets(t), filepath.Join(t.TempDir(), "q")
	kinds := filepath.Join(dir, "kinds.csv")
	must.Do(t, os.WriteFile(kinds, []byte("one,tables\ntwo, tables\n"), 0o666))
	code, _, said := bench.Run(t.Context(), fewFlags(dir, out, "--k", "5", "--halves", "0", "--held-out", "1", "--kinds", kinds)...)
	if code != exit.Done {
		t.Fatalf("exit %d: %s", code, said)
	}
	if held, shown := strings.Count(said, "held out in"), strings.Count(said, "NMI "); held != 5 || shown != 5 {
		t.Errorf("%d findings are held out and %d shown, want 5 and 5:\n%s", held, shown, said)
	}
	hidden := "one"
	if strings.Contains(said, "two, greedy: held out") {
		hidden = "two"
	}
	summary := benchtest.ReadText(t, out+".md")
	chosenOn, rest, ok := strings.Cut(summary, "## 5 % of the features, not chosen on")
	if !ok || !strings.Contains(chosenOn, "## 5 % of the features, chosen on") {
		t.Fatalf("no two tables:\n%s", summary)
	}
	if own, _, _ := strings.Cut(rest, "## The sets"); strings.Contains(chosenOn, "| "+hidden) || !strings.Contains(own, "| "+hidden+" |") {
		t.Errorf("%s is not in its own table alone:\n%s", hidden, summary)
	}
}

// findingsOf reads a file of findings, without times.
func findingsOf(t *testing.T, path string) map[[6]string]finding {
	t.Helper()
	f := must.Get(openFindings(path))(t)
	must.Do(t, f.Close())
	for _, one := range f.list {
		for i := range one.Choices {
			one.Choices[i].Seconds = 0
		}
	}
	return f.list
}

// TestQualityGoesOn: wherever a run is interrupted, also in the middle of a line, the next one
// ends with the findings of a run that was not; threads change nothing.
func TestQualityGoesOn(t *testing.T) {
	dir, whole := smallSets(t), filepath.Join(t.TempDir(), "whole")
	if code, _, said := bench.Run(t.Context(), fewFlags(dir, whole, "--threads", "2")...); code != exit.Done {
		t.Fatalf("exit %d: %s", code, said)
	}
	want := findingsOf(t, whole+".jsonl")
	out := filepath.Join(t.TempDir(), "q")
	ctx, cancel := context.WithCancel(t.Context())
	if code := cli.Run(ctx, fewFlags(dir, out, "--threads", "1"), new(strings.Builder), benchtest.CancelAt{Word: "quality: two, variance", Cancel: cancel}, bench...); code != exit.Interrupted {
		t.Fatalf("exit %d, want an interruption", code)
	}
	text := benchtest.ReadText(t, out+".jsonl")
	if n := strings.Count(text, "\n"); n < 5 || n > 9 {
		t.Errorf("%d findings are left of the interrupted run", n)
	}
	must.Do(t, os.WriteFile(out+".jsonl", []byte(text[:len(text)-20]), 0o666))
	if code, _, said := bench.Run(t.Context(), fewFlags(dir, out, "--threads", "1")...); code != exit.Done {
		t.Fatalf("exit %d: %s", code, said)
	}
	got := findingsOf(t, out+".jsonl")
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d", len(got), len(want))
	}
	for key, w := range want {
		// NaN differs from itself, so texts are compared.
		if a, b := must.Get(json.Marshal(got[key]))(t), must.Get(json.Marshal(w))(t); !reflect.DeepEqual(a, b) {
			t.Errorf("%v:\n%s, uninterrupted\n%s", key, a, b)
		}
	}
	benchtest.CheckNoScratch(t)
}

// TestQualityRefusals: a selection that takes too long or too much memory is recorded, and ranks last.
func TestQualityRefusals(t *testing.T) {
	dir, out := smallSets(t), filepath.Join(t.TempDir(), "q")
	if code, _, said := bench.Run(t.Context(), fewFlags(dir, out, "--timeout", "1ns")...); code != exit.Done {
		t.Fatalf("exit %d: %s", code, said)
	}
	if text := benchtest.ReadText(t, out+".md"); !strings.Contains(text, "takes more than 1ns") {
		t.Errorf("%s.md does not mention the timeout:\n%s", out, text)
	}
	if code, _, said := bench.Run(t.Context(), fewFlags(dir, out, "--memory-limit", "1K")...); code != exit.Done {
		t.Fatalf("exit %d: %s", code, said)
	}
	if text := benchtest.ReadText(t, out+".md"); !strings.Contains(text, "memory") {
		t.Errorf("%s.md does not mention the memory:\n%s", out, text)
	}
}

func TestQualityUsage(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"unknown method":    {dir, "--methods", "gredy"},
		"per cent":          {dir, "--k", "0"},
		"even number":       {dir, "--halves", "3"},
		"no INPUT":          {"--generated=false"},
		"no file with a":    {dir, "--generated=false"},
		"files of sets, or": {filepath.Join(dir, "none")},
		"no glob":           {dir, "--sets", "a", "--skip", "["},
		"above 0":           {dir, "--timeout", "0s"},
		"1 seed":            {dir, "--seeds", "0"},
		"lines name,kind":   {dir, "--kinds", filepath.Join(dir, "none")},
	} {
		if code, _, said := bench.Run(t.Context(), append([]string{"quality", "-o", filepath.Join(dir, "q")}, args...)...); code != exit.Usage && code != exit.Data || !strings.Contains(said, want) {
			t.Errorf("%v: exit %d, %q, want %q", args, code, said, want)
		}
	}
	code, names, _ := bench.Run(t.Context(), "quality", "--methods", "list")
	list := strings.Fields(names)
	if code != exit.Done || len(list) < len(methods.All()) {
		t.Errorf("the list is %q", names)
	}
	slices.Sort(list)
	if len(slices.Compact(list)) != len(knownVariants()) {
		t.Error("two variants have one name")
	}
}

// tableOf is a run of some variants on some sets at one share, with their NMI, by hand: NaN is a refusal.
func tableOf(sets []dataset, names []string, nmi map[string][]float64) *run {
	r := &run{options: &options{percents: []float64{5}}}
	for _, name := range names {
		v := variant{name: name}
		if name == judge.All || name == judge.Random {
			v.baseline = name
		}
		r.variants = append(r.variants, v)
		for i, s := range sets {
			c := choiceMade{Percent: 5}
			if x := nmi[name][i]; !math.IsNaN(x) {
				c.NMI = spreadOf(x)
			} else {
				c.Refusal = "no"
			}
			r.cells = append(r.cells, cell{s, v, finding{Choices: []choiceMade{c}}})
		}
	}
	return r
}

// TestQualityTables against figures by hand: three sets, a variant that is refused on one, and
// a set without structure that does not count.
func TestQualityTables(t *testing.T) {
	nan := math.NaN()
	sets := []dataset{{name: "s", kind: kindGenes}, {name: "t", kind: kindTables}, {name: "u", kind: kindGenerated}, {name: "v", kind: kindGenerated, unranked: true}}
	r := tableOf(sets, []string{"all", "c", "b", "a"}, map[string][]float64{
		"all": {0.9, 0.9, 0.9, 0.9}, "a": {0.5, 0.4, 0.3, 0.9}, "b": {0.6, nan, 0.2, 0.1}, "c": {0.1, 0.2, 0.1, 0.1}})
	tables := r.makeTables(sets)
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	x := tables[0]
	if want := []string{kindTables, kindGenes, kindGenerated}; !slices.Equal(x.kinds, want) {
		t.Errorf("kinds %v, want %v", x.kinds, want)
	}
	want := []struct {
		name                          string
		rank, mean, public, gene, gap float64
		refused                       int
	}{{"a", 4. / 3, 0.4, 0.45, 0.5, 0, 0}, {"b", 2, 0.4, 0.6, 0.6, 0, 1}, {"c", 8. / 3, 0.4 / 3, 0.15, 0.1, -0.8 / 3, 0}, {"all", math.Inf(1), 0.9, 0.9, 0.9, 0.5, 0}}
	near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-12 }
	for i, w := range want {
		g := x.rows[i]
		mean, public, gene := x.meanOver(g, scoreNMI, acceptsAnyKind), x.meanOver(g, scoreNMI, isPublicKind), x.meanOver(g, scoreNMI, acceptsOnlyKind(kindGenes))
		if g.variant != w.name || !near(g.rank, w.rank) || !near(mean, w.mean) || !near(public, w.public) || !near(gene, w.gene) || !near(g.gap, w.gap) || g.refused != w.refused {
			t.Errorf("row %d is %+v of means %v, %v and %v, want %+v", i, g, mean, public, gene, w)
		}
	}
}

// TestTextByCosine: sets of text are ranked by rows divided by their lengths, all others by the
// columns as they are.
func TestTextByCosine(t *testing.T) {
	accuracy := stream.Number(0.7)
	c := choiceMade{scores: scores{NMI: spreadOf(0.1)}, Cosine: &scores{NMI: spreadOf(0.6), KNN: &accuracy}, Standard: &scores{NMI: spreadOf(0.3)}}
	sets := []dataset{{name: "words", kind: kindText}, {name: "cells", kind: kindGenes}}
	r := &run{options: &options{percents: []float64{5}, variants: []variant{{name: "a"}}}}
	for _, s := range sets {
		r.cells = append(r.cells, cell{s, r.variants[0], finding{Choices: []choiceMade{c}}})
	}
	x := r.makeTables(sets)[0]
	got := []float64{x.rows[0].scores[scoreNMI][0], x.rows[0].scores[scoreNMI][1], x.rows[0].scores[scoreFile][0], x.rows[0].scores[scoreStandard][0], x.rows[0].scores[scoreKNN][0]}
	if want := []float64{0.6, 0.1, 0.1, 0.3, 0.7}; !slices.Equal(got, want) {
		t.Errorf("NMI of text and genes, of text as it is and standardized, and kNN of text are %v, want %v", got, want)
	}
	if got := (choiceMade{scores: scores{NMI: spreadOf(0.1)}}).rankedScores(kindText); got.NMI != nil {
		t.Errorf("a refused choice on text has the scores %+v", got)
	}
}

// TestDemands compares with sentences by hand: each miss of the default is named.
func TestDemands(t *testing.T) {
	nan := math.NaN()
	sets := []dataset{{name: "faces", kind: kindPictures}, {name: "words", kind: kindPictures}, {name: "cells", kind: kindGenes}, {name: "made-noise", kind: kindGenerated}}
	nmi := map[string][]float64{
		"default": {0.50, 0.40, 0.30, 0.79}, "greedy": {0.49, 0.30, 0.32, 0.10}, "align": {0.40, 0.42, 0.10, 0.90},
		"random": {0.53, 0.42, 0.10, 0.10}, "all": {0.9, 0.9, 0.9, 0.9}}
	x := tableOf(sets, []string{"all", "default", "greedy", "align", "random"}, nmi).makeTables(sets)[0]
	want := []string{
		"met: pictures: +4.0 to align, the best variant (want −1)",
		"MISSED: genes: -2.0 to greedy, the best variant (want −1)",
		"met: all public sets: +3.0 to greedy (want +3)",
		"MISSED: sets more than 2 below random: faces (-3.0)",
		"MISSED: made-noise: 79.0 (want 80)",
	}
	if got := x.listDemands(); !slices.Equal(got, want) {
		t.Errorf("demands\n%q, want\n%q", got, want)
	}
	nmi["default"][2] = nan
	x = tableOf(sets, []string{"default", "random"}, nmi).makeTables(sets)[0]
	if got := x.listDemands(); !slices.Contains(got, "MISSED: sets more than 2 below random: faces (-3.0), cells (refused)") {
		t.Errorf("a refusal is no miss: %q", got)
	}
	if got := tableOf(sets, []string{"greedy", "random"}, nmi).makeTables(sets)[0].listDemands(); got != nil {
		t.Errorf("demands without the default: %q", got)
	}
}
