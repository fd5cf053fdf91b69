package chunkio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// zipFiles writes CSV files of a folder: the postal codes of the first look like numbers, the second's do not.
func zipFiles(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "in")
	must.Do(t, os.Mkdir(dir, 0o777))
	for i, format := range []string{"2%04d", "%05d", "3%04d"} {
		text := "zip,x\n"
		for k := range 50 {
			text += fmt.Sprintf(format, k) + fmt.Sprintf(",%d.5\n", k*k)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(text), 0o666))
	}
	return dir
}

// TestPlannedTypes: a shard has the types of the whole plan, though the files that these come from are in other shards.
func TestPlannedTypes(t *testing.T) {
	for name, c := range map[string]struct {
		plan planCase
		of   int
	}{
		"identifiers": {planCase{[]string{zipFiles(t)}, Options{}}, 3},
		"keys":        {planCase{[]string{zipFolders(t)}, Options{}}, 3},
		"maps":        {planCase{[]string{keyFiles(t)}, Options{}}, 3},
		"sparse":      {planCase{[]string{keyFiles(t)}, Options{Sparse: "m"}}, 0},
	} {
		plan, from := planned(t, c.plan)
		rows := int64(0)
		for i := range max(c.of, 1) {
			shard := Shard{}
			if c.of > 0 {
				shard = Shard{Number: i + 1, Of: c.of}
			}
			ds := openPlanned(t, c.plan, plan, shard)
			shardRows, _ := ds.ShardRows()
			got := must.Get(chunkiotest.CollectRows(ds, shardRows))(t)
			rows += int64(len(got.Rows))
			if a, b := fmt.Sprint(ds.Columns()), fmt.Sprint(from.Columns()); a != b {
				t.Errorf("%s, shard %v: features %s, want %s", name, shard, a, b)
			}
		}
		if rows != from.Rows() {
			t.Errorf("%s: %d rows, want %d", name, rows, from.Rows())
		}
	}
}

// TestIdentifiersEverywhere: if each file has identifiers in another column, every file is converted three times at
// most, until all are text.
func TestIdentifiersEverywhere(t *testing.T) {
	const n = 12
	dir, taken := t.TempDir(), 0
	for i := range n {
		head, row := "x", "1.5"
		for j := range n {
			head, row = head+fmt.Sprintf(",z%d", j), row+fmt.Sprintf(",%s%d", map[bool]string{true: "0", false: "1"}[i == j], 10+j)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.csv", i)), []byte(head+"\n"+row+"\n"+strings.Replace(row, "1.5", "2.5", 1)+"\n"), 0o666))
	}
	names, left, _ := featuresOf(t, []string{dir}, Options{TakingIn: func(string) func(error) { taken++; return func(error) {} }})
	if fmt.Sprint(names) != "[x]" || len(left) != n || taken > 3*n {
		t.Errorf("features %v, left out %v, %d takings of %d files; want x alone, and three a file at most", names, left, taken, n)
	}
}

// TestPlannedTextsAreNoNumbers: a plan that has a column as text is not read with its numbers, and no file has changed.
func TestPlannedTextsAreNoNumbers(t *testing.T) {
	c := planCase{[]string{zipFiles(t)}, Options{}}
	plan, _ := planned(t, c)
	c.opt.Plan, c.opt.Columns = plan, []string{"zip", "x"}
	ds, err := Open(t.Context(), nil, c.opt)
	if err == nil {
		ds.Close()
	}
	var usage *stream.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `"zip": the plan has it as text`) {
		t.Errorf("got %v, want a usage error about zip", err)
	}
}

// zipFolders are zipFiles below folders of a key that is also the column, of one value.
func zipFolders(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "in")
	for _, zip := range []string{"20001", "00001", "30001"} {
		of := filepath.Join(dir, "zip="+zip)
		must.Do(t, os.MkdirAll(of, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(of, "p.csv"), []byte("zip,x\n"+zip+",1.5\n"+zip+",2.5\n"), 0o666))
	}
	return dir
}

// TestKeyOfIdentifiers: a partition key that the files have as a column of identifiers is copied to the letter, and
// is a number if it is named.
func TestKeyOfIdentifiers(t *testing.T) {
	dir, out := zipFolders(t), filepath.Join(t.TempDir(), "out.csv")
	mustApply(t, []string{dir}, out, ApplyOptions{Columns: []string{"x"}, Also: []string{"zip"}, Form: copying.FormCSV})
	if got, want := string(must.Get(os.ReadFile(out))(t)), "x,zip\n1.5,00001\n2.5,00001\n1.5,20001\n2.5,20001\n1.5,30001\n2.5,30001\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if names, left, _ := featuresOf(t, []string{dir}, Options{Columns: []string{"x", "zip"}}); fmt.Sprint(names) != "[x zip]" {
		t.Errorf("features %v, want x and zip; left out %v", names, left)
	}
}

