package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// oddNames is a file of three classes whose columns have names that need quotes, and a column for the classes.
func oddNames(t *testing.T, path string) string {
	t.Helper()
	names, columns, class := grouped(60)
	names[0], names[1], names[2] = `x,"y"`, "new\nline", "#1"
	return columnsFile(t, path, append(names, "class"), append(columns, class)...)
}

// resultsNamed returns the results of the selections of an evaluation, without their names and paths.
func resultsNamed(t *testing.T, e *stream.Evaluation, name string) string {
	t.Helper()
	var out []string
	for _, r := range e.Results {
		if r.Name == name {
			r.Name, r.Path, r.Method = "", "", ""
			out = append(out, marshal(t, r))
		}
	}
	if out == nil {
		t.Errorf("no result of %q: %s", name, marshal(t, e.Results))
	}
	return strings.Join(out, "\n")
}

// TestEvalListsOfNames: all forms of a list of names are judged alike, and as the same ranking in JSON of select.
func TestEvalListsOfNames(t *testing.T) {
	at := folder(t)
	data := oddNames(t, at("d.parquet"))
	record := write(t, at("record.json"), `{"schema": "ufs-stream/selection/v2", "method": "greedy", "selected": [{"rank": 1, "name": "b2"}, {"rank": 2, "name": "x,\"y\""}, {"rank": 3, "name": "a3"}]}`)
	judge := func(file string) *stream.Evaluation {
		return evaluated(t, quick(data, "--selection", file, "--label", "class", "-k", "1,2,3")...)
	}
	want := resultsNamed(t, judge(record), "selection")
	for _, c := range []struct{ file, text, says string }{
		{"lines.txt", "# of some tool\n\nb2\n x,\"y\" \n\na3", "taken as comments: 1"},
		{"windows.txt", "\ufeffb2\r\nx,\"y\"\r\na3\r\n", ""},
		{"plain", "b2\nx,\"y\"\na3\n", ""},
		{"quoted", "b2\n\"x,\"\"y\"\"\"\na3\n", "no header"},
		{"bare.csv", "\ufeffb2\r\n\"x,\"\"y\"\"\"\r\na3\r\n", "no header"},
		{"one.csv", "Feature\nb2\n\"x,\"\"y\"\"\"\na3\n", `"Feature"`},
		{"ranks.csv", "rank,name,column,score\n3,a3,9,1\n1,b2,8,2\n2,\"x,\"\"y\"\"\",7,3\n", `ordered by "rank"`},
		{"scores.csv", "feature name;Importance\na3;0.1\nb2;9\n\"x,\"\"y\"\"\";0.5\n", `ordered by "Importance", the largest first`},
		{"pandas.csv", ",0\n0,b2\n1,\"x,\"\"y\"\"\"\n2,a3\n", "header"},
		{"index.csv", ",0\nb2,3\n\"x,\"\"y\"\"\",2\na3,1\n", "header"},
		{"numbers.csv", "b2,0.9\n\"x,\"\"y\"\"\",0.5\na3,\n", "no header"},
		{"excel.csv", "b2,\n\"x,\"\"y\"\"\",\na3,\n,\n", "no header"},
		{"table.tsv", "gene\tp, value\nb2\t0.5\n\"x,\"\"y\"\"\"\t0.5\na3\t0.5\n", `"gene"`},
		{"unnamed", "variable\tweight\na3\t1\nb2\t3\n\"x,\"\"y\"\"\"\t2\n", `ordered by "weight"`},
		{"list.json", `["b2", "x,\"y\"", "a3"]`, ""},
		{"names.json", "\ufeff\n{\"tool\": {\"selected\": 1}, \"selected\": [\"b2\", \"x,\\\"y\\\"\", \"a3\"]}", ""},
		{"objects.json", `{"selected": [{"name": "b2", "why": [{}]}, {"name": "x,\"y\""}, {"name": "a3"}], "n": 3}`, ""},
		{"ranked.json", `[{"name": "a3", "rank": 3}, {"name": "b2", "rank": 1}, {"name": "x,\"y\"", "rank": 2}]`, ""},
	} {
		e := judge(write(t, at(c.file), c.text))
		if got := resultsNamed(t, e, "selection"); got != want {
			t.Errorf("%s: got\n%s\nwant the results of the record\n%s", c.file, got, want)
		}
		if said := strings.Join(e.Warnings, "\n"); c.says == "" && said != "" || !strings.Contains(said, c.says) || strings.Count(said, c.file) > 1 {
			t.Errorf("%s: got the warnings %q, want one with %q", c.file, said, c.says)
		}
	}
	e := judge(write(t, at("newline.csv"), "name\n\"new\nline\"\n\"#1\"\na3\n"))
	if got := resultsNamed(t, e, "selection"); strings.Count(got, "\n") != 2 {
		t.Errorf("names with a newline and a #: got %s, want three results", got)
	}
}

