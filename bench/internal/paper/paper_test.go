package paper

import (
	"encoding/csv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New, gen.New}

func TestMain(m *testing.M) { benchtest.Main(m) }

// tinyTable has every kind of contender, and reference figures that no score comes near.
func tinyTable() table {
	return table{
		name: "tiny", title: "A table", about: "Of a test.", protocol: "greedy",
		measures: []measure{{"NMI", "nmi_sqrt"}, {"ACC", "acc"}},
		sets:     []dataset{{title: "Planted", file: "planted.parquet", features: 60, classes: 8, counts: []int{3, 6}, scaledRows: true, choiceFlags: []string{"--sample", "300"}}},
		methods: []contender{
			{title: allFeatures, baseline: true},
			{title: "random", baseline: true},
			{title: "greedy", flags: []string{"--method", "greedy"}},
			{title: "mcfs", flags: []string{"--method", "mcfs"}, rankingPerCount: true, takesClasses: true},
			{title: "sfufs scatter (ours)", flags: []string{"--method", "sfufs", "--constraint", "scatter"}, grids: gridsOf("--clusters", []string{"4", "8"}, "--alpha", "0.1,1")},
		},
		references: []figure{
			{"Planted", "greedy", "NMI", 3, -50},               // no score is that low
			{"Planted", "mcfs", "ACC", 6, 250},                 // nor that high
			{"Planted", "sfufs scatter (ours)", "NMI", 0, 150}, // of the best setting
			{"Planted", allFeatures, "ACC", 60, 250},
		},
		referenceSeconds: []figure{{set: "Planted", method: "greedy", value: 34496}},
	}
}

func TestPaperTable(t *testing.T) {
	data := t.TempDir()
	args := []string{"gen", "planted", "--rows", "500", "--columns", "60", "--label", "--classes", "8", "-o", filepath.Join(data, "planted.parquet"), "-q"}
	if err := bench.Generate(t.Context(), args); err != nil {
		t.Fatalf("making planted data: %v", err)
	}
	o := &options{data: data, resume: t.TempDir(), quick: true, seed: 1, progress: io.Discard}
	w, err := benchtest.BuildOnce()
	if err != nil {
		t.Fatalf("building ufs-stream: %v", err)
	}
	r, err := tuning.NewRunner(w, o.resume)
	if err != nil {
		t.Fatalf("a runner: %v", err)
	}
	filled, err := o.fillTable(t.Context(), r, tinyTable())
	if err != nil {
		t.Fatalf("filling the table: %v", err)
	}
	checkTuned(t, o, r, filled)
	var got []string
	for _, r := range filled.rows {
		got = append(got, r.method.title+" "+r.featureShare())
		s, ok := tuning.ScoreOf(r.result, "nmi_sqrt")
		if !ok || s.Mean < 0 || s.Mean > 1 {
			t.Errorf("%s: NMI %v", r.method.title, s)
		}
	}
	want := []string{
		"all 100 % (60)", "random 5 % (3)", "greedy 5 % (3)", "mcfs 5 % (3)", "sfufs scatter (ours) 5 % (3)",
		"random 10 % (6)", "greedy 10 % (6)", "mcfs 10 % (6)", "sfufs scatter (ours) 10 % (6)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows are\n%q, want\n%q", got, want)
	}
	var text strings.Builder
	writeMarkdown(&text, o.makeSections(r, []outcome{filled}))
	for _, want := range []string{
		"| -50.0 |", "| 250.0 |", "| 150.0 |", farMark, "0 of 3 comparisons", "| 34,496 |", "500 × 60", "--alpha 0.1 --gamma 0.1", "| " + tuning.RandomAlike, "kernel", w.Version, "--quick",
		"all 500 rows in 8 clusters; 2 runs, each the best of 1", "by `eval` with `--sample 300`", "| other data: all columns ", "### Tests of the tuned settings", "| its default | ",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	benchtest.CheckTables(t, text.String())
}

// TestPaperFiles: without an ending there are three files of the same figures, with one of the three only this one.
func TestPaperFiles(t *testing.T) {
	half := stream.Spread{Mean: 0.5, Std: 0.01}
	best := true
	set := dataset{title: "A_B", features: 10, counts: []int{2}}
	x := outcome{table: table{name: "tiny", title: "50 % & more", about: "Text.", measures: []measure{{"NMI", "nmi_sqrt"}}, sets: []dataset{set},
		references: []figure{{"A_B", allFeatures, "NMI", 10, 53}, {"A_B", "one", "NMI", 2, 40}, {"A_B", "two", "NMI", 2, 49}}}}
	for i, m := range []string{allFeatures, "one", "two"} {
		r := stream.Evaluated{NMISqrt: &half, Best: &best}
		for run := range 8 {
			r.NMIRuns = append(r.NMIRuns, stream.Number(0.5+0.01*float64(run%3)-0.1*float64(i)))
		}
		x.rows = append(x.rows, row{set, contender{title: m}, []int{10, 2, 2}[i], r})
	}
	w := &tuning.Runner{Shop: &workshop.Workshop{Version: "1"}}
	for name, want := range map[string][]string{"all": {"all.csv", "all.md", "all.tex"}, "one.tex": {"one.tex"}, "two.csv": {"two.csv"}, "three.MD": {"three.MD"}} {
		dir := t.TempDir()
		o := &options{output: filepath.Join(dir, name)}
		must.Do(t, o.writeFiles(t.Context(), io.Discard, w, []outcome{x}))
		if files := slices.Sorted(maps.Keys(must.Files(t, dir))); !slices.Equal(files, want) {
			t.Errorf("-o %s wrote %q, want %q", name, files, want)
		}
	}
	dir := t.TempDir()
	o := &options{output: filepath.Join(dir, "p")}
	must.Do(t, o.writeFiles(t.Context(), io.Discard, w, []outcome{x}))
	files := must.Files(t, dir)
	for name, wants := range map[string][]string{
		"p.md":  {"| A_B | 20 % (2) | one | 40.0 | **50.0 ± 1.0** | +10.0 | ✗ | other data: all columns 50.0 here, 53.0 printed |", "| A_B | one | two | 2 | +0.0 | < 0.001 | < 0.001 | 0.008 |"},
		"p.tex": {`A\_B & 20 \% (2) & one & 40.0 & \textbf{50.0 $\pm$ 1.0} & +10.0 & $\times$ & other data`, `50 \% \& more`, `\toprule`},
		"p.csv": {"tiny,default,A_B,2,one,,NMI,40,50,1,10,true,\"other data: all columns 50.0 here, 53.0 printed\",,,,\n", "tiny,test,A_B,2,one,,NMI,,,,0,,,two,"},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s does not have %q:\n%s", name, want, files[name])
			}
		}
	}
	rows := must.Get(csv.NewReader(strings.NewReader(files["p.csv"])).ReadAll())(t)
	if len(rows) != 1+3+1 {
		t.Errorf("%d lines of CSV, want a head, 3 scores and a test: %q", len(rows), rows)
	}
	var out strings.Builder
	must.Do(t, new(options).writeFiles(t.Context(), &out, w, []outcome{x}))
	if !strings.HasPrefix(out.String(), "# The papers' tables") || strings.Contains(out.String(), "toprule") {
		t.Errorf("without an output it wrote\n%s, want Markdown alone", out.String())
	}
}