// keyFiles writes NDJSON files of a folder: the second has enough keys of m for a map, the others have few.
func keyFiles(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "in")
	must.Do(t, os.Mkdir(dir, 0o777))
	for i, keys := range []int{3, 2000, 5} {
		text := ""
		for k := range 2 * keys {
			text += fmt.Sprintf(`{"x":%d.5,"m":{"u%d":%d,"u%d":1}}`+"\n", k*k, k%keys, k+1, (k+1)%keys)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.ndjson", i)), []byte(text), 0o666))
	}
	return dir
}

// TestMapsOfAFolder: an object that is a map in one file is one in all of them, whichever comes first, and so is one
// that is asked for. Of keys u0 to u1999 all are features.
func TestMapsOfAFolder(t *testing.T) {
	dir := keyFiles(t)
	names, left, warnings := featuresOf(t, []string{dir}, Options{})
	if fmt.Sprint(names) != "[x]" || left["m"] == "" || strings.Count(warnings, "read as a map") != 1 {
		t.Errorf("features %v, left out %v, warnings %q; want x alone, and m as one map", names, left, warnings)
	}
	for file, want := range map[string]int{"": 2000, "0.ndjson": 3} {
		names, left, _ := featuresOf(t, []string{filepath.Join(dir, file)}, Options{Sparse: "m"})
		if n := len(names); n != want {
			t.Errorf("%s: %d features with m as sparse rows, want %d; left out %v", file, n, want, left)
		}
	}
}

// featuresOf is the names of features, why others are none, and the warnings.
func featuresOf(t *testing.T, inputs []string, opt Options) (names []string, left map[string]string, warnings string) {
	t.Helper()
	ds, err := Open(t.Context(), inputs, opt)
	must.Do(t, err)
	defer ds.Close()
	for _, c := range ds.Columns() {
		names = append(names, c.Name)
	}
	left = map[string]string{}
	for _, l := range ds.LeftOut() {
		left[l.Name] = l.Why
	}
	for _, w := range ds.Warnings() {
		warnings += w.Spell(func(name string) string { return "--" + name }) + "\n"
	}
	return names, left, warnings
}

// TestIdentifiersOfAFolder: a column of identifiers in one file is text in all of them, whichever comes first.
func TestIdentifiersOfAFolder(t *testing.T) {
	dir := zipFiles(t)
	names, left, warnings := featuresOf(t, []string{dir}, Options{})
	if fmt.Sprint(names) != "[x]" || !strings.HasPrefix(left["zip"], "text, as a number would lose") || strings.Count(warnings, "zip") != 3 {
		t.Errorf("features %v, left out %v, warnings %q", names, left, warnings)
	}
	for name, opt := range map[string]Options{
		"named": {Columns: []string{"zip", "x"}}, "a number": {Numbers: []string{"zip"}},
		"a type": {Texts: TextOptions{Types: []string{"zip=int"}}},
	} {
		if names, left, warnings := featuresOf(t, []string{dir}, opt); fmt.Sprint(names) != "[zip x]" || warnings != "" {
			t.Errorf("%s: features %v, left out %v, warnings %q", name, names, left, warnings)
		}
	}
	if names, left, warnings := featuresOf(t, []string{dir}, Options{Columns: []string{"x"}}); fmt.Sprint(names) != "[x]" || warnings != "" {
		t.Errorf("of x alone: features %v, left out %v, warnings %q", names, left, warnings)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	report := mustApply(t, []string{filepath.Join(dir, "*.csv")}, out, ApplyOptions{Columns: []string{"zip"}, Also: []string{"x"}, Form: copying.FormCSV})
	if lines := strings.Split(string(must.Get(os.ReadFile(out))(t)), "\n"); len(report.Warnings) != 1 || lines[1] != "20000,0.5" || lines[51] != "00000,0.5" || lines[101] != "30000,0.5" {
		t.Errorf("%q, %q, %q, warnings %v", lines[1], lines[51], lines[101], report.Warnings)
	}
}

// TestTypesOfColumnsThatThereAreNot: types for missing columns are usage errors that list the columns, unless a
// record has them.
func TestTypesOfColumnsThatThereAreNot(t *testing.T) {
	dir := zipFiles(t)
	for _, c := range []struct {
		texts TextOptions
		says  string
	}{
		{TextOptions{Types: []string{"zap=int"}}, "types zap: no column of a CSV or NDJSON file has this name; did you mean zip?"},
		{TextOptions{Text: []string{"q*"}}, "text q*: no column"},
		{TextOptions{Types: []string{"zap=int"}, Recorded: true}, ""},
		{TextOptions{Types: []string{"zip=number"}, Recorded: true}, "there is no such type"},
	} {
		for verb, run := range map[string]func() error{
			"open": func() error { _, err := Open(t.Context(), []string{dir}, Options{Texts: c.texts}); return err },
			"convert": func() error {
				_, err := Convert(t.Context(), []string{filepath.Join(dir, "1.csv")}, filepath.Join(t.TempDir(), "o.parquet"), ApplyOptions{Texts: c.texts})
				return err
			},
			"standard input": func() error {
				_, err := Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader("zip,x\n1,2\n"), Texts: c.texts})
				return err
			},
		} {
			err := run()
			if usage := errors.As(err, new(*stream.UsageError)); usage != (c.says != "") || usage && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s with %+v: %v, want %q", verb, c.texts, err, c.says)
			}
		}
	}
}