// TestEvalListBesideRecord: a list is judged beside a selection, whose options hold for both; its stability is unknown.
func TestEvalListBesideRecord(t *testing.T) {
	data, sel := labelled(t, 150)
	list := write(t, filepath.Join(t.TempDir(), "theirs.txt"), "b1\na0\na1\n")
	alone := evaluated(t, data, "--selection", "ours="+sel, "-k", "2", "--label", "label", "--resamples", "2", "--runs", "2", "--restarts", "1")
	both := evaluated(t, data, "--selection", "ours="+sel, "--selection", list, "-k", "2", "--label", "label", "--resamples", "2", "--runs", "2", "--restarts", "1")
	if got, want := both.ReconstructionScale, alone.ReconstructionScale; got != want {
		t.Errorf("beside a list the scale is %s, want %s", got, want)
	}
	for _, r := range both.Results {
		if isOurs := r.Name == "ours"; (r.Stability != nil) != isOurs {
			t.Errorf("%s: got stability %v", r.Name, r.Stability)
		}
	}
	if said := strings.Join(both.Warnings, "\n"); !strings.Contains(said, "theirs.txt does not record how it was made") {
		t.Errorf("got warnings %q, want one about the list's stability", said)
	}
	if out := must(t, "eval", data, "--selection", "theirs="+list); strings.Contains(out, "()") || !strings.Contains(out, "theirs") {
		t.Errorf("the table has no name or an empty method:\n%s", out)
	}
}

