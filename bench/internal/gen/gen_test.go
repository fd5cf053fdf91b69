package gen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New}

func TestMain(m *testing.M) { benchtest.Main(m) }

// gen makes a table in a new folder and returns its path.
func gen(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if code, out, errw := bench.Run(t.Context(), append([]string{"gen", "-q", args[0], "-o", path}, args[1:]...)...); code != 0 || out != "" || errw != "" {
		t.Fatalf("gen %v: exit %d, %q, %q", args, code, out, errw)
	}
	return path
}

// readAnswer reads the answer next to the table at path.
func readAnswer(t *testing.T, path string, answer any) {
	t.Helper()
	if err := json.Unmarshal([]byte(benchtest.ReadText(t, strings.TrimSuffix(path, ".parquet")+".json")), answer); err != nil {
		t.Fatalf("reading the answer for %s: %v", path, err)
	}
}

// Neither the bytes nor the answer depend on the threads.
func TestGenSameBytesForAnyThreads(t *testing.T) {
	for _, args := range [][]string{
		{"planted", "--rows", "9000", "--columns", "37", "--label", "--nulls", "0.02"},
		{"grid", "--rows", "3000", "--shape", "9x12"},
		{"sparse", "--rows", "5000", "--columns", "300"},
	} {
		var texts [2]string
		for i, threads := range []string{"1", "8"} {
			path := gen(t, "x.parquet", append(args, "--threads", threads)...)
			texts[i] = benchtest.ReadText(t, path) + benchtest.ReadText(t, filepath.Join(filepath.Dir(path), "x.json"))
		}
		if texts[0] != texts[1] {
			t.Errorf("%v: 8 threads make other bytes", args)
		}
	}
}

// Greedy selection takes one column of every group that the answer names, at any
// shape, with and without classes.
func TestGenPlantedIsFound(t *testing.T) {
	w, err := benchtest.BuildOnce()
	if err != nil {
		t.Fatalf("building ufs-stream: %v", err)
	}
	for _, c := range []struct {
		rows, columns int
		more          []string
	}{
		{2000, 3, nil}, {2000, 10, nil}, {2000, 37, []string{"--label"}}, {1000, 37, []string{"--type", "float"}},
		{3000, 100, []string{"--label", "--seed", "5"}}, {500, 100, nil}, {2000, 101, []string{"--factors", "10", "--label", "--classes", "4"}},
		{2000, 300, []string{"--label"}},
	} {
		path := gen(t, "p.parquet", append([]string{"planted", "--rows", fmt.Sprint(c.rows), "--columns", fmt.Sprint(c.columns)}, c.more...)...)
		var a plantedAnswer
		readAnswer(t, path, &a)
		flags := []string{path, "--method", "greedy", "-k", fmt.Sprint(len(a.Groups))}
		extra := 0
		if a.Label != "" {
			flags, extra = append(flags, "--label", a.Label), 1
		}
		s, _, err := w.RunSelect(t.Context(), flags...)
		if err != nil {
			t.Fatalf("selecting: %v", err)
		}
		if columns := s.Features + len(s.LeftOut) - extra; columns != c.columns || s.Rows != int64(c.rows) || a.Columns != c.columns {
			t.Fatalf("%+v: %d rows x %d columns", c, s.Rows, columns)
		}
		if n := len(slices.Concat(append(a.Groups, a.Mixtures, a.Noise, a.Constant)...)); n != c.columns {
			t.Errorf("%+v: the answer has %d columns", c, n)
		}
		found := make(map[int]bool)
		for _, f := range s.Selected {
			found[slices.IndexFunc(a.Groups, func(group []string) bool { return slices.Contains(group, f.Name) })] = true
		}
		if delete(found, -1); len(found) != len(a.Groups) {
			t.Errorf("%+v: %d of %d groups found", c, len(found), len(a.Groups))
		}
	}
}

// The column label holds the classes of the rows. In one file or several, the values are package planted's.
func TestGenPlantedValues(t *testing.T) {
	args := []string{"planted", "--rows", "103", "--columns", "20", "--label", "--classes", "4", "--seed", "3"}
	want := planted.New(planted.Options{Rows: 103, Columns: 20, Classes: 4, Seed: 3})
	for _, more := range [][]string{nil, {"--files", "4"}, {"--files", "103"}} {
		names, columns := benchtest.ReadTable(t, gen(t, "p", append(args, more...)...), chunkio.Options{})
		if len(columns) != 21 || names[20] != LabelName {
			t.Fatalf("columns %v", names)
		}
		out := make([]float64, 103)
		for j, x := range columns[:20] {
			if want.FillColumn(j, 0, out); !slices.Equal(x, out) || names[j] != want.Columns()[j].Name {
				t.Fatalf("%v: column %d differs", more, j)
			}
		}
		for i, y := range columns[20] {
			if y != float64(want.Class(int64(i))) {
				t.Fatalf("%v: row %d has the label %v", more, i, y)
			}
		}
	}
}