// TestApplyGoesOnWithOtherTypes: the output of an interrupted run is written again if texts are read with other
// types.
func TestApplyGoesOnWithOtherTypes(t *testing.T) {
	for name, c := range map[string]struct {
		texts TextOptions
		want  Resumed
	}{
		"the same":    {TextOptions{}, Resumed{Whole: 2}},
		"recorded":    {TextOptions{Recorded: true}, Resumed{Whole: 2}},
		"types":       {TextOptions{Types: []string{"zip=int"}}, Resumed{Outdated: 2}},
		"text":        {TextOptions{Text: []string{"x"}}, Resumed{Outdated: 2}},
		"null values": {TextOptions{Nulls: []string{"00000", "0.5"}}, Resumed{Outdated: 2}},
	} {
		in, out := zipFiles(t), filepath.Join(t.TempDir(), "out")
		opt := ApplyOptions{Columns: []string{"zip", "x"}, Meter: new(stream.Meter), Threads: 1}
		_, err := Apply(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() >= 100 }), []string{in}, out, opt)
		if u, ok := errors.AsType[*Unfinished](err); !ok || u.Finished != 2 {
			t.Fatalf("the unfinished output is %+v, the error %v", u, err)
		}
		opt.Texts = c.texts
		report := mustApply(t, []string{in}, out, opt)
		if report.Resumed != c.want {
			t.Errorf("%s: %+v, want %+v", name, report.Resumed, c.want)
		}
		fresh := filepath.Join(t.TempDir(), "fresh")
		mustApply(t, []string{in}, fresh, opt)
		if got, want := must.Files(t, out), must.Files(t, fresh); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: other bytes than those of a run that begins anew", name)
		}
	}
}

// TestApplyWidensNumbersOfText: a column that has whole numbers in one file of text and fractions or booleans in
// another has one type in the output, and its values: by hand 1, 2, 1.5, 2.5, 1, 0.
func TestApplyWidensNumbersOfText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	must.Do(t, os.Mkdir(dir, 0o777))
	for i, x := range [][]string{{"1", "2"}, {"1.5", "2.5"}, {"true", "false"}} {
		text := "x,s\n" + x[0] + ",u\n" + x[1] + ",v\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(text), 0o666))
	}
	inputs := []string{filepath.Join(dir, "*.csv")}
	for _, name := range []string{"out.csv", "out.parquet"} {
		out := filepath.Join(t.TempDir(), name)
		form := copying.FormParquet
		if filepath.Ext(name) == ".csv" {
			form = copying.FormCSV
		}
		mustApply(t, inputs, out, ApplyOptions{Columns: []string{"x"}, Also: []string{"s"}, Form: form})
		if form == copying.FormCSV {
			if got, want := string(must.Get(os.ReadFile(out))(t)), "x,s\n1,u\n2,v\n1.5,u\n2.5,v\n1,u\n0,v\n"; got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		ds := must.Get(Open(t.Context(), []string{out}, Options{}))(t)
		defer ds.Close()
		got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		if text := fmt.Sprint(got.Rows); text != "[[1] [2] [1.5] [2.5] [1] [0]]" {
			t.Errorf("%s: rows %s, want 1, 2, 1.5, 2.5, 1, 0", name, text)
		}
	}
}

// TestMismatchTellsGuesses: the error of files of text that do not fit together contains the guesses about them, with
// the option.
func TestMismatchTellsGuesses(t *testing.T) {
	for name, c := range map[string]struct{ first, second, want string }{
		"missing value": {"a,b\n1,2\n3,5\n", "a,b\n1,?\n4,4\n6,8\n", "--null-values ?"},
		"header":        {"1,2,3\n0.5,9,4\n0.2,8,1\n", "a,b,c\n1,2,3\n4,5,6\n", "--header no"},
	} {
		dir := t.TempDir()
		for i, text := range []string{c.first, c.second} {
			must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(text), 0o666))
		}
		ds, err := Open(t.Context(), []string{filepath.Join(dir, "*.csv")}, Options{})
		if err == nil {
			ds.Close()
		}
		var e *stream.DataError
		if !errors.As(err, &e) || !strings.Contains(e.Spell(func(name string) string { return "--" + name }), c.want) {
			t.Errorf("%s: error %v, want one that offers %s", name, err, c.want)
		}
	}
}