// TestScaledRows: every row of the copy has 0 and 1, but for equal values, which are 0; the label stays; and the copy is
// made once.
func TestScaledRows(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	must.Do(t, os.WriteFile(path, []byte("a,b,label,c\n1,3,7,2\n-4,0,8,4\n5,5,9,5\n"), 0o666))
	r := must.Get(tuning.NewRunner(&workshop.Workshop{Program: path}, filepath.Join(dir, "kept")))(t)
	to := must.Get(scaledFile(t.Context(), r, path))(t)
	names, columns := benchtest.ReadTable(t, to, chunkio.Options{})
	want := map[string][]float64{"a": {0, 0, 0}, "b": {1, 0.5, 0}, "label": {7, 8, 9}, "c": {0.5, 1, 0}}
	for j, name := range names {
		if !slices.Equal(columns[j], want[name]) {
			t.Errorf("column %s is %v, want %v", name, columns[j], want[name])
		}
	}
	before := must.Get(os.Stat(to))(t).ModTime()
	if again := must.Get(scaledFile(t.Context(), r, path))(t); again != to || must.Get(os.Stat(to))(t).ModTime() != before {
		t.Error("the copy was made twice")
	}
	if len(names) != len(want) {
		t.Errorf("the copy has the columns %q, want %d", names, len(want))
	}
}