// --nulls leaves out its share of every column, and changes nothing else.
func TestGenNulls(t *testing.T) {
	const n, share = 20000, 0.1
	args := []string{"planted", "--rows", fmt.Sprint(n), "--columns", "5"}
	_, whole := benchtest.ReadTable(t, gen(t, "a.parquet", args...), chunkio.Options{})
	_, holes := benchtest.ReadTable(t, gen(t, "a.parquet", append(args, "--nulls", fmt.Sprint(share))...), chunkio.Options{})
	for j, x := range holes {
		count := 0
		for i, v := range x {
			if math.IsNaN(v) {
				count++
			} else if v != whole[j][i] {
				t.Fatalf("column %d, row %d: %v, without nulls %v", j, i, v, whole[j][i])
			}
		}
		// Five deviations of a binomial count.
		if math.Abs(float64(count)-n*share) > 5*math.Sqrt(n*share*(1-share)) {
			t.Errorf("column %d: %d of %d are null", j, count, n)
		}
	}
}

func TestGenRefusals(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := errors.Join(os.Mkdir(full, 0o700), os.WriteFile(filepath.Join(full, "x"), nil, 0o600)); err != nil {
		t.Fatalf("making a full folder: %v", err)
	}
	out := filepath.Join(dir, "x.parquet")
	for _, c := range []struct {
		args string
		code int
		say  string
	}{
		{"planted", exit.Usage, "-o is missing"},
		{"plant -o " + out, exit.Usage, "did you mean planted?"},
		{"planted x -o " + out, exit.Usage, "takes no argument"},
		{"planted --colums 3 -o " + out, exit.Usage, "unknown flag"},
		{"planted --columns 1 -o " + out, exit.Usage, "a factor shows in at least 3 redundant columns"},
		{"planted --columns 0 -o " + out, exit.Usage, "from 1 on"},
		{"planted --columns 20 --factors 9 -o " + out, exit.Usage, "need 67"},
		{"planted --label --classes 6 -o " + out, exit.Usage, "a power of two"},
		{"planted --classes 4 -o " + out, exit.Usage, "needs --label"},
		{"planted --type int8 -o " + out, exit.Usage, "want double, float"},
		{"planted --rows 0 -o " + out, exit.Usage, "at least one row"},
		{"planted --seed 0 -o " + out, exit.Usage, "from 1 on"},
		{"planted --nulls 1 -o " + out, exit.Usage, "below 1"},
		{"planted --files 9 --rows 8 -o " + full + "2", exit.Usage, "number of rows"},
		{"planted -o " + dir + "/x.csv", exit.Usage, ".parquet"},
		{"planted --answer " + out + " -o " + out, exit.Usage, "same file"},
		{"planted --columns 10000 --rows 1000000 -o " + out, exit.Usage, "--files 7"},
		{"planted -o " + dir + "/none/x.parquet", exit.Fault, "none"},
		{"planted --files 2 -o " + full, exit.Fault, "not empty"},
		{"grid --shape 7x9 -o " + out, exit.Usage, "28x28"},
		{"grid --shape 30 -o " + out, exit.Usage, "28x28"},
		{"grid --classes 1 -o " + out, exit.Usage, "between 2"},
		{"sparse --columns 39 -o " + out, exit.Usage, "between 40"},
		{"sparse --nulls 0.1 -o " + out, exit.Usage, "unknown flag"},
		{"emnist -o " + out, exit.Usage, "--from is missing"},
		{"emnist --from " + dir + "/none.parquet -o " + out, exit.Data, "none.parquet"},
	} {
		bench.CheckRefusal(t, c.code, c.say, strings.Fields("gen "+c.args)...)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// An interrupted run leaves nothing.
func TestGenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	for _, kind := range []string{"planted", "grid", "sparse"} {
		if code, _, said := bench.Run(ctx, "gen", kind, "-o", filepath.Join(dir, "x")); code != exit.Interrupted {
			t.Errorf("%s: exit %d, %s", kind, code, said)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func BenchmarkFill(b *testing.B) {
	for name, f := range map[string]Filler{
		"planted": planted.New(planted.Options{Columns: 100}), "classes": planted.New(planted.Options{Columns: 100, Classes: 8}),
		"grid": newImageMaker(10, 10, 10, 1),
	} {
		b.Run(name, func(b *testing.B) {
			out := make([]float64, 8192)
			for b.Loop() {
				for j := range f.Columns() {
					f.FillColumn(j, 0, out)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(f.Columns())*len(out))/b.Elapsed().Seconds(), "values/s")
		})
	}
}