// TestEvalPathSettings: each setting of a path is judged as the list of its names, under a name of its own, with the
// features and the scale of the path.
func TestEvalPathSettings(t *testing.T) {
	data, _ := labelled(t, 150)
	at := folder(t)
	for _, c := range []struct {
		args  string
		names []string
	}{
		{"--method sfufs --alpha 0.1,10 --gamma 1,100", []string{"alpha=0.1,gamma=1", "alpha=0.1,gamma=100", "alpha=10,gamma=1", "alpha=10,gamma=100"}},
		{"--method fufs --gamma 1,100", []string{"gamma=1", "gamma=100"}},
		{"--method eufs --alpha 0.1x,2 --beta 0.5", []string{"alpha=0.1x,beta=0.5", "alpha=2,beta=0.5"}},
	} {
		file := at("weights.json")
		must(t, append([]string{"path", data, "--label", "label", "-k", "4", "--exclude", "b7", "-o", file}, strings.Fields(c.args)...)...)
		grid := *decoded[stream.Grid](t, "path", append([]string{data, "--label", "label", "-k", "4", "--exclude", "b7"}, strings.Fields(c.args)...)...)
		e := evaluated(t, quick(data, "--selection", file, "--label", "label", "-k", "2,4")...)
		if e.Features != 11 {
			t.Errorf("%s: got %d features, want the 11 of the path", c.args, e.Features)
		}
		for i, name := range c.names {
			list := write(t, at("list.txt"), strings.Join(grid.Settings[i].Selected, "\n"))
			scale, _ := grid.Options["scale"].(string)
			alone := evaluated(t, quick(data, "--selection", list, "--label", "label", "-k", "2,4")...)
			got, want := e.Results, alone.Results
			for _, k := range []int{2, 4} {
				isSetting := func(r stream.Evaluated) bool { return r.Name == "weights:"+name && r.K == k }
				j := slices.IndexFunc(got, isSetting)
				w := slices.IndexFunc(want, func(r stream.Evaluated) bool { return r.Name == "selection" && r.K == k })
				if j < 0 || e.ReconstructionScale != scale || *got[j].ACC != *want[w].ACC || *got[j].NMISqrt != *want[w].NMISqrt || got[j].Method != grid.Method {
					t.Errorf("%s, k = %d: setting %s is not judged as its list of names: %s", c.args, k, name, marshal(t, e.Results))
				}
			}
		}
		e = evaluated(t, data, "--selection", "w="+file, "--resamples", "2")
		if r := e.Results[1]; r.Name != "w:"+c.names[0] || r.Stability == nil {
			t.Errorf("%s: got %s, want w:%s with a stability", c.args, marshal(t, r), c.names[0])
		}
		if e = evaluated(t, data, "--selection", file); e.Results[1].Stability != nil {
			t.Errorf("%s: settings were selected again unasked", c.args)
		}
		ends(t, exit.Usage, fmt.Sprintf("has %d settings", len(c.names)), "apply", data, "--selection", file, "-o", at("o.parquet"))
	}
	curve, sel := at("curve.json"), at("sel.json")
	args := []string{data, "--label", "label", "--method", "greedy", "-k", "4", "-o"}
	must(t, append([]string{"path"}, append(args, curve)...)...)
	must(t, append([]string{"select"}, append(args, sel)...)...)
	a := resultsNamed(t, evaluated(t, quick(data, "--selection", curve, "--label", "label", "--resamples", "2")...), "selection")
	if b := resultsNamed(t, evaluated(t, quick(data, "--selection", sel, "--label", "label", "--resamples", "2")...), "selection"); a != b {
		t.Errorf("the curve of a path is judged as\n%s\nand the selection as\n%s", a, b)
	}
}

// TestListErrors: a list that is damaged, or does not fit the data, gives an error with its name, the line and a remedy.
func TestListErrors(t *testing.T) {
	at := folder(t)
	data := oddNames(t, at("d.parquet"))
	deep := strings.Repeat("[", 1_000_000)
	for i, c := range []struct {
		ending, text string
		code         int
		says         string
	}{
		{".txt", "a3\nB22\n", exit.Usage, `"B22" (did you mean b2?)`},
		{".txt", "a3\nclass\n", exit.Usage, "judged by itself"},
		{".txt", "a3\n# b\nb1\na3\n", exit.Data, `line 4: it names "a3", as line 1 does`},
		{".csv", "name\n\"a3\"\n\"new\nline\"\na3\n", exit.Data, `line 5: it names "a3", as line 2 does`},
		{".json", "[\"a3\",\n\"b1\",\n\"a3\"]", exit.Data, `line 3: it names "a3", as line 1 does`},
		{".json", `["a3", "a3"]`, exit.Data, `line 1: it names "a3" twice`},
		{".json", `{"selected": [{"name": "a3"}, {"title": "b1"}]}`, exit.Data, "line 1: the name is empty"},
		{".json", `{"selected": ["a3"], "selected": ["b1"]}`, exit.Data, "one list of names"},
		{".json", `{"selected": "a3"}`, exit.Data, "one list of names"},
		{".json", `["a3", 2]`, exit.Data, "element 2 of the list"},
		{".json", `["a3", "b1"`, exit.Data, "unexpected end"},
		{".json", `["a3"] b1`, exit.Data, "after top-level value"},
		{".json", `{"names": ["a3"]}`, exit.Data, "not a selection"},
		{".json", `[]`, exit.Data, "no features"},
		{".json", deep, exit.Data, "nested more than"},
		{".json", `{"selected": ["a3"], "x": ` + deep + strings.Repeat("]", len(deep)) + "}", exit.Data, "nested more than"},
		{".json", `{"schema": "ufs-stream/path-grid/v1", "settings": []}`, exit.Data, "no settings"},
		{".json", `{"schema": "ufs-stream/path-grid/v1", "settings": [{"selected": []}]}`, exit.Data, "no features"},
		{".json", `{"schema": "ufs-stream/path-grid/v9", "selected": ["a3"]}`, exit.Data, "not a selection"},
		{".csv", "name,score\na3,1\nb1\n", exit.Data, "line 3: wrong number of fields"},
		{".csv", "name,score\na3,1\nb1,high\n", exit.Data, `line 3: "high" in the column "score" is no number`},
		{".csv", "p,q\na3,b1\n", exit.Data, "2 of its 2 columns may have the names"},
		{".csv", "name\n\"a3\nb1\n", exit.Data, "quote"},
		{".csv", "name\n\"a3\n" + strings.Repeat("b1\n", 1<<20), exit.Data, "line 2: a row has more than"},
		{".csv", "name,score\n,1\n", exit.Data, "line 2: the name is empty"},
		{".csv", "name\n", exit.Data, "no features"},
		{".csv", "", exit.Data, "no features"},
		{".txt", "# nothing\n\n", exit.Data, "no features"},
		{".txt", "a3\nb1\x00\n", exit.Data, "line 2 has the byte 0x00"},
		{".txt", "a3\nb\xe9\n", exit.Data, "line 2 has the byte 0xe9"},
		{".txt", "\xff\xfea\x003\x00", exit.Data, "UTF-16"},
		{".txt", strings.Repeat("a", 1<<20), exit.Data, "line 1: it has 1048576 bytes"},
		{".json", `["` + strings.Repeat("a", 1<<20) + `"]`, exit.Data, "line 1 has a name of 1048578 bytes"},
	} {
		file := write(t, at(strconv.Itoa(i)+c.ending), c.text)
		ends(t, c.code, c.says, "eval", data, "--label", "class", "--selection", file)
		if r := invoke("eval", data, "--label", "class", "--selection", file); !strings.Contains(r.err, file) {
			t.Errorf("case %d, %q: the error lacks the file's name: %q", i, c.says, r.err)
		}
	}
}