// checkTuned checks that the labels chose the best of all settings and counts, and that a second run of the table starts
// no process, so that it works without a program.
func checkTuned(t *testing.T, o *options, r *tuning.Runner, filled outcome) {
	t.Helper()
	if len(filled.tuned) != 1 || filled.tuned[0].alike.Method != tuning.RandomAlike {
		t.Fatalf("tuned pairs %+v, want sfufs and random", filled.tuned)
	}
	for _, x := range []tuning.Result{filled.tuned[0].best, filled.tuned[0].alike} {
		chosen, _ := tuning.ScoreOf(x.Chosen, "nmi_sqrt")
		again, ok := tuning.ScoreOf(x.Again, "nmi_sqrt")
		if highest := x.Highest["nmi_sqrt"]; highest != chosen || len(x.Highest) != len(x.Chosen.ClusterScores()) {
			t.Errorf("%s: highest NMI %v of %d scores, chosen %v by NMI", x.Method, highest, len(x.Highest), chosen)
		}
		if x.Settings != 4 || x.Count != 3 && x.Count != 6 || !ok || again == chosen {
			t.Errorf("%s: %d settings, %d features, NMI %v and again %v", x.Method, x.Settings, x.Count, chosen, again)
		}
	}
	program := r.Shop.Program
	idle := must.Get(tuning.NewRunner(r.Shop, o.resume))(t)
	r.Shop.Program = "/nonexistent"
	defer func() { r.Shop.Program = program }()
	again, err := o.fillTable(t.Context(), idle, tinyTable())
	if err != nil {
		t.Fatalf("the table from the kept files: %v", err)
	}
	var got, want strings.Builder
	writeMarkdown(&got, o.makeSections(idle, []outcome{again}))
	writeMarkdown(&want, o.makeSections(r, []outcome{filled}))
	if got.String() != want.String() {
		t.Errorf("the kept files give\n%s\nwant\n%s", got.String(), want.String())
	}
}

// Every figure belongs to a set, a method, a measure and a count of its table.
func TestPaperTablesAreConsistent(t *testing.T) {
	for _, table := range allTables() {
		for _, f := range table.references {
			set := table.findSet(f.set)
			m := slices.IndexFunc(table.methods, func(m contender) bool { return m.title == f.method })
			isTuned := m >= 0 && f.count == 0 && table.methods[m].grids != nil
			if set.title == "" && f.set == emnistName {
				set = emnistSet("")
			}
			if m < 0 || !isTuned && !slices.ContainsFunc(set.counts, func(k int) bool { return table.methods[m].featureCountOn(set, k) == f.count }) {
				t.Errorf("%s: no row for %+v", table.name, f)
			}
			if !slices.ContainsFunc(table.measures, func(m measure) bool { return m.title == f.measure }) {
				t.Errorf("%s: no column for %+v", table.name, f)
			}
		}
		for _, s := range table.sets {
			if slices.Max(s.counts) > s.features || !slices.IsSorted(s.counts) {
				t.Errorf("%s: the counts of %+v must ascend, up to the number of features", table.name, s)
			}
		}
		for _, m := range table.methods {
			if m.baseline != (m.flags == nil) {
				t.Errorf("%s: %s is neither a baseline nor has flags", table.name, m.title)
			}
		}
	}
}

func TestPaperUsage(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		code int
		args []string
		say  string
	}{
		{exit.Usage, nil, "--data"},
		{exit.Usage, []string{"--data", empty, "--tables", "none"}, "there are greedy, sfufs"},
		{exit.Usage, []string{"--data", empty, "--datasets", "none"}, "ORL"},
		{exit.Usage, []string{"--data", empty, "--tables", "sfufs", "--datasets", "ORL"}, "tables sfufs have no dataset ORL"},
		{exit.Data, []string{"--data", empty, "--datasets", "ORL"}, "orl.parquet"},
	} {
		out := filepath.Join(empty, "paper.md")
		bench.CheckRefusal(t, c.code, c.say, append([]string{"paper", "-o", out}, c.args...)...)
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: left a file", c.args)
		}
	}
}
