package paper

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New, gen.New}

func TestMain(m *testing.M) { benchtest.Main(m) }

// tinyTable has every kind of contender, and reference figures that no score comes near.
func tinyTable() table {
	return table{
		name: "tiny", title: "A table", about: "Of a test.", protocol: "greedy",
		measures: []measure{{"NMI", "nmi_sqrt"}, {"ACC", "acc"}},
		sets:     []dataset{{"Planted", "planted.parquet", 60, 8, []int{3, 6}}},
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
	filled, err := o.fillTable(t.Context(), w, tinyTable())
	if err != nil {
		t.Fatalf("filling the table: %v", err)
	}
	checkTuned(t, o, w, filled)
	var got []string
	for _, r := range filled.rows {
		got = append(got, r.method.title+" "+r.featureShare())
		s, ok := scoreOf(r.result, "nmi_sqrt")
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
	o.writeTables(&text, w, []outcome{filled})
	for _, want := range []string{
		"| -50.0 |", "| 250.0 |", "| 150.0 |", farMark, "0 of 2 comparisons", "| 34,496 |", "500 × 60", "--clusters 4 --alpha 0.1 --gamma 0.1", "| " + randomAlike, "kernel", w.Version, "--quick",
		"all 500 rows in 8 clusters; 2 runs, each the best of 1",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	benchtest.CheckTables(t, text.String())
}

// checkTuned checks that the labels chose the best of all settings and counts, and that a second run of the table starts
// no process, so that it works without a program.
func checkTuned(t *testing.T, o *options, w *workshop.Workshop, filled outcome) {
	t.Helper()
	if len(filled.tuned) != 2 || filled.tuned[1].method.title != randomAlike {
		t.Fatalf("tuned rows %+v, want sfufs and random", filled.tuned)
	}
	for _, r := range filled.tuned {
		chosen, _ := scoreOf(r.chosen, "nmi_sqrt")
		again, ok := scoreOf(r.again, "nmi_sqrt")
		if r.settings != 4 || !slices.Contains(r.set.counts, r.count) || !ok || again == chosen {
			t.Errorf("%s: %d settings, %d features, NMI %v and again %v", r.method.title, r.settings, r.count, chosen, again)
		}
	}
	idle := *w
	idle.Program = "/nonexistent"
	again, err := o.fillTable(t.Context(), &idle, tinyTable())
	if err != nil {
		t.Fatalf("the table from the kept files: %v", err)
	}
	var got, want strings.Builder
	again.writeTable(&got)
	filled.writeTable(&want)
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