// TestListsAreCounted: a list of names that takes more than the memory limit is refused. Groups that many settings of a
// path choose count each time.
func TestListsAreCounted(t *testing.T) {
	at := folder(t)
	data := oddNames(t, at("d.parquet"))
	var names strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&names, "n%d\n", i)
	}
	list := write(t, at("l.txt"), names.String())
	table := write(t, at("l.csv"), "name\n"+names.String())
	array := write(t, at("l.json"), `["`+strings.ReplaceAll(strings.TrimSpace(names.String()), "\n", `","`)+`"]`)
	members := strings.Repeat(`"a3",`, 2000) + `"b1"`
	grid := write(t, at("g.json"), `{"schema": "ufs-stream/path-grid/v1", "settings": [`+strings.Repeat(`{"selected": ["g"]},`, 2000)+`{"selected": ["g"]}], "members": {"g": [`+members+`]}}`)
	for _, file := range []string{list, table, array, grid} {
		ends(t, exit.Memory, "--memory-limit", "eval", data, "--selection", file, "--memory-limit", "128MiB")
	}
}

// TestApplyList: apply writes the columns of a list in its order, as those of a selection.
func TestApplyList(t *testing.T) {
	at := folder(t)
	data := oddNames(t, at("d.parquet"))
	list := write(t, at("l.csv"), "score,name\n1,a3\n3,b2\n2,\"x,\"\"y\"\"\"\n")
	out := must(t, "apply", data, "--selection", list, "-k", "2", "--format", "yaml")
	if b, x := strings.Index(out, "b2"), strings.Index(out, "x,"); b < 0 || x < b || strings.Contains(out, "a3") {
		t.Errorf("the list of columns is not b2, x,\"y\":\n%s", out)
	}
	must(t, "apply", data, "--selection", list, "-o", at("o.csv"))
	ends(t, exit.Data, "did you mean b2?", "apply", data, "--selection", write(t, at("bad.txt"), "B22\n"), "-o", at("o.csv"))
	ends(t, exit.Data, "not a selection", "explain", "b2", "--selection", list)
}
